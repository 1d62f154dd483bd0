"""The digest of one member: wanted changes only, and never empty."""

import pytest

from portal.models import Membership, Subscription
from portal.notifications.digest import MAX_FINDINGS, MAX_MESSAGES, Digest, Message
from tests.portal.dashboards import (
    SEVERITIES,
    make_change,
    make_changes,
    make_message_change,
    make_note_change,
)


def wanting(min_severity):
    return Subscription(membership=Membership(), min_severity=min_severity)


EVERYTHING = make_changes(*(make_change(number, severity) for number, severity in enumerate(SEVERITIES)))


@pytest.mark.parametrize(("min_severity", "count"), [("Critical", 1), ("High", 2), ("Info", 5)])
def test_a_digest_has_findings_from_the_lowest_severity_on(min_severity, count):
    digest = Digest.for_subscription(EVERYTHING, wanting(min_severity))
    assert [change.severity for change in digest.findings] == list(SEVERITIES[:count])
    assert (digest.total, digest.is_exact) == (count, True)


def test_the_total_counts_wanted_findings_beyond_the_list():
    counts = {"Critical": 3, "High": 90, "Medium": 400}
    first_page = [make_change(number, "High") for number in range(50)]
    changes = make_changes(*first_page, total=493, total_relation="at_least", by_severity=counts)
    assert Digest.for_subscription(changes, wanting("High")).total == 93
    assert Digest.for_subscription(changes, wanting("High")).is_exact is False


def test_a_digest_without_wanted_findings_is_empty():
    assert not Digest.for_subscription(make_changes(make_change(1, "Medium")), wanting("High"))
    assert not Digest.for_subscription(make_changes(), wanting("Info"))


def test_a_note_is_in_every_digest():
    assert Digest.for_subscription(make_changes(analyst_notes=[make_note_change()]), wanting("Critical"))


def test_an_unknown_severity_is_the_lowest():
    changes = make_changes(make_change(1, "High"), findings=[make_change(2, "Curious")], by_severity={})
    assert not Digest.for_subscription(changes, wanting("Info"))


def test_a_digest_survives_json():
    digest = Digest(
        since="1.2.3.", findings=[make_change()], total=4, is_exact=False, notes=[make_note_change()]
    )
    assert Digest.from_json(digest.to_json()) == digest


def test_merged_findings_are_unique_and_worst_first():
    earlier = Digest(since="1.0.0.", findings=[make_change(1, "High"), make_change(2, "Low")], total=12)
    later = Digest(
        since="2.0.0.",
        findings=[make_change(3, "High"), make_change(2, "Low", event="regressed")],
        total=2,
        notes=[make_note_change()],
    )
    both = earlier.merged_with(later)
    assert [(change.id, change.event) for change in both.findings] == [
        ("3", "new"),
        ("1", "new"),
        ("2", "regressed"),
    ]
    assert (both.since, both.total, both.is_exact, both.notes) == ("1.0.0.", 13, True, [make_note_change()])
    assert both.merged_with(both).notes == both.notes


def test_a_digest_has_a_limit_of_findings():
    digest = Digest(findings=[make_change(number) for number in range(40)], total=40)
    later = Digest(findings=[make_change(number) for number in range(100, 140)], total=40, is_exact=False)
    both = digest.merged_with(later)
    assert (len(both.findings), both.total, both.is_exact) == (MAX_FINDINGS, 80, False)


def test_findings_after_the_last_that_the_service_names_stay():
    later = [make_change(number, "High") for number in range(50, 0, -1)]
    low, gone = make_change(1_001, "Low"), make_change(1_002, "High")
    digest = Digest(findings=[gone, low], total=2).reduced_to(make_changes(*later, total=90))
    assert (digest.findings, digest.total) == ([low], 1)


def test_findings_without_room_follow_those_left_out_and_the_total_is_that_of_the_service():
    wrong = [make_change(number, "Critical") for number in range(100, 50, -1)]
    true = [make_change(number, "High") for number in range(20, 0, -1)]
    digest = Digest(findings=wrong, total=90).reduced_to(make_changes(*true))
    assert (digest.findings, digest.total) == (true, 20)
    assert not Digest(findings=wrong, total=90).reduced_to(make_changes())


def test_a_finding_is_as_bad_as_it_is_by_now():
    digest = Digest(findings=[make_change(1, "Critical"), make_change(2, "High")], total=2)
    reduced = digest.reduced_to(make_changes(make_change(2, "High"), make_change(1, "Low")))
    assert reduced.findings == [make_change(2, "High"), make_change(1, "Low")]


def test_findings_that_came_later_are_not_in_a_digest_whose_own_are_gone():
    digest = Digest(findings=[make_change(1), make_change(2)], total=2)
    reduced = digest.reduced_to(make_changes(make_change(3), make_change(1)))
    assert (reduced.findings, reduced.total) == ([make_change(1)], 1)


def test_events_beyond_the_longest_list_are_counted():
    def digest(number, event="expired", **fields):
        message = make_message_change(number, event=event, side="service", **fields)
        return Digest(since="1.", messages=[Message.of(message)])

    merged = digest(1)
    for number in range(2, 5_001):
        merged = merged.merged_with(digest(number))
    assert len(merged.messages) == MAX_MESSAGES
    assert sum(message.findings for message in merged.messages) == 5_000
    assert [message.id for message in merged.messages[:2]] == ["1", "2"]
