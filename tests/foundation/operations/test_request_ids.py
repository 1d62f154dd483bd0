"""Ids of requests: ours always, and the caller's in addition."""

import re

import pytest

from foundation.operations.request_ids import (
    begin_request,
    current_caller_request_id,
    current_request_id,
    restored_request,
)


def test_each_request_has_an_id_of_16_hex_digits():
    ids = {begin_request().request_id for _ in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)
    assert current_request_id() in ids


@pytest.mark.parametrize("sent", ["order-42", "a" * 64, "0.A_b-c.d"])
def test_a_callers_id_is_kept_in_addition(sent):
    assert begin_request(sent).request_id != sent
    assert current_caller_request_id() == sent


@pytest.mark.parametrize(
    "sent", ["", "short", "a" * 65, "a b c d e f", "line\nbreak", "straße-42", "12345678\n"]
)
def test_a_callers_id_of_another_form_is_dropped(sent):
    begin_request("an-earlier-one")
    begin_request(sent)
    assert current_caller_request_id() == ""


def test_a_request_within_a_request_ends_with_the_outer_id():
    outer = begin_request("of-the-outer-caller").request_id
    with restored_request():
        assert begin_request().request_id != outer
    assert (current_request_id(), current_caller_request_id()) == (outer, "of-the-outer-caller")
