"""An inbox with reports in it, and the command that imports them."""

import io
import os
import time

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.commands import run
from tests.dashboard_api.scanners.samples import json_lines

HOST = "shop.example.com"


def leave(folder, *rows, name="a.jsonl", host=HOST, age=120, options=None):
    """A report that was last written to ``age`` seconds ago, with ``options`` in its sidecar."""
    file = folder / host / name
    file.parent.mkdir(exist_ok=True)
    write(file, json_lines(*rows) if rows else b"", age=age)
    if options is not None:
        write(file.with_name(f"{name}.toml"), options.encode(), age=age)
    return file


def write(file, data, *, age=120):
    """A file of these bytes, last written to ``age`` seconds ago."""
    file.write_bytes(data)
    os.utime(file, (time.time() - age,) * 2)


def import_all(folder, *options):
    """Return the command's output, once it has taken everything."""
    return run("import_inbox", str(folder), *options)


def refused(folder, *options):
    """Return the command's error, where it does not take everything."""
    with pytest.raises(CommandError) as error:
        import_all(folder, *options)
    return str(error.value)


def output_of_refusal(folder, *options):
    """Return the command's output, where it does not take everything."""
    output = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_inbox", str(folder), *options, stdout=output)
    return output.getvalue()


def names(folder):
    """The files in the inbox without its lock."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name != ".lock")
    return sorted(str(file.relative_to(folder)) for file in files)
