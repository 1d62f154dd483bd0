"""Every command that a document or a benchmark names exists."""

import re

import pytest
from django.conf import settings
from django.core.management import get_commands

from tests.long.leaks import COMMANDS

GUIDES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/operating/*.md")
# In a document after the program, in a benchmark in the list of a command's words.
_NAMED = re.compile(r"(?:dashboard-manage|manage\.py) ([a-z_0-9]+)|\"manage\.py\", \"([a-z_0-9]+)")


@pytest.mark.parametrize("pattern", [*GUIDES, "benchmarks/*.py"])
def test_every_command_that_is_named_exists(pattern):
    texts = {path.name: path.read_text() for path in settings.BASE_DIR.glob(pattern)}
    named = {(name, "".join(words)) for name, text in texts.items() for words in _NAMED.findall(text)}
    assert texts
    assert {(name, command) for name, command in named if command not in get_commands()} == set()


def test_every_command_of_the_search_for_leaks_exists():
    assert {command.split()[0] for command in COMMANDS} <= set(get_commands())
