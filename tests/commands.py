"""Calls of management commands."""

import io
import json

from django.core.management import call_command


def run(name, *arguments):
    """Return the output of the command."""
    output = io.StringIO()
    call_command(name, *arguments, stdout=output)
    return output.getvalue()


def run_json(name, *arguments):
    """Return the JSON object that the command prints."""
    return json.loads(run(name, *arguments, "--json"))
