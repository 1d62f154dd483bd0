"""Tags that tell whether anything an answer is made of has changed: kept by triggers, as the counts are."""

from django.db import models

from dashboard_api.backends.data_version import EVERY_WEBSITE

Tags = tuple[int | None, int | None]  # the website's, and that of every website; None before any change

TAGS = f"""
(SELECT tag FROM dashboard_api_revision WHERE website_id = {{website}}),
(SELECT tag FROM dashboard_api_revision WHERE website_id = {EVERY_WEBSITE})
"""  # noqa: S608  # a name of ours


class Revision(models.Model):
    """A random tag, drawn anew with each change: none comes back, not even by a restored backup.

    Nothing but the triggers and a repair writes here (decision record 0019). No foreign key: a website's
    last change is that it is gone.
    """

    website_id = models.BigIntegerField(primary_key=True, help_text="0: what all of them share, the engines.")
    tag = models.BigIntegerField()

    def __str__(self) -> str:
        return f"website {self.website_id}: {self.tag}"
