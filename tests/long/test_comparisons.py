"""Comparisons of 500 random histories of imports with full snapshots."""

import pytest
from django.test import Client
from hypothesis import Phase, given, settings

from tests.dashboard_api.reading.test_compare import HISTORIES, check_replay

pytestmark = [pytest.mark.long, pytest.mark.django_db]


@settings(max_examples=500, deadline=None, phases=[Phase.generate])
@given(history=HISTORIES)
def test_500_comparisons_are_what_snapshots_would_say(history):
    check_replay(history, Client())
