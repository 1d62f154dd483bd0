"""Commands as an operator runs them."""

import io
import json

from django.core.management import call_command


def run(name, *arguments):
    """What the command prints."""
    output = io.StringIO()
    call_command(name, *arguments, stdout=output)
    return output.getvalue()


def run_json(name, *arguments):
    """The one object that the command prints for scripts."""
    return json.loads(run(name, *arguments, "--json"))
