"""Acts of accounts and imports of scans at a given time, as signed calls and scanners cause them."""

from datetime import UTC, datetime, timedelta

from django.db import transaction

from dashboard_api.answers import acts, messages
from dashboard_api.contract.requests import read_request
from dashboard_api.models import Account, Answer, Website
from signed_api.answering import ANSWER, MESSAGE
from tests.dashboard_api.calls import fields_for
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import json_lines, make_row

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday
DAY = timedelta(days=1)
REASON = "The header is set by our proxy."
NEEDED = {
    "will_fix": {},
    "accepted": {"reason": "Behind a VPN", "until": "2026-04-04"},
    "disputed": {"reason": REASON},
    "fixed": {},
    "withdraw": {},
    "confirm": {"by": "user-2"},
    "decline": {"by": "user-2"},
}


@transaction.atomic
def act(link, act_name, *findings, now=NOW, **fields):
    """Do an act about these findings; return the open answer to the first one, if there is one."""
    ids = ",".join(str(finding.pk) for finding in findings)
    given = {"by": "user-1"} | NEEDED[act_name] | fields
    given = {key: value for key, value in given.items() if value != ""}
    request = read_request(ANSWER, fields_for(link, act=act_name, finding_ids=ids, **given))
    Website.wait_for_imports([link.website_id])
    account = Account.objects.get(pk=link.account_id)
    chosen = acts.Chosen.of(account.pk, link.website_id, [finding.pk for finding in findings])
    acts.act(account, link.website, chosen, request, now)
    return open_answer(link, findings[0])


def open_answer(link, finding):
    return Answer.objects.open().filter(account=link.account, finding=finding).first()


def outcomes(link, finding):
    """Return the outcomes of the account's answers to the finding, oldest first; empty for the open one."""
    return list(finding.answers.filter(account=link.account).order_by("pk").values_list("outcome", flat=True))


@transaction.atomic
def write(link, finding, text="Please look again.", *, now=NOW, by="user-1", edit=None):
    """Write a message, or change the message ``edit``."""
    fields = {"text": text, "by": by, "message_id": str(edit.pk) if edit else ""}
    given = {key: value for key, value in fields.items() if value}
    request = read_request(MESSAGE, fields_for(link, finding_id=str(finding.pk), **given))
    Website.wait_for_imports([link.website_id])
    change = messages.edit if edit else messages.write
    return change(Account.objects.get(pk=link.account_id), finding, request, now)


def scan(website, *rules, at, severity="medium", complete=True):
    """Import a scan at this time that reports these rules; a complete one fixes all others."""
    rows = [
        make_row(
            template_id=rule,
            timestamp=at.isoformat(),
            info={"name": f"Problem {rule}", "severity": severity},
            matched_at=f"https://{website.host}/{rule}",
        )
        for rule in rules
    ]
    return import_bytes(
        json_lines(*rows) if rows else b"", website, format_name="nuclei", complete=complete, scanned_at=at
    )
