"""The ``.env`` file, checked before django-environ reads it, whose warning shows a broken line whole."""

import os
import pwd
import re
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_SETTING = re.compile(r"(?:export )?([A-Za-z_0-9]+)=[^\0]*")  # as django-environ has it


def read_env_file(file: Path) -> str:
    """Return the lines of ``file`` that set something; raises ImproperlyConfigured for broken ones."""
    lines = [(number, line) for number, line in enumerate(text_of(file).splitlines(), 1) if _is_read(line)]
    if broken := [
        f"Line {number} of {file} is not NAME=value: leave no blanks around NAME, write lists on one line."
        for number, line in lines
        if not _SETTING.fullmatch(line)
    ]:
        raise ImproperlyConfigured("\n".join(broken))
    return "\n".join(line for _, line in lines)


def _is_read(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("#")


def text_of(file: Path) -> str:
    """Return the text of ``file``, none without a file; raises ImproperlyConfigured if it cannot be read."""
    data = b""
    try:
        data = file.read_bytes()
        return data.decode("utf-8-sig")  # some editors write a mark first
    except FileNotFoundError:
        return ""
    except OSError as error:
        reason = f"{file} cannot be read by the user {_user()}: {error.strerror}."
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        reason = f"Line {number} of {file} is not UTF-8: save the file as UTF-8."
    raise ImproperlyConfigured(reason)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # of a container
        return str(os.geteuid())


def names_in(text: str) -> list[str]:
    """Return the names of the settings in ``text``."""
    return [match[1] for line in text.splitlines() if (match := _SETTING.fullmatch(line))]
