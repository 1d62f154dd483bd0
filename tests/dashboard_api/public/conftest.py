"""Fixtures of published documents."""

import pytest

from dashboard_api.api import public_views


@pytest.fixture(autouse=True)
def _nothing_kept():
    """Forget the documents that this process keeps."""
    public_views.newest.cache.clear()
