"""What the service last said about each website: what the list of websites shows before it hears more.

On SQLite it lives in the file of short-lived data, so that no page waits for an import; hence no foreign
key. It never outlives the website, nor the link, that it was told about.
"""

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from django.db import models, transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.utils import timezone

from portal.gateway import Dashboard
from portal.gateway.messages import Facets

if TYPE_CHECKING:
    from portal.models import Website

_ASKED_WITH = ("pk", "account_id", "host", "link_id")


class LastAnswerQuerySet(models.QuerySet["LastAnswer"]):
    """Keeping and forgetting."""

    def keep(self, website: "Website", *, dashboard: Dashboard | None = None, refusal: str = "") -> None:
        """Keep a dashboard without its lists, or the code of a refusal, in place of what was kept.

        What was asked with a link that is no longer the website's is forgotten again.
        """
        answer = LastAnswer(
            website_id=website.pk,
            at=timezone.now(),
            refusal=refusal,
            told=msgspec.json.encode(_in_short(dashboard)).decode() if dashboard else "",
        )
        self.bulk_create(
            [answer],
            update_conflicts=True,
            unique_fields=["website_id"],
            update_fields=["at", "refusal", "told"],
        )
        asked_with = {name: getattr(website, name) for name in _ASKED_WITH}
        if not type(website).objects.filter(**asked_with).exists():
            self.forget(website.pk)

    def forget(self, website_id: int) -> None:
        """Keep nothing of this website."""
        self.filter(website_id=website_id).delete()


class LastAnswer(models.Model):
    """A dashboard as JSON, or why there was none, and when the portal got it."""

    website_id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    refusal = models.CharField(max_length=64, blank=True)
    told = models.TextField(blank=True)

    objects = LastAnswerQuerySet.as_manager()

    class Meta:
        ordering: ClassVar = ["website_id"]

    def __str__(self) -> str:
        return f"website {self.website_id} at {self.at}"

    @property
    def dashboard(self) -> Dashboard | None:
        """What was told; None for a refusal, and for what an earlier version of the portal kept otherwise."""
        try:
            return msgspec.json.decode(self.told, type=Dashboard)
        except msgspec.DecodeError:
            return None


def _in_short(dashboard: Dashboard) -> Dashboard:
    """The same without what is told of single findings, and without what belongs to one question."""
    page = msgspec.structs.replace(dashboard.dashboard, facets=Facets())
    return msgspec.structs.replace(dashboard, dashboard=page, threats=[], charts=[], analyst_notes=[])


@receiver([post_save, post_delete], sender="portal.Website")
def _forget(instance: "Website", **_: Any) -> None:
    """After the commit, so that an answer which arrives meanwhile finds the website as it is now."""
    transaction.on_commit(partial(LastAnswer.objects.forget, instance.pk))
