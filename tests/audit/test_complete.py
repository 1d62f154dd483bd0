"""Every form, action of the admin and command writes an audit event, or says why it writes none."""

import importlib
import pkgutil
import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.core.management import CommandError, call_command
from django.test import Client, RequestFactory
from django.urls import URLPattern, get_resolver, reverse

from audit.models import AuditActor, AuditEvent
from config.admin_pages.audit_hooks import CHANGES_NOTHING
from foundation.operations.operator_command import OperatorCommand
from tests import factories
from tests.config.identity.test_staff import KEY, confirm

# Routes whose actions record their own event, in the transaction of the change.
OWN_EVENT = {
    "account_change_password": "password.changed",
    "account_reset_password_from_key": "password.changed",
    "account_set_password": "password.changed",
    "dashboard_api:account-answer-rules": "answer_rules.changed",
    "dashboard_api:account-publicity": "publicity.changed",
    "dashboard_api:account-secrets": "secret.issued",
    "dashboard_api:account-websites": "websites.chosen",
    "dashboard_api:callbacks": "entitlement.changed",
    "dashboard_api:reports": "import.stored",
    "dashboard_api:site-answer": "answer.will_fix",
    "dashboard_api:site-script": "script.pin",
    "dashboard_api:site-claim": "ownership.claimed",
    "dashboard_api:site-claim-check": "ownership.verified",
    "dashboard_api:site-claim-withdraw": "ownership.withdrawn",
    "dashboard_api:site-message": "message.written",
    "dashboard_api:site-scan": "scan.queued",
    "dashboard_api:site-scan-cancel": "scan.cancelled",
    "dashboard_api:site-scan-schedule": "scan.scheduled",
    "end_other_sessions": "sessions.ended",
    "mfa_activate_totp": "second_factor.added",
    "mfa_add_webauthn": "second_factor.added",
    "mfa_deactivate_totp": "second_factor.removed",
    "mfa_generate_recovery_codes": "second_factor.renewed",
    "mfa_remove_webauthn": "second_factor.removed",
    "new_account": "customer.signed_up",
    "new_customer": "customer.onboarded",
    "portal:add_website": "website.claimed",
    "portal:answer": "website.findings_answered",
    "portal:write_message": "website.message_written",
    "portal:api_secrets": "api_secret.issued",
    "portal:badge": "badge.switched_on",
    "portal:change_script": "website.script_pinned",
    "portal:change_role": "member.role",
    "portal:cancel_scan": "website.scan_cancelled",
    "portal:confirm_page": "website.page_confirmed",
    "portal:check_claim": "website.claim_checked",
    "portal:check_for_helper": "website.claim_checked",
    "portal:choose_websites": "websites.chosen",
    "portal:create_helper_link": "helper_link.created",
    "portal:delete_view": "saved_view.deleted",
    "portal:end_helper_link": "helper_link.revoked",
    "portal:invite": "member.invited",
    "portal:join": "member.joined",
    "portal:leave_account": "member.left",
    "portal:portal.notifications.views.former_unsubscribe": "subscription.ended",
    "portal:publicity": "publicity.chosen",
    "portal:rules": "answer_rules.chosen",
    "portal:remove_member": "member.removed",
    "portal:rename_view": "saved_view.renamed",
    "portal:revoke_share": "share_link.revoked",
    "portal:say_fixed": "share_link.said_fixed",
    "portal:save_view": "saved_view.saved",
    "portal:set_tracker": "issue_tracker.saved",
    "portal:share_finding": "share_link.created",
    "portal:share_list": "share_link.created",
    "portal:retest": "website.finding_retested",
    "portal:schedule_scans": "website.scans_scheduled",
    "portal:start_scan": "website.scanned",
    "portal:subscribe": "subscription.saved",
    "portal:unsubscribe": "subscription.ended",
    "portal:withdraw_claim": "website.claim_withdrawn",
    "portal:withdraw_invitation": "member.withdrawn",
}
# Routes that the middleware records as "form.sent", as it does with every form of a member.
BY_MIDDLEWARE = {"mfa_edit_webauthn", "admin:auth_user_password_change"}
# Routes of the admin: its log is on record, and a form without a line there is "form.sent".
ADMIN_FORMS = ("_add", "_change", "_changelist", "_delete", "_issue_secret", "_issue", "_import", "_upload")
ADMIN_PAGES = (  # pages that change nothing
    *("_history", "app_list", "autocomplete", "catch_all_view", "index", "jsi18n", "view_on_site"),
    *("RedirectView", "_preview", "_workbench", "_workers", "password_change_done"),
    *("_said_fixed", "_disputed_rules"),
)
WORKBENCH = ("_workbench_decide", "_workbench_note", "_workbench_publish", "_workbench_selected")
NO_CHANGE = CHANGES_NOTHING | {
    "account_confirm_email": "not offered",
    "account_confirm_login_code": "not offered",
    "account_confirm_reauthentication_code": "not offered",
    "account_request_reauthentication_code": "not offered",
    "account_email": "not offered",
    "account_email_verification_sent": "not offered",
    "account_signup": "not offered",
    "config.identity.sign_in.by_passkey": "the same page as mfa_login_webauthn",
    "config.identity.sign_in.not_offered": "not offered",
    "account_reset_password": "sends an e-mail; the new password has an event",
    "client_health": "only reads",
    "config.identity.sign_in.reset_password": "sends an e-mail; the new password has an event",
    "allauth.mfa.totp.views.ActivateTOTPView": "the same page as mfa_activate_totp",
    "dashboard_api:account-calls": "only reads; the call is on record",
    "dashboard_api:account-changes": "only reads; the call is on record",
    "dashboard_api:account-last-days": "only reads; the call is on record",
    "dashboard_api:account-entitlement": "only reads; the call is on record",
    "dashboard_api:dashboard_api.api.views.nothing_here": "always 404",
    "dashboard_api:public": "only reads",
    "dashboard_api:public-feed": "only reads",
    "dashboard_api:public-feed-page": "only reads",
    "dashboard_api:public-statistics": "only reads",
    "dashboard_api:sent-report": "only reads",
    "dashboard_api:site-answers": "only reads; the call is on record",
    "dashboard_api:site-changes": "only reads; the call is on record",
    "dashboard_api:site-claims": "only reads; the call is on record",
    "dashboard_api:site-compare": "only reads; the call is on record",
    "dashboard_api:site-dashboard": "only reads; the call is on record",
    "dashboard_api:site-inventory": "only reads; the call is on record",
    "dashboard_api:site-finding": "only reads; the call is on record",
    "dashboard_api:site-scan-status": "only reads; the call is on record",
    "dashboard_api:site-scans": "only reads; the call is on record",
    "django.views.generic.base.RedirectView": "redirects",
    "sign_up": "sends an e-mail; the new account has an event",
    "portal:django.views.generic.base.RedirectView": "redirects",
}
# Every action of the admin is sent to a list, whose form is on record whatever the action does.
ADMIN_ACTIONS = {
    *(
        "check_claim",
        "accept_claim",
        "accept_risk",
        "archive",
        "cancel",
        "delete_selected",
        "delete_unused",
        "end",
    ),
    *("end_opt_out", "resume"),
    *("end_sessions", "extend_by_30_days", "refuse_claim", "withdraw_claim"),
    *("extend_by_365_days", "false_positive", "fixed", "mark_reviewed", "override_severity", "reopen"),
    *("confirm_finding", "unconfirm_finding"),
    *("end_override", "move_accounts", "override_limit", "replay", "let_customer_pay"),
    *("restore", "retire", "revoke", "suspend", "take_back", "unverify", "verify"),
}
PLAIN_COMMANDS = {
    "demo": "sets up a database of its own",
    "doctor": "only reads",
    "move_to": "copies the events into another database",
}
# Commands without an event: they read, or what they write has rows of its own.
NO_EVENT = {
    *("backup", "notify", "seal_audit", "show_account", "signed_request", "verify_audit"),
}
EVENTS_OF_EACH_CHANGE = {"check_claims", "crawl", "import_inbox", "import_report", "resume_reports"}
EVENTS_OF_EACH_CHANGE |= {"process_callbacks", "watch_limits"}


def methods_of(view):
    """Return the methods that a view accepts, as its decorators or its class say; POST if neither does."""
    while view is not None:
        names = getattr(getattr(view, "__code__", None), "co_freevars", ())
        cells = dict(zip(names, getattr(view, "__closure__", None) or (), strict=True))
        if "request_method_list" in cells:
            return set(cells["request_method_list"].cell_contents)
        if cls := getattr(view, "view_class", None):
            return {name.upper() for name in cls.http_method_names if hasattr(cls, name)}
        view = getattr(view, "__wrapped__", None)
    return {"POST"}


def post_routes(patterns=None, namespace=""):
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if not isinstance(pattern, URLPattern):
            inner = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from post_routes(pattern.url_patterns, namespace + inner)
        elif "POST" in methods_of(pattern.callback):
            yield namespace + (pattern.name or pattern.lookup_str)


def is_listed(name):
    if name in OWN_EVENT.keys() | NO_CHANGE.keys() | BY_MIDDLEWARE:
        return True
    return name.startswith("admin:") and name.endswith((*ADMIN_FORMS, *ADMIN_PAGES, *WORKBENCH))


def test_every_form_has_an_event_or_a_reason():
    names = set(post_routes())
    assert {name for name in names if not is_listed(name)} == set()
    # Names of routes that only answer GET, such as of cookies, may be listed; unknown ones not.
    assert (OWN_EVENT.keys() | BY_MIDDLEWARE) - names == set()


def test_no_route_that_the_middleware_skips_is_unknown():
    assert CHANGES_NOTHING.keys() - set(post_routes()) == set()


@pytest.mark.once
@pytest.mark.django_db
def test_every_action_of_the_admin_is_listed():
    request = RequestFactory().get("/admin/")
    request.user = factories.make_user("ada", is_staff=True, is_superuser=True)
    names = {name for model in admin.site._registry.values() for name in model.get_actions(request)}
    assert names == ADMIN_ACTIONS


def commands():
    for app in ("audit", "config", "dashboard_api", "portal"):
        package = importlib.import_module(f"{app}.management.commands")
        for module in pkgutil.iter_modules(package.__path__):
            yield module.name, importlib.import_module(f"{package.__name__}.{module.name}").Command


def test_every_command_writes_an_event_or_says_why_not():
    plain = {name for name, command in commands() if not issubclass(command, OperatorCommand)}
    assert plain == PLAIN_COMMANDS.keys()
    without = {name: command.no_event_because for name, command in commands() if name not in plain}
    assert all(isinstance(reason, str) for reason in without.values())
    assert {name for name, reason in without.items() if reason} == NO_EVENT | EVENTS_OF_EACH_CHANGE


def test_every_command_that_changes_something_asks_who_and_why():
    asking = {name for name, command in commands() if getattr(command, "audit_options", None)}
    assert asking == {name for name, _ in commands()} - PLAIN_COMMANDS.keys() - NO_EVENT


@pytest.mark.django_db
def test_who_and_why_are_on_record_with_any_command():
    commands = (
        (["onboard", "acct_0001"], "entitlement.created"),
        (["refuse_earlier_calls"], "command.refuse_earlier_calls"),
    )
    for number, (command, action) in enumerate(commands):
        call_command(*command, by=f"Robin {number}", reason="A new contract", verbosity=0)
        event = AuditEvent.objects.get(action=action)
        assert (event.reason, event.actor_kind) == ("A new contract", "command")
        assert AuditActor.objects.get(pk=event.actor).name == f"Robin {number}"
    with pytest.raises(CommandError, match="--by: a name has at most 150 characters"):
        call_command("onboard", "acct_0002", "--by", "x" * 151)


@pytest.fixture
def owner(client):
    """A member with a website, who has just proved who they are."""
    account = factories.make_portal_account()
    factories.make_portal_website(account)
    membership = factories.make_membership(factories.make_user("ada", email="ada@example.com"), account)
    Client().force_login(membership.user)  # in another browser, too
    client.force_login(membership.user)
    client.post("/accounts/reauthenticate/", {"password": "correct horse battery"})
    return membership


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("route", "arguments", "fields"),
    [
        ("end_other_sessions", "", {}),
        ("portal:badge", "shop.example.com", {"action": "on"}),
        ("portal:invite", "account", {"email": "bob@example.com", "role": "viewer"}),
        ("portal:set_tracker", "account", {"url": "https://github.com/example/shop"}),
        ("portal:subscribe", "membership", {"frequency": "daily", "min_severity": "High"}),
    ],
)
def test_a_form_of_a_member_is_on_record_with_the_person(client, owner, route, arguments, fields):
    values = {"account": owner.account_id, "membership": owner.pk}
    names = [values.get(arguments, arguments)] if arguments else []
    response = client.post(reverse(route, args=names), fields)
    assert response.status_code in (200, 302)
    event = AuditEvent.objects.get(action=OWN_EVENT[route])
    assert event.actor_kind == "person"
    assert AuditActor.objects.get(pk=event.actor).user_id == owner.user_id
    assert event.request_id == response["X-Request-Id"]
    if route.startswith("portal:"):
        assert event.account == owner.account.ref


@pytest.mark.django_db
def test_a_form_that_waits_for_a_proof_is_on_record_once_it_is_repeated(client, settings):
    boss = factories.make_user("boss", is_staff=True, is_superuser=True)
    settings.STAFF_SECOND_FACTOR = True
    TOTP.activate(boss, KEY)
    client.force_login(boss)
    AuditEvent.objects.all().delete()
    fields = {"action": "unknown", "_selected_action": "1"}
    waiting = client.post(reverse("admin:auth_group_changelist"), fields)
    assert "reauthenticate" in waiting["Location"]
    assert not AuditEvent.objects.exists()
    confirm(client, waiting)
    event = AuditEvent.objects.get()
    assert (event.action, event.object_id) == ("form.sent", "admin:auth_group_changelist")


@pytest.mark.django_db
def test_with_a_fresh_proof_a_form_that_leads_to_the_page_of_the_proof_is_on_record(client, owner):
    passkey = Authenticator.objects.create(
        user=owner.user, type=Authenticator.Type.WEBAUTHN, data={"name": "Phone"}
    )
    AuditEvent.objects.all().delete()
    page = reverse("mfa_edit_webauthn", args=[passkey.pk])
    renamed = client.post(f"{page}?next={reverse('account_reauthenticate')}", {"name": "Laptop"})
    assert renamed["Location"] == reverse("account_reauthenticate")
    assert AuditEvent.objects.get().object_id == "mfa_edit_webauthn"


@pytest.mark.django_db
def test_a_change_of_a_role_that_waits_for_a_proof_is_on_record_once(client, owner):
    client.logout()
    client.force_login(owner.user)
    member = factories.make_membership(factories.make_user("bob"), owner.account, "viewer")
    AuditEvent.objects.all().delete()
    waiting = client.post(reverse("portal:change_role", args=[member.pk]), {"role": "owner"})
    assert not AuditEvent.objects.exists()
    client.post(waiting["Location"], {"password": "correct horse battery"})
    assert AuditEvent.objects.get().action == "member.role"


@pytest.mark.django_db
def test_a_form_of_the_admin_without_a_line_of_its_own_is_on_record(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    group = admin.site._registry  # any list takes an action
    assert group
    AuditEvent.objects.all().delete()
    client.post(reverse("admin:auth_group_changelist"), {"action": "unknown", "_selected_action": "1"})
    event = AuditEvent.objects.get()
    assert (event.action, event.object_id, event.actor_kind) == (
        "form.sent",
        "admin:auth_group_changelist",
        "staff",
    )


@pytest.mark.django_db
def test_a_change_in_the_admin_has_its_values_but_no_secret_or_name(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    user = factories.make_user("bob@example.com")
    fields = {"username": "rob@example.com", "is_staff": "on", "is_active": "on"}
    dates = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    client.post(reverse("admin:auth_user_change", args=[user.pk]), fields | dates)
    event = AuditEvent.objects.get(action="admin.changed")
    assert (event.before["is_staff"], event.after["is_staff"]) == (False, True)
    assert event.after["username"] == "..."
    assert event.object_type == "person"


@pytest.mark.django_db
def test_rights_that_the_admin_gives_and_takes_are_on_record_one_by_one(client):
    client.force_login(factories.make_user("boss", is_staff=True, is_superuser=True))
    user, group = factories.make_user("bob"), Group.objects.get(name="Operators")
    fields = {"username": "bob", "is_staff": "on", "is_superuser": "on", "is_active": "on"}
    fields |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00", "groups": [group.pk]}
    fields |= {"user_permissions": [Permission.objects.get(codename="view_user").pk]}
    client.post(reverse("admin:auth_user_change", args=[user.pk]), fields)
    event = AuditEvent.objects.get(object_type="person", action="admin.changed")
    assert (event.before["is_superuser"], event.after["is_superuser"]) == (False, True)
    assert (event.before["user_permissions"], event.after["user_permissions"]) == ("", "view_user")

    every = Permission.objects.exclude(codename="view_auditevent")
    sent = {"name": group.name, "permissions": [permission.pk for permission in every]}
    added = {permission.codename for permission in every} - {
        each.codename for each in group.permissions.all()
    }
    client.post(reverse("admin:auth_group_change", args=[group.pk]), sent)
    event = AuditEvent.objects.get(object_type="auth.group")
    assert event.before == {"permissions": "view_auditevent"}
    assert added <= set(re.findall(r"\w+", " ".join(event.after.values())))


@pytest.mark.django_db
def test_a_refusal_is_on_record_and_strangers_write_nothing(client, owner):
    AuditEvent.objects.all().delete()
    client.post(reverse("portal:leave_account", args=[owner.pk + 1]))
    assert AuditEvent.objects.get().outcome == "refused"
    client.logout()
    AuditEvent.objects.all().delete()
    client.post(reverse("portal:leave_account", args=[owner.pk]))
    client.get(reverse("admin:index"))
    assert not AuditEvent.objects.exists()


@pytest.mark.django_db
def test_sign_ins_good_and_bad_are_on_record(client):
    person = factories.make_user("ada")
    person.set_password("correct horse battery")
    person.save()
    for password in ("wrong", "correct horse battery"):
        client.post(reverse("account_login"), {"login": "ada", "password": password})
    client.post(reverse("account_login"), {"login": "my password?", "password": "x"})
    client.post(reverse("account_logout"))
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", "outcome"))
    assert actions[:2] == [("sign_in.failed", "refused"), ("sign_in.done", "done")]
    assert ("sign_out.done", "done") in actions
    assert "my password?" not in str(list(AuditActor.objects.values()) + list(AuditEvent.objects.values()))
