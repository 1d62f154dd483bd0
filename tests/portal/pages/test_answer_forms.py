from datetime import date, timedelta

import pytest
from django.utils import timezone

from portal.pages.answer_forms import AnswerForm, MessageForm

REASON = "It never reaches the database."


def in_days(count):
    return timezone.localdate() + timedelta(days=count)


def make_form(**data):
    options = {name: data.pop(name) for name in ("needs_evidence", "extra_bytes") if name in data}
    return AnswerForm(data, assignees=[("user-1", "ada")], **options)


def test_a_new_form_proposes_90_days_and_at_most_a_year():
    form = AnswerForm(assignees=[])
    assert form["until"].value() == in_days(90)
    assert form.fields["until"].widget.attrs["max"] == in_days(365).isoformat()


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({"act": "fixed", "reason": "Typed before", "due": "never"}, {"act": "fixed"}),
        ({"act": "will_fix", "due": "", "assignee": ""}, {"act": "will_fix"}),
        (
            {"act": "will_fix", "due": "2099-01-02", "assignee": "user-1", "until": "x"},
            {"act": "will_fix", "due": date(2099, 1, 2), "assignee": "user-1"},
        ),
        (
            {"act": "disputed", "reason": f" {REASON} ", "evidence": "a\r\nb"},
            {"act": "disputed", "reason": REASON, "evidence": "a\nb"},
        ),
    ],
)
def test_only_the_fields_of_the_chosen_answer_count(data, kept):
    form = make_form(**data)
    assert form.is_valid()
    assert form.cleaned_data == kept


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "act"),
        ({"act": "confirm"}, "act"),
        ({"act": "accepted", "until": "2026-12-24"}, "reason"),
        ({"act": "accepted", "reason": "A test"}, "until"),
        ({"act": "accepted", "reason": "A test", "until": "soon"}, "until"),
        ({"act": "accepted", "reason": "A test", "until": in_days(-2)}, "until"),
        ({"act": "accepted", "reason": "A test", "until": in_days(370)}, "until"),
        ({"act": "will_fix", "due": in_days(-2)}, "due"),
        ({"act": "will_fix", "assignee": "user-2"}, "assignee"),
        ({"act": "disputed", "reason": "Nineteen characters"}, "reason"),
        ({"act": "disputed", "reason": "x" * 2001}, "reason"),
        ({"act": "disputed", "reason": REASON, "needs_evidence": True}, "evidence"),
        ({"act": "disputed", "reason": "€" * 2000, "evidence": "€" * 400}, "reason"),
        ({"act": "disputed", "reason": "x" * 2000, "extra_bytes": 5100}, "reason"),
    ],
)
def test_each_mistake_is_said_at_one_field(data, field):
    form = make_form(**data)
    assert not form.is_valid()
    assert list(form.errors) == [field]
    assert len(form.errors[field]) == 1


def test_a_message_fits_into_one_call():
    assert MessageForm({"text": "é" * 3400}).is_valid()
    assert not MessageForm({"text": "é" * 3600}).is_valid()
    assert not MessageForm({"text": "x" * 4001}).is_valid()
