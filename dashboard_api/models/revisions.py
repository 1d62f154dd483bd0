"""Revisions: random tags that triggers change with the data of a website."""

from django.db import models

from dashboard_api.backends.revisions import EVERY_WEBSITE

Tags = tuple[int | None, int | None]  # of the website and of all websites; None before the first change

# Two columns for a statement: the tag of ``website``, and the tag of all websites.
TAGS = f"""
(SELECT tag FROM dashboard_api_revision WHERE website_id = {{website}}),
(SELECT tag FROM dashboard_api_revision WHERE website_id = {EVERY_WEBSITE})
"""  # noqa: S608  # constant text


class Revision(models.Model):
    """A random tag that changes with the data of a website, and never returns to an earlier value.

    Only triggers write here. There is no foreign key, because the row outlives the website.
    """

    website_id = models.BigIntegerField(primary_key=True, help_text="0: data shared by all websites.")
    tag = models.BigIntegerField()

    def __str__(self) -> str:
        return f"website {self.website_id}: {self.tag}"
