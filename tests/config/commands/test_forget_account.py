"""An account can be deleted: nothing of it is left outside the audit, and nothing of others is lost."""

import io
import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connections
from django.utils import timezone

from audit import seals
from audit.models import AuditEvent
from audit.recording import Acting, Person, acting
from dashboard_api import models as api
from dashboard_api.ownership import claims
from dashboard_api.ownership.claims import Check, Verdict
from portal import models as portal
from portal.team import actions
from tests import factories
from tests.audit import triggers
from tests.commands import run, run_json
from tests.dashboard_api.api.reports import make_token

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")
WHY = ("--reason", "They asked", "--by", "Robin")
RANDOM = re.compile(r"gAAAA[\w=-]+|[0-9a-f]{32,}|pbkdf2[\w$+/=]+")  # letters that may be a name
PEOPLE = ("ada@example.com", "bob@example.com", "eve@example.com", "zoe@example.com")


def make_two_customers():
    """Make acct_0001 with ada, bob and eve, and acct_0002 with eve, who is in both."""
    first, second = factories.make_account("acct_0001"), factories.make_account("acct_0002")
    own, both = factories.make_website("shop.example.com"), factories.make_website("blog.example.com")
    factories.make_link(first, both)
    factories.make_link(second, both)
    api.Website.objects.filter(pk=both.pk).update(verified_by="acct_0001")  # as a proven claim does
    link = factories.make_link(first, own)
    for website in (own, both):
        finding = factories.make_finding(website)
        factories.make_occurrence(finding)
        factories.make_event(finding)
        factories.make_standing_decision(website, by="Grace")
        factories.make_note(website, account=first, body="For acct_0001")
        factories.make_import_run(website)
        factories.make_coverage(website)
    for account, website in ((first, own), (first, both), (second, both)):
        make_conversation(account, website)
    token, _ = make_token(link, name="CI of acct_0001")
    api.ImportRun.objects.filter(website=both).update(by=f"CI of acct_0001 (token {token.pk})")
    for account in (first, second):
        factories.make_nonce(account_id=account.pk)
        factories.make_call_record(account_id=account.pk)
    api.SecretUse.record(first.secrets.get().pk, timezone.now())
    make_members()
    boss = factories.make_user("boss", is_staff=True)
    for row in (first, link, first.secrets.get(), User.objects.get(username="ada"), second):
        LogEntry.objects.log_actions(boss.pk, [row], CHANGE, single_object=True)


def make_conversation(account, website):
    """Make a dispute of the account with its message, and the remembered call."""
    about = {"account": account, "website": website, "finding": website.findings.first()}
    case = api.Case.objects.create(kind="dispute", promised_on=timezone.now(), by="user-1", **about)
    text = f"Why, says {account.ref}"
    api.Answer.objects.create(answer="disputed", severity_then=2, reason=text, case=case, **about)
    api.Message.objects.create(side="member", event="disputed", text=text, case=case, **about)
    api.RememberedCall.objects.create(account=account, key=website.host, response=b"{}")


def make_members():
    first, second = factories.make_portal_account("acct_0001"), factories.make_portal_account("acct_0002")
    for account in (first, second):
        factories.make_portal_website(account, "blog.example.com")
    ada, bob, eve = (factories.make_user(name, email=f"{name}@example.com") for name in ("ada", "bob", "eve"))
    member = factories.make_membership(ada, first)
    for own in (member, None):
        name = f"View of {own or 'everyone'}"
        portal.SavedView.objects.create(account=first, membership=own, name=name, query="query=acct_0001")
    factories.make_membership(eve, first, role="viewer")
    factories.make_membership(eve, second)
    with acting(Acting(kind="person", person=lambda: Person(ada.pk, "ada"), address="192.0.2.7")):
        actions.accept(actions.invite(first, bob.email, "viewer", by=ada, was_emailed=True), bob)
        actions.invite(first, "zoe@example.com", "viewer", by=ada, was_emailed=True)


def rows(*, of_audit=False):
    """Return what all tables hold, as text."""
    found = []
    for alias in connections:
        connection = connections[alias]
        with connection.cursor() as cursor:
            for table in connection.introspection.django_table_names(only_existing=True):
                if of_audit or not table.startswith("audit_auditevent"):
                    cursor.execute(f'SELECT * FROM "{table}"')
                    found += [RANDOM.sub("", f"{table}: {row}") for row in cursor.fetchall()]
    return found


def naming(*texts, **options):
    """Return the rows with one of the texts, though not inside a word: random tokens have any letters."""
    named = re.compile(rf"(?<![a-z0-9])({'|'.join(map(re.escape, texts))})(?![a-z0-9])", re.IGNORECASE)
    return [row for row in rows(**options) if named.search(row)]


@pytest.fixture
def with_triggers():
    """The triggers of calls on record, which refuse to delete them before their time."""
    connection = connections[api.CallRecord.objects.db]
    triggers.install(connection, triggers.OF_CALLS)
    yield
    triggers.remove(connection)


def test_nothing_of_a_deleted_account_or_its_people_is_left_outside_the_audit(with_triggers):
    make_two_customers()
    seals.seal(timezone.now())
    assert naming("acct_0001")
    fields = run_json("forget_account", "acct_0001", *WHY, "--yes")
    assert (fields["changed"], fields["websites"], fields["findings"], fields["users"]) == (True, 1, 1, 2)
    assert (fields["answers"], fields["messages"]) == (2, 2)
    assert naming("acct_0001", "shop.example.com") == []
    assert naming("ada", "bob", "zoe", "192.0.2.7", of_audit=True) == []
    event = AuditEvent.objects.get(action="account.forgotten")
    assert (event.account, event.reason, event.after["secrets"]) == ("acct_0001", "They asked", 1)
    assert AuditEvent.objects.filter(account="acct_0001", action="member.invited").count() == 2
    assert seals.first_difference() is None
    assert run_json("forget_account", "acct_0001", *WHY, "--yes")["changed"] is False


def test_what_other_accounts_have_too_is_kept(with_triggers):
    make_two_customers()
    before = {row for row in naming("acct_0002") if "acct_0001" not in row}
    run("forget_account", "acct_0001", *WHY, "--yes")
    assert before <= set(rows())
    website = api.Website.objects.get()
    assert (website.host, website.findings.count(), website.imports.count()) == ("blog.example.com", 1, 1)
    assert website.links.get().account.ref == "acct_0002"
    assert api.Nonce.objects.count() == api.CallRecord.objects.count() == 1
    conversations = (api.Case, api.Answer, api.Message, api.RememberedCall)
    assert [model.objects.get().account.ref for model in conversations] == ["acct_0002"] * 4
    with pytest.raises(DatabaseError, match="calls on record"):
        api.CallRecord.objects.all().delete()
    assert {user.username for user in User.objects.all()} == {"eve", "boss"}
    assert portal.Membership.objects.get().user.username == "eve"


def calls_of(account_id):
    models = (api.CallOutcome, api.CallRecord, api.Nonce, api.Usage)
    return sum(model.objects.filter(account_id=account_id).count() for model in models)


def test_prune_finishes_a_deletion_that_was_killed_before_its_last_step(with_triggers, monkeypatch):
    make_two_customers()
    first, second = (api.Account.objects.get(ref=ref).pk for ref in ("acct_0001", "acct_0002"))
    with monkeypatch.context() as killed:
        killed.setattr(api.ForgottenAccount, "finish", lambda _now: None)
        run("forget_account", "acct_0001", *WHY, "--yes")
    limit = api.CallLimit(per_second=10, burst=40)
    factories.make_nonce("of-a-late-call", account_id=first, limit=limit)
    api.CallOutcome.note(first, "of-a-late-call", status=503, code="unavailable")
    assert calls_of(first) == 5
    assert run_json("prune")["forgotten_calls"] == 3
    assert (calls_of(first), calls_of(second)) == (0, 2)
    assert not api.SecretUse.objects.exists()


def test_a_deletion_that_failed_deletes_no_calls_and_they_are_protected_again_after_a_day(
    with_triggers, monkeypatch
):
    make_two_customers()
    first = api.Account.objects.get(ref="acct_0001").pk
    with monkeypatch.context() as failing:
        failing.setattr(api.Website, "delete", fail)
        with pytest.raises(DatabaseError):
            run("forget_account", "acct_0001", *WHY, "--yes")
    assert run_json("prune")["forgotten_calls"] == 0
    assert calls_of(first) == 2
    api.ForgottenAccount.objects.update(at=timezone.now() - timedelta(hours=25))
    run("prune")
    with pytest.raises(DatabaseError, match="calls on record"):
        api.CallRecord.objects.filter(account_id=first).delete()


def fail(*_):
    raise DatabaseError("disk full")


class Terminal(io.StringIO):
    """Standard input at which a person types."""

    def isatty(self):
        return True


def test_it_shows_what_it_will_delete_and_asks_for_the_reference(monkeypatch):
    make_two_customers()
    shown = io.StringIO()
    for stdin, refusal in (
        (io.StringIO(), "To delete it all, add --yes"),
        (Terminal("yes\n"), "not the reference"),
    ):
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(CommandError, match=f"Nothing was deleted.*{refusal}"):
            call_command("forget_account", "acct_0001", *WHY, stderr=shown)
    assert "websites that only it has: shop.example.com" in shown.getvalue()
    assert "people who are in no other account: ada, bob" in shown.getvalue()
    assert "kept, because others have it, too: blog.example.com" in shown.getvalue()
    assert "kept, because they are staff or in another account: eve" in shown.getvalue()
    assert api.Account.objects.count() == 2
    monkeypatch.setattr("sys.stdin", Terminal("acct_0001\n"))
    assert run("forget_account", "acct_0001", *WHY).startswith("acct_0001 is deleted (1 secrets, 2 links")
    assert api.Account.objects.get().ref == "acct_0002"


@pytest.mark.parametrize("missing", ["--reason", "--by"])
def test_an_account_is_not_deleted_without_a_name_and_a_reason(missing):
    factories.make_account()
    at = WHY.index(missing)
    for arguments in (WHY[:at] + WHY[at + 2 :], (*WHY[:at], missing, " ", *WHY[at + 2 :])):
        with pytest.raises(CommandError):
            run("forget_account", "acct_0001", *arguments, "--yes")
    assert api.Account.objects.exists()


def test_the_account_of_the_settings_is_not_deleted(settings):
    settings.PORTAL_ACCOUNT_REF = "acct_0001"
    factories.make_account()
    with pytest.raises(CommandError, match="Take PORTAL_ACCOUNT_REF and SITE_API_SECRET out of the settings"):
        run("forget_account", "acct_0001", *WHY, "--yes")
    assert api.Account.objects.exists()


def test_what_was_found_alone_does_not_go_to_an_account_that_had_left_before():
    first, second = factories.make_account("acct_0001"), factories.make_account("acct_0002")
    website = factories.make_website("blog.example.com")
    factories.make_link(first, website)
    factories.make_link(second, website)
    left = api.OwnershipClaim.objects.get(account=second)
    claims.withdraw(left, by="eve", reason="sold", now=timezone.now())
    factories.make_finding(website)
    run("forget_account", "acct_0001", *WHY, "--yes")
    now = timezone.now()
    claim = claims.add(second, "blog.example.com", by="eve", now=now)
    claims.record_check(claim, Check(Verdict.FOUND, "file", "https"), now=now)
    assert api.SiteLink.objects.not_revoked().get().website.findings.count() == 0
