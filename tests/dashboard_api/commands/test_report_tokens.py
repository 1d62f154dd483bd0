"""issue_report_token and revoke_report_token: a token's life from the shell."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dashboard_api.models import ReportToken
from tests.commands import run_json
from tests.factories import make_account, make_link, make_website

pytestmark = pytest.mark.django_db


def test_only_the_token_goes_to_standard_output():
    link, output, remark = make_link(), io.StringIO(), io.StringIO()
    call_command(
        "issue_report_token", "acct_0001", "shop.example.com", "--name", "CI", stdout=output, stderr=remark
    )
    token = ReportToken.objects.with_value(output.getvalue().strip()).get()
    assert [*token.websites.all()] == [link.website]
    assert "not shown again" in remark.getvalue()


def test_it_has_its_scanners_and_its_end():
    make_link()
    fields = run_json(
        "issue_report_token", "acct_0001", "shop.example.com", "--name", "CI", "--source", "zap",
        "--days", "30", "--by", "Ada",
    )  # fmt: skip
    token = ReportToken.objects.get(pk=fields["id"])
    assert (token.sources, token.created_by) == (["zap"], "Ada")
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["acct_0001", "other.example.com", "--name", "CI"], "no active link to other.example.com"),
        (["acct_0001", "shop.example.com", "--name", "CI", "--days", "9999"], "must end within"),
        (["acct_0001", "shop.example.com", "--name", " "], "name:"),
    ],
)
def test_a_website_of_others_or_a_far_end_is_refused(arguments, words):
    make_link()
    make_link(make_account("acct_0002"), make_website("other.example.com"))
    with pytest.raises(CommandError, match=words):
        call_command("issue_report_token", *arguments)
    assert not ReportToken.objects.exists()


def test_a_token_is_revoked_by_its_number():
    make_link()
    number = run_json("issue_report_token", "acct_0001", "shop.example.com", "--name", "CI")["id"]
    assert run_json("revoke_report_token", "acct_0001", str(number))["revoked_at"]
    with pytest.raises(CommandError, match=rf"has no token {number + 1}; it has: {number} \(CI\)"):
        call_command("revoke_report_token", "acct_0001", str(number + 1))
