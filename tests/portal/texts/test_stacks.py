"""Fixes by stack."""

from portal.texts.stacks import _FIXES, fixes_by_stack
from portal.texts.topics import TOPICS


def test_every_fix_belongs_to_a_topic():
    assert set(_FIXES) <= set(TOPICS)


def test_a_topic_has_lines_for_each_stack_and_other_problems_have_none():
    assert fixes_by_stack("server-version")[0] == ("nginx", "server_tokens off;")
    assert fixes_by_stack("0" * 16) == ()
