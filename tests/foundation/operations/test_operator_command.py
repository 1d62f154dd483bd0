import json
from argparse import ArgumentTypeError
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connection

from foundation.operations.operator_command import OperatorCommand, Result, host_of, positive, web_address

pytestmark = pytest.mark.django_db


def run(perform, *arguments):
    """Run a command that only performs ``perform``; return its two outputs."""

    class Command(OperatorCommand):
        def perform(self, **options):
            return perform()

    output, errors = StringIO(), StringIO()
    call_command(Command(stdout=output, stderr=errors), *arguments)
    return output.getvalue(), errors.getvalue()


def raising(error):
    def perform():
        raise error

    return perform


def test_a_result_is_printed_as_text():
    assert run(lambda: Result(text="Done.", json_output={"id": 1})) == ("Done.\n", "")


def test_a_result_is_one_json_object_for_scripts():
    at = datetime(2026, 1, 2, tzinfo=UTC)
    output, _ = run(lambda: Result(text="Done.", json_output={"id": 1, "at": at}), "--json")
    assert json.loads(output) == {"id": 1, "at": "2026-01-02T00:00:00Z"}


def test_several_objects_are_printed_one_per_line():
    output, _ = run(lambda: Result(text="Done.", json_output=[{"id": 1}, {"id": 2}]), "--json")
    assert [json.loads(line) for line in output.splitlines()] == [{"id": 1}, {"id": 2}]


def test_help_says_that_json_is_one_object_per_line():
    parser = OperatorCommand().create_parser("manage.py", "show_account")
    assert "--json                print JSON, one object per line" in parser.format_help()


def test_a_text_for_standard_error_is_printed_there_and_not_to_scripts():
    result = Result(text="script", json_output={}, stderr_text="Run it.")
    assert run(lambda: result) == ("script\n", "Run it.\n")
    assert run(lambda: result, "--json") == ("{}\n", "")


def test_a_failure_is_an_error_after_the_text():
    with pytest.raises(CommandError, match="Two files failed"):
        run(lambda: Result(text="Done.", json_output={}, failure="Two files failed."))


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValidationError("Choose a plan."), "Choose a plan."),
        (ValidationError(["One.", "Two."]), "One. Two."),
        (ValidationError({"ref": ["Too long."], "__all__": ["No."]}), "ref: Too long. No."),
        (UnicodeEncodeError("utf-8", "\udc80", 0, 1, "surrogate"), "The arguments must be UTF-8 text."),
    ],
)
def test_what_a_model_refuses_is_the_error_of_the_command(error, message):
    with pytest.raises(CommandError) as refusal:
        run(raising(error))
    assert str(refusal.value) == message


def test_a_database_that_cannot_be_used_is_one_line():
    away = raising(OperationalError("connection refused\n\tIs the server running?"))
    line = "The database cannot be used: connection refused. 'manage.py doctor' says more."
    with pytest.raises(CommandError) as raised:
        run(away)
    assert str(raised.value) == line


def test_an_error_in_a_statement_keeps_its_traceback():
    with pytest.raises(IntegrityError):
        run(raising(IntegrityError("a row is there")))


def test_a_command_waits_for_other_writers_as_long_as_they_take():
    run(lambda: Result(text="", json_output={}))
    statement = {"sqlite": "PRAGMA busy_timeout", "postgresql": "SHOW lock_timeout"}[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.fetchone() == {"sqlite": (3_600_000,), "postgresql": ("0",)}[connection.vendor]


def test_a_host_is_normalised_or_refused_with_the_text():
    assert host_of("Shop.Example.com.") == "shop.example.com"
    with pytest.raises(CommandError, match=r"^localhost: the host must be a public domain name"):
        host_of("localhost")


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "1234567890"])
def test_a_number_that_is_not_positive_is_refused(text):
    assert positive("12") == 12
    with pytest.raises(ArgumentTypeError, match="not a whole number"):
        positive(text)


def test_an_address_starts_with_http():
    assert web_address("HTTPS://example.com") == "HTTPS://example.com"
    with pytest.raises(ArgumentTypeError, match="does not start with http"):
        web_address("ftp://example.com")
