import re

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.env_file import names_in, read_env_file
from tests.config.test_settings_checks import NEEDED

SECRET = "es1_live_do-not-show-this-one"
FORMS = [
    "DEBUG=false",
    "export DEBUG=false",
    "DEBUG=",
    "DEBUG= false ",
    "DEBUG='a # b'",
    'DEBUG="a = b"',
    "DEBUG=a=b",
    "debug_2=on",
    "",
    "# DEBUG here",
]
BROKEN = [
    f"SITE_API_SECRET {SECRET}",
    f"SITE_API_SECRET = {SECRET}",
    f" SITE_API_SECRET={SECRET}",
    f"export  SITE_API_SECRET={SECRET}",
    f"SITE-API-SECRET={SECRET}",
    f"SITE_API_SECRET: {SECRET}",
    f"={SECRET}",
    f"SITE_API_SECRET={SECRET}\0",
    SECRET,
    "export",
]


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".env"


def refusal_of(file):
    with pytest.raises(ImproperlyConfigured) as refusal:
        read_env_file(file)
    return str(refusal.value)


def test_an_absent_file_is_as_an_empty_one(file):
    assert read_env_file(file) == ""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_all_forms_that_are_read_pass(file, end):
    file.write_bytes(end.join(FORMS).encode())
    assert read_env_file(file).splitlines() == [line for line in FORMS if "=" in line]


@pytest.mark.parametrize("line", ["  ", "\t", "  # indented"])
def test_blank_lines_and_comments_may_be_indented(file, line):
    file.write_text(f"DEBUG=false\n{line}\n")
    assert names_in(read_env_file(file)) == ["DEBUG"]


def test_the_mark_that_some_editors_write_first_hides_no_setting(file):
    file.write_text("DEBUG=false\n", encoding="utf-8-sig")
    assert names_in(read_env_file(file)) == ["DEBUG"]


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_has_its_number_and_is_not_shown(file, line):
    file.write_text(f"# first\n{line}\nDEBUG=false\n")
    assert refusal_of(file) == (
        f"Line 2 of {file} is not NAME=value: leave no blanks around NAME, write lists on one line."
    )


@pytest.mark.once
def test_django_environ_reads_the_same_lines_without_a_warning(fresh_checkout):
    (fresh_checkout.folder / ".env").write_text("\n".join([*FORMS, "  ", "  # indented", "DEBUG=false"]))
    done = fresh_checkout.manage("check", "--fail-level", "WARNING", **NEEDED)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_in_another_encoding_is_refused_with_the_line(file):
    file.write_bytes(b"DEBUG=false\nSUPPORT_URL=mailto:j\xf6rg@example.com\n")
    assert refusal_of(file) == f"Line 2 of {file} is not UTF-8: save the file as UTF-8."


def test_a_file_that_cannot_be_read_is_refused_with_the_user(file):
    file.mkdir()
    assert re.fullmatch(
        rf"{re.escape(str(file))} cannot be read by the user \w+: Is a directory\.", refusal_of(file)
    )
