"""revoke_link: the end of a link, from the shell."""

import pytest
from django.core.management.base import CommandError

from dashboard_api.models import SiteLink
from tests.commands import run, run_json
from tests.factories import make_link

pytestmark = pytest.mark.django_db


def test_link_is_revoked_with_a_reason():
    link = make_link()
    output = run("revoke_link", link.link_id.upper(), "--reason", "Contract ended", "--by", "Ada")
    assert output == "Revoked shop.example.com for acct_0001: its calls are refused from now on.\n"
    event = link.events.first()
    assert (event.action, event.by, event.reason) == ("revoked", "Ada", "Contract ended")


def test_revoked_link_is_printed_as_json_with_its_time():
    link = make_link()
    answer = run_json("revoke_link", link.link_id, "--reason", "Contract ended")
    link.refresh_from_db()
    assert answer["revoked_at"][:19] == link.revoked_at.isoformat()[:19]


@pytest.mark.parametrize(
    ("command", "arguments", "refusal"),
    [
        ("revoke_link", [], "required: --reason"),
        ("revoke_link", ["--reason", " "], "reason: Say why."),
    ],
)
def test_link_stays_as_it_was_when_refused(command, arguments, refusal):
    link = make_link()
    with pytest.raises(CommandError, match=refusal):
        run(command, link.link_id, *arguments)
    assert SiteLink.objects.not_revoked().get() == link


def test_unknown_link_is_refused():
    with pytest.raises(CommandError, match="There is no link 1234"):
        run("revoke_link", "1234", "--reason", "Contract ended")
