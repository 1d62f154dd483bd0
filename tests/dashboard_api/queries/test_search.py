"""The index against a plain reference: the same findings on either database, however they came to be."""

import json
from contextlib import suppress
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard_api.importing import bulk_insert
from dashboard_api.models import Finding, Kind, Severity
from dashboard_api.queries.finding_rows import Period
from dashboard_api.queries.overview import Filters
from dashboard_api.queries.search import MOST_SPELLINGS, SearchQuery, find_matches
from foundation.words import words_of
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_finding, make_new_finding, make_source, make_user, make_website

pytestmark = pytest.mark.django_db

ANY_NUMBER = 1_000_000
TEXTS = ("title", "location", "rule", "description", "other_locations")


@pytest.fixture
def site():
    return make_website()


def searched_words(finding):
    texts = [getattr(finding, name) for name in TEXTS]
    return set(words_of(" ".join([*texts, json.dumps(finding.cve, ensure_ascii=False)])))


def plain_search(site, words, *, status="open", severity=None, source_id=None, kind=None):
    """Return the expected matches, by reading every finding."""
    filters = {"severity": severity, "source_id": source_id, "kind": kind}
    rows = site.findings.with_status(status).filter(**{k: v for k, v in filters.items() if v is not None})
    return [
        finding.pk
        for finding in rows.worst_first()
        if words
        and set(words[:-1]) <= searched_words(finding)
        and any(word.startswith(words[-1]) for word in searched_words(finding))
    ]


def found(site, words, *, limit=ANY_NUMBER, status="open", **filters):
    filters = {name: (value,) for name, value in filters.items() if value is not None}
    sought = SearchQuery(website_id=site.pk, words=words, status=status, filters=Filters(**filters))
    return find_matches(sought, limit=limit).ids


def assert_true(*sites, also=()):
    """Every word that there is, or was before ``also`` changed, finds exactly the rows that have it now."""
    words = {word for finding in Finding.objects.all() for word in searched_words(finding)} | set(also)
    for site in sites:
        for status in Finding.Status.values:
            for word in words:
                assert found(site, [word], status=status) == plain_search(site, [word], status=status), word
    if connection.vendor == "sqlite":
        assert sqlite_entries() == rebuilt_sqlite_entries()


def sqlite_entries():
    with connection.cursor() as cursor:
        cursor.execute("SELECT term, doc FROM dashboard_api_search_vocabulary")
        return sorted(cursor.fetchall())


def rebuilt_sqlite_entries():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, dashboard_api_search_entries(website_id, status, severity, source_id, kind, problem,"
            " host, title, location, rule, cve, description, other_locations) FROM dashboard_api_finding"
        )
        return sorted({(entry, pk) for pk, entries in cursor.fetchall() for entry in entries.split()})


def unsaved(site, number, **fields):
    finding = Finding(
        website=site,
        source=make_source(),
        fingerprint=f"{number:064}",
        severity=Severity.LOW,
        kind=Kind.CONFIRMED,
        title=f"unsaved {number}",
    )
    for name, value in fields.items():
        setattr(finding, name, value)
    return finding


def save_and_delete(site):
    finding = make_finding(site, title="Old jQuery", cve=["CVE-2020-11022"])
    finding.title, finding.severity, finding.kind = "New jQuery", Severity.HIGH, Kind.SUSPECTED
    finding.save()
    finding.status, finding.fixed_at = Finding.Status.FIXED, timezone.now()
    finding.save(update_fields=["status", "fixed_at"])
    make_finding(site, title="Gone").delete()


def update_by_query(site):
    for number in range(3):
        make_finding(site, title=f"Row {number}", severity=Severity.LOW)
    site.findings.update(severity=Severity.CRITICAL, description="Übersicht")
    site.findings.filter(title="Row 1").update(source=make_source("zap"), status=Finding.Status.ACCEPTED_RISK)
    site.findings.filter(title="Row 2").delete()


def write_in_bulk(site):
    findings = Finding.objects.bulk_create(unsaved(site, number) for number in range(5))
    for finding in findings:
        finding.rule = f"rule-{finding.pk}"
    Finding.objects.bulk_update(findings[::-1], ["rule"])
    Finding.objects.bulk_create(
        [unsaved(site, number, title=f"reported again {number}", severity=number) for number in (4, 0, 2)],
        update_conflicts=True,
        unique_fields=["website", "source", "fingerprint"],
        update_fields=["title", "severity"],
    )


def import_twice(site):
    rows = [make_row(template_id=f"rule-{number}") for number in range(3)]
    import_bytes(json_lines(*rows), site)
    import_bytes(json_lines(rows[0]), site, complete=True, scanned_at=timezone.now())


def move_to_another_website(site):
    finding = make_finding(site, title="Moved")
    make_finding(make_website("other.example.com"), title="Staying")
    finding.website = make_website("third.example.com")
    finding.save()


def write_by_hand(site):
    finding = make_finding(site, title="By hand", description="before")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE dashboard_api_finding SET title = 'Renamed', severity = 0")
        cursor.execute("UPDATE dashboard_api_finding SET id = id + 7 WHERE id = %s", [finding.pk])
    make_finding(site, title="Deleted")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM dashboard_api_finding WHERE title = 'Deleted'")


def roll_back(site):
    finding = make_finding(site, title="Kept")
    with suppress(ZeroDivisionError), transaction.atomic():
        Finding.objects.update(title="Lost")
        make_finding(site, title="Lost too")
        raise ZeroDivisionError
    finding.refresh_from_db()
    assert finding.title == "Kept"


FORMER = ["old", "gone", "before", "deleted", "moved", "lost", "too", "row", "unsaved"]


@pytest.mark.parametrize(
    "change",
    [
        save_and_delete,
        update_by_query,
        write_in_bulk,
        import_twice,
        move_to_another_website,
        write_by_hand,
        roll_back,
    ],
)
def test_index_stays_true_however_findings_change(site, change):
    make_finding(site, title="Unchanged")
    change(site)
    sites = {finding.website for finding in Finding.objects.select_related("website")} | {site}
    assert_true(
        *sites, also=["old", "gone", "before", "deleted", "moved", "lost", "too", "row", "reported", "again"]
    )


def test_index_stays_true_when_an_operator_decides(site, client):
    finding = make_finding(site, title="Decided")
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    fields = {
        "action": "false_positive",
        "_selected_action": finding.pk,
        "confirmed": "True",
        "reason": "No.",
    }
    assert client.post(reverse("admin:dashboard_api_finding_changelist"), fields).status_code == 302
    assert found(site, ["decided"]) == []
    assert found(site, ["decided"], status="false_positive") == [finding.pk]


@pytest.mark.parametrize("column", [*TEXTS, "cve", "severity", "status", "kind", "source", "website"])
def test_index_follows_a_change_of_one_column(site, column):
    other = make_website("other.example.com")
    findings = [make_finding(site, title="Former title"), make_finding(other, severity=Severity.CRITICAL)]
    values = {
        "cve": ["CVE-größer"],
        "severity": Severity.INFO,
        "status": Finding.Status.ACCEPTED_RISK,
        "kind": Kind.SUSPECTED,
        "source": make_source("zap"),
        "website": other,
    }
    Finding.objects.filter(pk=findings[0].pk).update(**{column: values.get(column, "Grün")})
    assert_true(site, other, also=["former"])
    for filters in ({"kind": "suspected"}, {"source_id": values["source"].pk}, {"severity": Severity.INFO}):
        assert found(site, ["https"], **filters) == plain_search(site, ["https"], **filters)


def test_a_deleted_website_takes_its_findings_out_of_the_index(site):
    other = make_website("other.example.com")
    make_finding(site)
    make_finding(other, title="Other")
    site.delete()
    assert found(site, ["finding"]) == []
    assert_true(other)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="REPLACE is SQLite's alone")
def test_what_a_replace_removes_leaves_the_index(site):
    make_finding(site, title="Replaced")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE copied AS SELECT * FROM dashboard_api_finding")
        cursor.execute("UPDATE copied SET title = 'Replacing'")
        cursor.execute("REPLACE INTO dashboard_api_finding SELECT * FROM copied")
        cursor.execute("DROP TABLE copied")
    assert_true(site, also=["replaced"])


WORDS = st.sampled_from(
    [
        "a",
        "ab",
        "abc",
        "abd",
        "b",
        "cross",
        "CROSS",
        "site",
        "größe",
        "GRÖSSEN",
        "straße",
        "ΟΔΟΣ",
        "2024",
        "20241",
    ]
)
PHRASES = st.lists(WORDS | st.text(max_size=3), max_size=4).map(" ".join)
STORED = PHRASES.map(lambda text: text.replace("\0", " ").encode(errors="ignore").decode())
FINDINGS = st.fixed_dictionaries(
    {
        "title": STORED,
        "description": STORED,
        "rule": STORED,
        "other_locations": STORED,
        "cve": st.lists(STORED, max_size=2),
        "severity": st.sampled_from(Severity),
        "kind": st.sampled_from(Kind),
        "status": st.sampled_from([Finding.Status.OPEN, Finding.Status.ACCEPTED_RISK]),
    }
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    rows=st.lists(FINDINGS, max_size=8),
    query=PHRASES,
    status=st.sampled_from(["open", "accepted_risk", "fixed", "all"]),
    severity=st.none() | st.sampled_from(Severity),
    kind=st.none() | st.sampled_from(Kind),
    limit=st.integers(1, 5),
)
def test_the_same_words_find_what_reading_every_finding_finds(
    site, rows, query, status, severity, kind, limit
):
    Finding.objects.all().delete()
    for fields in rows:
        make_finding(site, **fields)
    make_finding(make_neighbour_of(site), title=query.encode(errors="ignore").decode().replace("\0", ""))
    filters = {"status": status, "severity": severity, "kind": kind}
    words = words_of(query)
    expected = plain_search(site, words, **filters)
    assert found(site, words, **filters) == expected
    assert found(site, words, limit=limit, **filters) == expected[:limit]


def make_neighbour_of(site):
    return type(site).objects.get_or_create(host="neighbour.example.com")[0]


def test_rebuilding_makes_the_same_index(site, capsys):
    for title in ("Cross-site scripting", "Outdated jQuery"):
        make_finding(site, title=title)
    call_command("rebuild_search")
    assert capsys.readouterr().out == "Rebuilt the index of 2 findings.\n"
    assert_true(site)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL keeps its own entries")
def test_rebuilding_repairs_entries_made_by_other_rules_for_words(site, monkeypatch):
    finding = make_finding(site, title="Straße")
    monkeypatch.setattr("dashboard_api.queries.search.words_of", lambda text: words_of(text[::-1]))
    make_finding(site, title="Gasse")
    monkeypatch.undo()
    assert found(site, ["gasse"]) == []
    call_command("rebuild_search")
    assert_true(site)
    assert found(site, ["strasse"]) == [finding.pk]


def test_filters_are_part_of_the_search(site):
    zap = make_source("zap")
    wanted = make_finding(site, title="Login form", source=zap, kind=Kind.SUSPECTED, severity=Severity.HIGH)
    make_finding(site, title="Login form", source=zap, severity=Severity.HIGH)
    make_finding(site, title="Login form", kind=Kind.SUSPECTED)
    assert found(site, ["form", "log"], source_id=zap.pk, kind="suspected", severity=3) == [wanted.pk]
    assert found(site, ["log"], source_id=zap.pk + 1000) == []


def test_a_filter_may_have_several_values(site):
    sources = [make_source(slug) for slug in ("zap", "nuclei", "burp")]
    for number in range(45):
        make_finding(
            site,
            title="Row",
            source=sources[number % 3],
            kind=Kind.values[number // 3 % 3],
            severity=number % 5,
        )
    for values in (
        {"severity": (4, 2)},
        {"source_id": (sources[0].pk, sources[2].pk)},
        {"kind": ("confirmed", "informational")},
    ):
        sought = SearchQuery(website_id=site.pk, words=["row"], filters=Filters(**values))
        twin = site.findings.filter(
            **{f"{name}__in": chosen for name, chosen in values.items()}
        ).worst_first()
        assert find_matches(sought, limit=ANY_NUMBER).ids == list(twin.values_list("pk", flat=True))


def test_a_beginning_of_more_words_than_are_spelled_out_finds_them_all(site):
    for number in range(5 * MOST_SPELLINGS + 1):
        make_finding(site, title=f"x{number}", severity=number % 5)
    assert found(site, ["x"]) == plain_search(site, ["x"])
    assert found(site, ["finding", "x"]) == []
    assert found(site, ["x"], limit=7) == plain_search(site, ["x"])[:7]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="FTS5 merges by itself")
def test_every_writer_leaves_the_index_merged(site):
    def unmerged_pages():
        with connection.cursor() as cursor:
            cursor.execute("SELECT gin_clean_pending_list('dashboard_api_finding_search')")
            return cursor.fetchone()[0]

    finding = make_finding(site, title="saved")
    assert unmerged_pages() == 0
    bulk_insert.add_findings([make_new_finding(site, title="added")])
    assert unmerged_pages() == 0
    Finding.objects.filter(pk=finding.pk).update(title="changed")
    assert unmerged_pages() == 0
    assert [len(found(site, [word])) for word in ("saved", "added", "changed")] == [0, 1, 1]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="FTS5 merges by itself")
def test_the_merge_has_the_owners_rights_but_calls_nothing_that_others_made(site):
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION gin_clean_pending_list(text) RETURNS bigint LANGUAGE sql AS 'SELECT 1 / 0'"
        )
        cursor.execute("DISCARD PLANS")
    finding = make_finding(site, title="saved")
    assert found(site, ["saved"]) == [finding.pk]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has blocks")
@pytest.mark.parametrize("block_size", [1, 3, 17])
def test_blocks_are_searched_in_the_order_of_lists(site, block_size):
    for number in range(90):
        words = "odd word" if number % 2 else "even word"
        finding = make_finding(site, title=f"{words} {number // 41}", severity=number % 3)
        if number // 3 % block_size == 0:
            begin_block(site, number % 3, finding.pk + 1)
    for words in (["odd"], ["word"], ["word", "0"], ["odd", "2"], ["no"]):
        for limit in (1, 7, 44, 45, 46, 100):
            assert found(site, words, limit=limit) == plain_search(site, words)[:limit], (words, limit)
    assert found(site, ["odd"], severity=1) == plain_search(site, ["odd"], severity=1)
    assert_true(site)


@pytest.mark.parametrize("block_size", [1, 3, 17])
@pytest.mark.parametrize("days", [None, 20])
def test_matches_have_the_order_of_their_ids_whatever_their_severity(site, block_size, days):
    now = timezone.now()
    for number in range(90):
        severity = number * number % 5
        finding = make_finding(
            site,
            title="odd word" if number % 2 else "even word",
            severity=severity,
            rule=f"rule-{number % 3}",
            first_seen=now - timedelta(days=90 - number),
        )
        if number // 3 % block_size == 0 and connection.vendor == "postgresql":
            begin_block(site, severity, finding.pk + 1)
    ids = [finding.pk for finding in site.findings.order_by("pk")]
    period = Period(ids[60], now - timedelta(days=days)) if days else None
    problem = Finding.objects.filter(rule="rule-1").first().problem
    query = SearchQuery(website_id=site.pk, words=["odd"], problems=[problem], period=period)
    twin = site.findings.filter(title="odd word", problem=problem, pk__gt=period.after if period else 0)
    twin = twin.filter(first_seen__gte=period.since if period else now - timedelta(days=999))
    for limit in (1, 4, 100):
        for sort, order in (("newest", ["-pk"]), ("oldest", ["pk"]), ("worst", ["-severity", "-pk"])):
            expected = list(twin.order_by(*order).values_list("pk", flat=True)[:limit])
            assert find_matches(query, limit=limit, sort=sort).ids == expected


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has blocks")
def test_a_word_that_was_given_up_long_ago_is_found(site):
    """The newest blocks have no match, and the oldest have more than are read."""
    for number in range(60):
        finding = make_finding(site, title="bygone" if number < 30 else "recent")
        begin_block(site, finding.severity, finding.pk + 1)
    assert found(site, ["bygone"], limit=7) == plain_search(site, ["bygone"])[:7]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has blocks")
def test_a_long_question_can_be_asked_however_many_blocks_there_are(site):
    words = ["a" * 99, "b" * 99]
    finding = make_finding(site, title=" ".join(words))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO dashboard_api_search_block (website_id, severity, first_id) "
            "SELECT %s, %s, %s + number FROM generate_series(1, 3000) AS number",
            [site.pk, finding.severity, finding.pk],
        )
    assert found(site, words, limit=201, status="all") == [finding.pk]


def begin_block(site, severity, first_id):
    """Begin a block, as the database does by chance."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO dashboard_api_search_block (website_id, severity, first_id) VALUES (%s, %s, %s)",
            [site.pk, severity, first_id],
        )


@pytest.mark.parametrize(
    "query",
    [
        "",
        "*",
        '"',
        "' OR 1=1 --",
        'a" OR "b',
        "b' | 'b",
        "title: b NEAR/2 *",
        "a\0b",
        "\ud800",
        "b\ud800",
        "(" * 200,
        "\ufdfa" * 200,
        "b" * 200,
        "b " * 100,
        " ".join(chr(ord("a") + number % 26) + str(number) for number in range(60)),
        "#",
        "%s",
        "\\",
    ],
)
@pytest.mark.parametrize("status", ["open", "all"])
def test_odd_input_neither_fails_nor_widens(site, query, status):
    make_finding(site, title="b")
    make_finding(site, title="a b c")
    words = words_of(query)
    assert found(site, words, status=status) == plain_search(site, words, status=status)


def test_words_longer_than_an_index_takes_are_stored_and_found(site):
    finding = make_finding(site, title="x", description="é" * 5_000 + " " + "y" * 300)
    assert found(site, words_of("é" * 200)) == found(site, ["x"]) == [finding.pk]


def test_of_a_very_long_text_the_beginning_is_searched(site):
    finding = make_finding(site, description=" ".join(f"word{number}" for number in range(100_000)))
    assert found(site, ["word400"]) == [finding.pk]
    assert found(site, ["word90000"]) == []
