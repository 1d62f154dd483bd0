"""undo_import: taking an import back from the shell."""

import pytest
from django.core.management.base import CommandError

from dashboard_api.models import Finding, ImportRun
from tests.commands import run
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_website

pytestmark = pytest.mark.django_db


def test_a_dry_run_says_what_would_be_taken_back_and_changes_nothing():
    import_bytes(json_lines(make_row()), make_website(), format_name="nuclei")
    number = str(ImportRun.objects.get().pk)
    output = run("undo_import", number, "--reason", "The wrong file", "--dry-run")
    assert output.startswith("Dry run: nothing was changed. This would take back ")
    assert Finding.objects.count() == 1
    assert run("undo_import", number, "--reason", "The wrong file").startswith("Took back ")
    assert not Finding.objects.exists()


def test_an_older_import_is_refused_with_the_number_of_the_newer_one():
    website = make_website()
    for rule in ("a", "b"):
        import_bytes(json_lines(make_row(template_id=rule)), website, format_name="nuclei")
    newest, oldest = ImportRun.objects.all()
    with pytest.raises(CommandError, match=rf"newer imports .* first, .* UTC \(import {newest.pk}\)"):
        run("undo_import", str(oldest.pk), "--reason", "The wrong file", "--dry-run")
    assert Finding.objects.count() == 2
