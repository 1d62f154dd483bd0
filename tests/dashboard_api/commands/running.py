"""Commands as an operator runs them."""

import json
from io import StringIO

from django.core.management import call_command


def run(name, *arguments):
    """What the command prints."""
    output = StringIO()
    call_command(name, *arguments, stdout=output)
    return output.getvalue()


def run_json(name, *arguments):
    """The one object that the command prints for scripts."""
    return json.loads(run(name, *arguments, "--json"))
