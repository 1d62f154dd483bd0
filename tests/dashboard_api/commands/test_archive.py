"""archive_site, restore_site and delete_site: the end of a website, from the shell."""

import pytest
from django.core.management.base import CommandError

from dashboard_api.models import Finding, ImportRun, SiteLink, Website
from tests.commands import run, run_json
from tests.dashboard_api.calls import ask, error_of, fields_for
from tests.dashboard_api.importing.inbox_folder import leave, names, refused
from tests.dashboard_api.scanners.samples import json_lines, make_row
from tests.factories import make_finding, make_link, make_website

pytestmark = pytest.mark.django_db
HOST = "shop.example.com"
REASON = ("--reason", "Contract ended")


def test_a_website_is_archived_once():
    make_link()
    fields = run_json("archive_site", "Shop.Example.com.", *REASON, "--by", "Ada")
    website = Website.objects.get()
    assert fields == {
        "host": HOST,
        "changed": True,
        "revoked_links": 1,
        "archived_at": fields["archived_at"],
        "archived_by": "Ada",
        "reason": "Contract ended",
    }
    again = run_json("archive_site", HOST, "--reason", "Another")
    assert again == fields | {"changed": False, "revoked_links": 0}
    assert website.archived_by == "Ada"
    assert "Nothing changed." in run("archive_site", HOST, *REASON)


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["blog.example.com", *REASON], "There is no website blog.example.com"),
        ([HOST], "required: --reason"),
        ([HOST, "--reason", " "], "Say who archives the website, and why."),
    ],
)
def test_nothing_is_archived_without_a_website_and_a_reason(arguments, refusal):
    make_website()
    with pytest.raises(CommandError, match=refusal):
        run("archive_site", *arguments)
    assert Website.objects.get().archived_at is None


def test_a_restored_website_names_the_links_that_stay_revoked():
    link = make_link()
    run("archive_site", HOST, *REASON)
    output = run("restore_site", HOST)
    assert "out of the archive" in output
    assert f"manage.py restore_link {link.link_id} --reason ...  # acct_0001" in output
    assert not SiteLink.objects.not_revoked().exists()
    fields = run_json("restore_site", HOST)
    assert fields == {
        "host": HOST,
        "changed": False,
        "revoked_links": [{"account": "acct_0001", "link_id": link.link_id}],
    }


def test_an_archived_website_is_not_verified_again():
    make_website()
    run("archive_site", HOST, *REASON)
    with pytest.raises(CommandError, match=r"was archived on .*manage\.py restore_site shop\.example\.com"):
        run("verify_site", HOST, "--by", "Ada")


def test_a_website_without_findings_is_deleted_once():
    make_website()
    assert run_json("delete_site", HOST) == {"host": HOST, "changed": True}
    assert run_json("delete_site", HOST) == {"host": HOST, "changed": False}
    assert not Website.objects.exists()


def test_a_website_with_findings_is_not_deleted():
    make_finding(make_website())
    with pytest.raises(CommandError, match="archive it instead"):
        run("delete_site", HOST)
    assert Finding.objects.exists()


def test_customers_of_an_archived_website_read_that_their_link_is_revoked(client):
    link = make_link()
    assert ask(client, fields_for(link)).status_code == 200
    run("archive_site", HOST, *REASON)
    response = ask(client, fields_for(link))
    assert (response.status_code, error_of(response)["code"]) == (403, "revoked_link")


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_report_about_an_archived_website_is_refused(tmp_path, options):
    make_website()
    run("archive_site", HOST, *REASON)
    report = tmp_path / "report.jsonl"
    report.write_bytes(json_lines(make_row()))
    with pytest.raises(CommandError, match=r"was archived on .* take it out of the archive first"):
        run("import_report", str(report), "--host", HOST, *options)
    assert not ImportRun.objects.exists()
    run("restore_site", HOST)
    run("import_report", str(report), "--host", HOST)
    assert Finding.objects.exists()


def test_the_inbox_puts_a_report_about_an_archived_website_aside_with_the_reason(tmp_path):
    make_website()
    run("archive_site", HOST, *REASON)
    leave(tmp_path, make_row())
    refused(tmp_path)
    assert names(tmp_path) == [f"{HOST}/failed/a.jsonl", f"{HOST}/failed/a.jsonl.why.txt"]
    assert "manage.py restore_site" in (tmp_path / HOST / "failed/a.jsonl.why.txt").read_text()
    assert not ImportRun.objects.exists()
