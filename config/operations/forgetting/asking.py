"""Ask the operator before something is deleted for good."""

import sys

from django.core.management.base import CommandError


def ask_for(text: str, *, name: str) -> None:
    """Raise CommandError unless the operator types ``text``; ``name`` says what to type."""
    if not sys.stdin.isatty():
        raise CommandError("Nothing was deleted. To delete it all, add --yes.")
    if input(f"Type {name} to delete it all: ").strip() != text:
        raise CommandError(f"Nothing was deleted: this is not {name}.")
