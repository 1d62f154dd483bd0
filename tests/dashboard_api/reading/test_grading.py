"""The grade and its history: each fix leads to the next grade, and a topic counts once."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.models import Kind, OpenCount, Severity
from dashboard_api.queries.overview import OpenDay, Run
from dashboard_api.reading import grading, topics
from dashboard_api.reading.problems import ProblemCell
from tests.dashboard_api.calls import answer
from tests.factories import make_coverage, make_finding, make_link, make_source, make_website

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
COMPLETE = [Run(1, "ok", NOW, NOW, None, "", "", None)]
levels = st.lists(st.integers(0, 10_000), min_size=5, max_size=5)


def without_one(counts, level):
    return [count - (position == level) for position, count in enumerate(counts)]


@given(levels)
def test_as_many_fixes_as_promised_lead_to_the_next_grade(counts):
    graded = grading.grade(counts, COMPLETE)
    if graded.next is None:
        assert graded.letter == "A"
        return
    worst = grading.LETTERS.index(graded.letter)
    for fixed in range(1, min(graded.next.fixes, 3)):
        fewer = [count - fixed * (level == worst) for level, count in enumerate(counts)]
        assert grading.grade(fewer, COMPLETE).letter == graded.letter
    done = [count - graded.next.fixes * (level == worst) for level, count in enumerate(counts)]
    assert grading.grade(done, COMPLETE).letter == graded.next.grade


@given(st.dictionaries(st.tuples(st.sampled_from(Kind.values), st.integers(0, 4)), st.integers(1, 50)))
def test_a_day_of_the_history_has_the_levels_of_its_findings(counts):
    names = [severity.name.lower() for severity in Severity]
    by_severity = {
        name: sum(count for (_, at), count in counts.items() if at == severity)
        for severity, name in zip(Severity, names, strict=True)
    }
    suspected = {
        f"suspected_{name}": counts.get((Kind.SUSPECTED, severity), 0)
        for severity, name in zip(Severity, names, strict=True)
        if severity != Severity.INFO
    }
    day = OpenDay(day=NOW.date(), **by_severity, **suspected)
    assert grading.levels_of_day(day) == grading.levels_of(counts)


COUNTS = st.lists(st.integers(0, 20), min_size=5, max_size=5)
SOURCES_OF_A_TOPIC = st.dictionaries(st.integers(1, 4), COUNTS, min_size=1)


def totals_of(by_source):
    """Counts of one topic as the overview has them, of confirmed findings."""
    key = topics.keys_of("content-security-policy")[0]
    return [
        ProblemCell("open", severity, source, "confirmed", key, count, count, 1, 1, NOW, NOW)
        for source, counts in by_source.items()
        for severity, count in enumerate(counts)
    ]


def graded_levels(by_source, others):
    plain = [sum(counts) for counts in zip(others, *by_source.values(), strict=True)]
    return grading.without_duplicates(plain, grading.count_duplicates(totals_of(by_source)))


@given(SOURCES_OF_A_TOPIC, COUNTS, st.data())
def test_fixing_a_finding_of_a_topic_never_leads_away_from_the_next_grade(by_source, others, data):
    source = data.draw(st.sampled_from(sorted(by_source)))
    found = [level for level, count in enumerate(by_source[source]) if count]
    if found:
        level = data.draw(st.sampled_from(found))
        fewer = by_source | {source: without_one(by_source[source], level)}
        before = grading.grade(graded_levels(by_source, others), COMPLETE)
        after = grading.grade(graded_levels(fewer, others), COMPLETE)
        assert after.letter <= before.letter
        assert after.letter < before.letter or after.next is None or after.next.fixes <= before.next.fixes


@given(SOURCES_OF_A_TOPIC, COUNTS)
def test_a_topic_leaves_the_letter_as_its_worst_finding_decides_it(by_source, others):
    plain = [sum(counts) for counts in zip(others, *by_source.values(), strict=True)]
    levels = graded_levels(by_source, others)
    assert grading.grade(levels, COMPLETE).letter == grading.grade(plain, COMPLETE).letter
    assert all(0 <= level <= count for level, count in zip(levels, plain, strict=True))


@pytest.mark.django_db
def test_one_problem_of_four_scanners_is_one_fix():
    website = make_website()
    link = make_link(website=website)
    make_coverage(website)
    make_finding(website, source=make_source("zap"), rule="10038-1", severity=Severity.MEDIUM)
    alone = answer(link).summary
    for source, rule in (
        ("mdn-observatory", "content-security-policy"),
        ("wapiti", "Content Security Policy Configuration"),
        ("nikto", "missing-header/content-security-policy"),
    ):
        make_finding(website, source=make_source(source), rule=rule, severity=Severity.MEDIUM)
    together = answer(link).summary
    assert (together.open, together.next_grade.fixes) == (4, 1)
    assert together.next_grade == alone.next_grade
    assert together.history[-1].fixes == 1


def at_end_of(day, **counts):
    return OpenDay(day, **(dict.fromkeys(OpenDay._fields[1:], 0) | counts))


def test_the_history_begins_with_the_state_before_the_period():
    first_day = date(2026, 8, 24)
    days = [at_end_of(date(2026, 5, 1), critical=1), at_end_of(date(2026, 11, 3), high=2)]
    graded = grading.grade([0, 0, 0, 2, 0], COMPLETE)
    history = grading.history(days, first_day=first_day, graded=graded)
    assert [(entry.day, entry.grade, entry.open, entry.fixes) for entry in history] == [
        (first_day, "F", 1, 1),
        (date(2026, 11, 3), "D", 2, graded.next.fixes),
    ]


def test_without_a_complete_check_no_day_had_a_good_grade():
    days = [at_end_of(date(2026, 11, 1), low=1), at_end_of(date(2026, 11, 3), high=1)]
    provisional = grading.grade([0, 0, 0, 1, 0], [])
    assert [
        entry.grade for entry in grading.history(days, first_day=date(2026, 9, 1), graded=provisional)
    ] == ["D"]
    ungraded = grading.grade([0, 1, 0, 0, 0], [])
    assert (ungraded.letter, ungraded.next) == (None, None)
    assert grading.history(days, first_day=date(2026, 9, 1), graded=ungraded) == []


@pytest.mark.django_db
def test_the_response_has_the_grades_of_ninety_days():
    website = make_website()
    link = make_link(website=website)
    make_coverage(website)
    make_finding(website, severity=Severity.CRITICAL)
    make_finding(website, severity=Severity.MEDIUM, kind=Kind.SUSPECTED)
    for days_ago in (200, 100, 30):
        day = timezone.now().date() - timedelta(days=days_ago)
        counts = dict.fromkeys(OpenDay._fields[1:], 0) | {"critical": days_ago, "medium": 1}
        OpenCount.objects.create(website=website, day=day, **counts)
    summary = answer(link).summary
    assert (summary.next_grade.grade, summary.next_grade.fixes) == ("B", 1)
    assert [entry.open for entry in summary.history] == [101, 31, 2]
    assert [entry.fixes for entry in summary.history] == [100, 30, 1]


@pytest.mark.django_db
def test_a_deleted_website_leaves_no_history():
    website = make_website()
    OpenCount.objects.create(
        website=website, day=timezone.now().date(), **dict.fromkeys(OpenDay._fields[1:], 0)
    )
    website.delete()
    assert not OpenCount.objects.exists()
