"""The language of each person's last page; e-mails use it unless the person chose another language.

On SQLite this table is in the database of short-lived data, so that no page waits for an import; hence no
foreign key.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import get_language

_SESSION_KEY = "reading_language"  # the language that is stored already


class UserLanguage(models.Model):
    """The language of one person's last page."""

    user_id = models.BigIntegerField(primary_key=True)
    language = models.CharField(max_length=10)

    class Meta:
        ordering: ClassVar = ["user_id"]

    def __str__(self) -> str:
        return f"user {self.user_id}: {self.language}"


def language_of(user_id: int) -> str:
    """Return the person's language; the default language before their first visit."""
    row = UserLanguage.objects.filter(pk=user_id).first()
    return row.language if row else settings.LANGUAGE_CODE


def record_language(session: SessionBase, user_id: int) -> None:
    """Store the language of this page if it differs from the session's last page."""
    language = get_language() or settings.LANGUAGE_CODE
    if session.get(_SESSION_KEY) != language:
        UserLanguage.objects.update_or_create(pk=user_id, defaults={"language": language})
        session[_SESSION_KEY] = language


@receiver(post_delete, sender=settings.AUTH_USER_MODEL)
def _delete_with_user(instance: Any, **_: Any) -> None:
    UserLanguage.objects.filter(pk=instance.pk).delete()
