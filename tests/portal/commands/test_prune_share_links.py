"""manage.py prune_share_links."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.models import ShareLink
from portal.sharing import actions
from tests.commands import run, run_json
from tests.factories import make_portal_website, make_user

pytestmark = pytest.mark.django_db


def test_only_links_that_ended_long_ago_are_deleted():
    website, person = make_portal_website(), make_user()
    old, _ = actions.create(website, title="Old", by=person, days=7)
    new, _ = actions.create(website, title="New", by=person, days=7)
    ShareLink.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(days=31))
    assert run("prune_share_links") == "Share links deleted: 1.\n"
    assert list(ShareLink.objects.all()) == [new]
    assert run_json("prune_share_links") == {"share_links": 0}
