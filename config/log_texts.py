"""The log of the admin, shown in the language of the reader."""

from django.contrib.admin.models import LogEntry
from django.utils.translation import get_language, gettext

from foundation.stored_texts import translate


def translate_log() -> None:
    """Let every page translate the messages of the log."""
    original = LogEntry.get_change_message
    LogEntry.get_change_message = lambda entry: own_language(original(entry))  # type: ignore[assignment,method-assign]


def own_language(message: str) -> str:
    """Return a message of the log in the active language; a message in other words stays as it is."""
    if (get_language() or "en").startswith("en"):
        return message
    if (translated := translate(message)) != message:
        return translated
    done, colon, reason = message.partition(": ")
    if colon:
        return f"{_name(done)}: {translate(reason)}"
    return f"{_name(message.removesuffix('.'))}." if message.endswith(".") else message


def _name(text: str) -> str:
    return gettext(text) if text else ""
