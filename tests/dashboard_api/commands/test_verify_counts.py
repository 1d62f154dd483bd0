from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from dashboard_api.models import BucketCount, WeekCount
from tests.commands import run, run_json
from tests.factories import make_finding, make_website

pytestmark = pytest.mark.django_db


@pytest.fixture
def site():
    site = make_website()
    make_finding(site)
    return site


@pytest.fixture
def wrong(site):
    """Two counts that no finding explains, one of them of a website that is gone."""
    WeekCount.objects.update(found=2)
    BucketCount.objects.create(
        website_id=site.pk + 1, status="open", severity=1, source_id=1, kind="confirmed", findings=1
    )


def test_verify_counts_is_content_with_what_triggers_keep(site):
    assert run("verify_counts") == "All counts are correct.\n"
    assert run_json("verify_counts") == {"websites": [], "repaired": False}


def test_verify_counts_prints_differences_and_fails(wrong, site):
    output = StringIO()
    with pytest.raises(CommandError, match=r"run 'manage.py verify_counts --repair'"):
        call_command("verify_counts", stdout=output)
    lines = ["shop.example.com: 1 wrong.", f"deleted website {site.pk + 1}: 1 wrong."]
    assert output.getvalue().splitlines() == lines


def test_verify_counts_says_what_it_repaired(wrong, site):
    lines = run("verify_counts", "--repair").splitlines()
    assert lines == [
        "shop.example.com: 1 wrong, recounted.",
        f"deleted website {site.pk + 1}: 1 wrong, recounted.",
    ]


def test_verify_counts_repairs_differences(wrong, site):
    assert run_json("verify_counts", "--repair") == {
        "websites": [
            {"website": site.pk, "host": "shop.example.com", "wrong": 1},
            {"website": site.pk + 1, "host": None, "wrong": 1},
        ],
        "repaired": True,
    }
    assert run_json("verify_counts") == {"websites": [], "repaired": False}
