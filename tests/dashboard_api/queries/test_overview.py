"""Scanners and their runs, notes and earlier days: what the twin by the ORM finds."""

from datetime import timedelta

import pytest

from dashboard_api import limits
from dashboard_api.models import AnalystNote, Coverage, ImportRun, OpenCount, ScanJob, Source
from dashboard_api.queries import overview as reading
from dashboard_api.queries.overview import Note, OpenDay, Run
from tests.dashboard_api.reading.varied import TODAY, make_varied_website
from tests.factories import (
    make_account,
    make_coverage,
    make_engine_run,
    make_finding,
    make_import_run,
    make_link,
    make_note,
    make_source,
    make_website,
)

pytestmark = pytest.mark.django_db
RECENT = TODAY.date() - timedelta(days=6)


@pytest.fixture
def site():
    """Findings far apart in time."""
    return make_varied_website()


def test_sources_and_their_runs_on_the_website(site):
    make_source("enabled", name="aaa", interval_days=3)
    make_coverage(site, source=make_source("zap"), urls_checked=7, detail='so "so"', completed_at=None)
    make_coverage(site, source=make_source("ran", enabled=False))
    make_finding(site, source=make_source("found", enabled=False), status="fixed", fixed_at=TODAY)
    make_finding(make_website("third.example.com"), source=make_source("another", enabled=False))
    make_source("ours", enabled=False)
    read, found = reading.sources(site.pk, expected=("ours",))
    sources = Source.objects.exclude(slug="another")
    sources = sources.values_list("pk", "slug", "name", "enabled", "interval_days")
    assert sorted(row[:-1] for row in read) == sorted(sources)
    assert {row.slug for row in read if not row.has_reported} == {"Burp", "enabled", "ours"}
    assert "ours" not in {row.slug for row in reading.sources(site.pk)[0]}
    assert {type(source.enabled) for source in read} == {bool}
    runs = Coverage.objects.filter(website=site).values_list(*Run._fields[:-1])
    assert sorted(run[:-1] for run in found) == sorted(runs)


def test_a_run_is_ours_if_the_newest_import_is_that_of_a_scan(site):
    job = ScanJob.objects.create(website=site)
    for slug, imports in {"ours": (False, True), "theirs": (True, False)}.items():
        source = make_source(slug)
        make_coverage(site, source=source)
        for is_ours in imports:
            run = make_import_run(site, source=source)
            if is_ours:
                make_engine_run(job, import_run=run)
    make_coverage(site, source=make_source("never imported"))

    def ours():
        names = dict(Source.objects.values_list("pk", "slug"))
        return {names[run.source_id] for run in reading.sources(site.pk)[1] if run.ours_at}

    assert ours() == {"ours"}
    undone = {"undone_at": TODAY, "undone_by": "ada", "undone_reason": "wrong file"}
    ImportRun.objects.filter(pk__in=site.imports.filter(source__slug="theirs")[:1]).update(**undone)
    assert ours() == {"ours", "theirs"}


def test_notes_about_a_finding_are_those_of_the_website_about_it(site):
    link = make_link(website=site)
    first, second = site.findings.all()[:2]
    for number in range(6):
        make_note(site, body=f"{number}", finding=[None, first, second][number % 3], is_internal=number == 1)
    notes = reading.notes(site.pk, link.account_id, finding_id=first.pk)
    assert [note.body for note in notes] == ["4"]
    assert {note.finding_id for note in notes} == {first.pk}


def test_notes_are_the_pinned_and_the_newest_that_may_leave(monkeypatch):
    monkeypatch.setattr(limits, "MAX_NOTES", 3)
    link = make_link()
    other = make_account("acct_0002", secrets=[])
    for number in range(8):
        account = [None, link.account, other][number % 3]
        body = f'{number} "Grüße" \\ \n\t<b>'
        finding = make_finding(link.website, title=f"{number}") if number % 2 else None
        make_note(link.website, body=body, account=account, finding=finding, is_internal=number == 6)
    AnalystNote.objects.filter(body__startswith="0").update(is_pinned=True)
    twin = AnalystNote.objects.filter(website=link.website).visible_to(link.account_id)
    twin = twin.order_by("-is_pinned", "-created_at", "-id")[:3]
    notes = reading.notes(link.website.pk, link.account_id)
    columns = {"pk": "id", "problem": "finding__problem", "pinned": "is_pinned"}
    assert notes == list(twin.values_list(*(columns.get(name, name) for name in Note._fields)))
    assert len(notes) == 3


def test_the_history_begins_with_the_last_day_before_the_period(site):
    stranger = make_website("stranger.example.com")
    fields = OpenDay._fields
    for number, days_ago in enumerate((90, 30, 3, 1)):
        for website in (site, stranger):
            counts = dict.fromkeys(fields[1:], number + (website == stranger))
            OpenCount.objects.create(
                website_id=website.pk, day=TODAY.date() - timedelta(days=days_ago), **counts
            )
    twin = list(OpenCount.objects.filter(website_id=site.pk).order_by("day").values_list(*fields))
    assert reading.history(site.pk, first_day=RECENT, today=TODAY.date()) == twin[1:]
    OpenCount.objects.filter(website_id=site.pk, day__lt=RECENT).delete()
    assert reading.history(site.pk, first_day=RECENT, today=TODAY.date()) == twin[2:]
