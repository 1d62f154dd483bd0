"""An import whose process is killed leaves everything as it was."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection

from dashboard_api.models import Finding, ImportRun
from tests.dashboard_api.calls import answer
from tests.databases import url_of
from tests.factories import make_finding, make_link

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_import_that_is_killed_in_the_middle_stores_nothing_and_holds_no_lock():
    link = make_link()
    make_finding(link.website)
    importing = subprocess.Popen(
        [sys.executable, "-m", "tests.dashboard_api.importing.crash", link.website.host],
        env=os.environ | {"DATABASE_URL": url_of(connection), "DJANGO_SETTINGS_MODULE": "tests.settings"},
        cwd=settings.BASE_DIR,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert importing.stdout.readline() == "in the middle\n"
    finally:
        importing.kill()
        importing.communicate()
    assert (Finding.objects.count(), ImportRun.objects.count()) == (1, 0)
    make_finding(link.website)
    assert answer(link).dashboard.total == 2
