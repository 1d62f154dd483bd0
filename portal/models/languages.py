"""In which language each person last read the portal: whom we write to without being told reads it so.

On SQLite it lives in the file of short-lived data, so that no page waits for an import; hence no foreign key.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import get_language

_KNOWN = "reading_language"  # in the session: what is stored already


class ReadingLanguage(models.Model):
    """The language of one person's last page."""

    user_id = models.BigIntegerField(primary_key=True)
    language = models.CharField(max_length=10)

    class Meta:
        ordering: ClassVar = ["user_id"]

    def __str__(self) -> str:
        return f"user {self.user_id}: {self.language}"


def reading_language(user_id: int) -> str:
    """The person's, or the usual one where nobody has seen them yet."""
    seen = ReadingLanguage.objects.filter(pk=user_id).first()
    return seen.language if seen else settings.LANGUAGE_CODE


def note_reading_language(session: SessionBase, user_id: int) -> None:
    """Store the language of this page, if it is not that of the session's last one."""
    language = get_language() or settings.LANGUAGE_CODE
    if session.get(_KNOWN) != language:
        ReadingLanguage.objects.update_or_create(pk=user_id, defaults={"language": language})
        session[_KNOWN] = language


@receiver(post_delete, sender=settings.AUTH_USER_MODEL)
def _forget(instance: Any, **_: Any) -> None:
    ReadingLanguage.objects.filter(pk=instance.pk).delete()
