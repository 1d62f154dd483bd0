import re
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from audit.models import AuditEvent
from dashboard_api.admin.labels import FEATURE_LABELS
from dashboard_api.billing.entitlements import change as change_entitlement
from dashboard_api.crawler import queue
from dashboard_api.models import (
    Account,
    AnalystNote,
    CallbackEvent,
    CallRecord,
    Case,
    Coverage,
    CrawlerStop,
    Entitlement,
    Finding,
    ImportRun,
    Occurrence,
    OwnershipClaim,
    Plan,
    PlanPrice,
    ReportToken,
    ScanConsent,
    ScanJob,
    ScanOptOut,
    ScanSchedule,
    Secret,
    SecretUse,
    SiteLink,
    Source,
    StandingDecision,
    Subscription,
    Website,
)
from tests.dashboard_api.api.reports import make_token
from tests.dashboard_api.billing.test_snapshots import snapshot
from tests.dashboard_api.disputes import ask
from tests.factories import (
    SECRET,
    make_account,
    make_call_record,
    make_coverage,
    make_engine_run,
    make_finding,
    make_import_run,
    make_link,
    make_note,
    make_plan,
    make_schedule,
    make_source,
    make_standing_decision,
    make_user,
    make_website,
)

pytestmark = pytest.mark.django_db

ISSUED = re.compile(r"es1_live_[\w-]{43}")
INLINE_CODE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)


def make_price(link):
    plan = make_plan(f"plan-{link.pk}")
    return PlanPrice.objects.create(provider="standard", price=link.account.ref, plan=plan)


def make_callback_event(link):
    return CallbackEvent.objects.create(provider="standard", event_id=link.account.ref, account=link.account)


def make_subscription(link):
    held = [
        {"object_id": "sub_1", "order": [1, 0], "status": "active", "ends_on": "2026-12-31", "plan": "team"}
    ]
    own = {"provider": "standard", "object_id": link.account.ref, "account": link.account}
    CallbackEvent.objects.create(**own, event_id=f"of {link.account.ref}", type="entitlement.set")
    return Subscription.objects.create(**own, held=held)


def make_stop(_link):
    """Return a stop that has ended: another one can be added."""
    return CrawlerStop.objects.create(by="ada", reason="asked", resumed_at=timezone.now(), resumed_by="ada")


MAKERS = {
    Account: lambda link: link.account,
    AnalystNote: lambda link: make_note(link.website),
    CallbackEvent: make_callback_event,
    CallRecord: lambda link: make_call_record(account_id=link.account_id),
    Case: lambda link: ask(link, make_finding(link.website)),
    Coverage: lambda link: make_coverage(link.website),
    CrawlerStop: make_stop,
    Entitlement: lambda link: link.account.entitlement,
    Finding: lambda link: make_finding(link.website),
    Plan: lambda _: make_plan(),
    PlanPrice: make_price,
    ImportRun: lambda link: make_import_run(link.website),
    OwnershipClaim: lambda link: link.account.ownership_claims.get(),
    ReportToken: lambda link: make_token(link)[0],
    ScanConsent: lambda link: ScanConsent.objects.create(link=link, by=link.account.ref),
    ScanOptOut: lambda link: ScanOptOut.objects.create(
        kind="host", value=link.website.host, reason="asked", by="ada"
    ),
    ScanSchedule: lambda link: ScanSchedule.objects.create(link=link, anchor=timezone.now().date()),
    ScanJob: lambda link: queue.add(link.website, by="ada")[0],
    Secret: lambda link: link.account.secrets.get(),
    SiteLink: lambda link: link,
    Source: lambda _: make_source(),
    Subscription: make_subscription,
    StandingDecision: lambda link: make_standing_decision(link.website),
    Website: lambda link: link.website,
}
NEVER_DELETED = {Account, CallRecord, ImportRun, ReportToken, Website, Secret, SiteLink, StandingDecision}
NEVER_DELETED |= {CrawlerStop, ScanConsent, ScanOptOut, ScanSchedule}
NEVER_DELETED |= {CallbackEvent, Case, Subscription, OwnershipClaim, Plan, ScanJob}
NEVER_ADDED = {
    CallbackEvent,
    CallRecord,
    Case,
    Finding,
    ImportRun,
    ReportToken,
    ScanConsent,
    ScanJob,
    ScanSchedule,
    Secret,
    Subscription,
}
DONE = {"false_positive": "Marked as a false positive", "accept_risk": "Accepted", "fixed": "Fixed"}


@pytest.fixture
def operator(client):
    user = make_user("ada", is_staff=True, is_superuser=True)
    client.force_login(user)
    return client


@pytest.fixture
def colleague(client):
    """Signed in to the admin, with the permissions that a test gives."""
    user = make_user("grace", is_staff=True)
    client.force_login(user)

    def allow(*codenames):
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        return client

    return allow


def url(obj_or_model, page):
    arguments = [obj_or_model.pk] if page in ("change", "delete", "history", "issue_secret") else []
    return reverse(f"admin:dashboard_api_{obj_or_model._meta.model_name}_{page}", args=arguments)


def act(client, obj, action, **answers):
    """Send an action of the change list for one object; return the page after it."""
    data = {"action": action, "_selected_action": obj.pk} | answers
    everything = admin.site._registry[type(obj)].everything
    return client.post(f"{url(type(obj), 'changelist')}{everything}", data, follow=True)


def confirm(client, obj, action, **answers):
    return act(client, obj, action, confirmed="True", **answers)


def messages(response):
    return [str(message) for message in response.context["messages"]]


def test_every_model_of_the_service_has_its_pages():
    registered = {model for model in admin.site._registry if model._meta.app_label == "dashboard_api"}
    assert registered == set(MAKERS)


@pytest.mark.parametrize("model", MAKERS, ids=lambda model: model.__name__)
@pytest.mark.parametrize("page", ["changelist", "add", "change", "history", "delete"])
def test_page_answers_and_holds_no_inline_code(operator, model, page):
    obj = MAKERS[model](make_link())
    response = operator.get(url(obj, page))

    refused = (page == "add" and model in NEVER_ADDED) or (page == "delete" and model in NEVER_DELETED)
    assert response.status_code == (403 if refused else 200)
    assert not INLINE_CODE.search(response.text)
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert SECRET not in response.text


@pytest.mark.parametrize("model", MAKERS, ids=lambda model: model.__name__)
def test_list_is_searched_and_filtered(operator, model):
    MAKERS[model](make_link())
    model_admin = admin.site._registry[model]
    assert model_admin.search_fields
    assert operator.get(url(model, "changelist"), {"q": "shop example"}).status_code == 200
    for entry in model_admin.list_filter:
        name = getattr(entry, "parameter_name", entry)
        if isinstance(entry, tuple):
            is_choice = issubclass(entry[1], admin.ChoicesFieldListFilter)
            name = f"{entry[0]}__{'exact' if is_choice else 'isempty'}"
        response = operator.get(url(model, "changelist"), {name: "1"})
        assert response.status_code == 200


# Last uses of secrets are in another database: a query each, for at most fifty rows.
@pytest.mark.parametrize(
    "model", [model for model in MAKERS if model is not Secret], ids=lambda model: model.__name__
)
def test_list_needs_no_more_queries_for_more_rows(operator, model, django_assert_max_num_queries):
    for number in range(8):
        account = make_account(f"acct_{number}")
        MAKERS[model](make_link(account, make_website(f"site-{number}.example.com")))
    with django_assert_max_num_queries(13):
        assert operator.get(url(model, "changelist")).status_code == 200


def test_pages_are_for_staff_only(client):
    client.force_login(make_user("owner"))
    assert client.get(url(Account, "changelist")).status_code == 302


# Secrets


def test_secret_is_issued_and_shown_once(operator):
    account = make_account(secrets=())
    assert f'href="{url(account, "issue_secret")}"' in operator.get(url(account, "change")).text
    response = operator.get(url(account, "issue_secret"))
    assert response.status_code == 200
    assert not account.secrets.exists()

    response = operator.post(url(account, "issue_secret"))
    secret = account.secrets.get()
    assert ISSUED.findall(response.text) == [secret.reveal()]
    assert "no-store" in response["Cache-Control"]
    assert secret.created_by == "ada"
    for obj, page in ((account, "change"), (account, "history"), (secret, "change"), (secret, "changelist")):
        text = operator.get(url(obj, page)).text
        assert secret.hint in text
        assert not ISSUED.search(text)
        assert secret.sealed not in text


def test_a_test_secret_is_issued_and_says_what_it_is(operator):
    account = make_account()
    response = operator.post(url(account, "issue_secret"), {"test": "Issue a test secret"})
    secret = account.secrets.get(is_test=True)
    assert secret.reveal() in response.text
    assert "/v1/docs#testing" in response.text


def test_secret_is_listed_with_its_last_use(operator):
    secret = make_account().secrets.get()
    assert ">never<" in operator.get(url(secret, "changelist")).text
    SecretUse.record(secret.pk, datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    for obj, page in ((secret, "changelist"), (secret, "change"), (secret.account, "change")):
        assert "2 Jan 2026, 03:04" in operator.get(url(obj, page)).text


def test_third_secret_is_refused_with_what_to_do(operator):
    account = make_account(secrets=(SECRET, "another secret of enough length"))
    response = operator.post(url(account, "issue_secret"), follow=True)
    assert response.redirect_chain == [(url(account, "change"), 302)]
    assert "Revoke one of them first" in messages(response)[0]
    assert account.secrets.count() == 2


def test_secret_is_issued_only_by_whom_may_add_one(colleague):
    account = make_account()
    client = colleague("change_account")
    assert client.post(url(account, "issue_secret")).status_code == 403
    assert "Issue a secret" not in client.get(url(account, "change")).text
    assert account.secrets.count() == 1


def test_secret_of_no_account_is_not_found(operator):
    assert operator.post(reverse("admin:dashboard_api_account_issue_secret", args=[99])).status_code == 404


@pytest.mark.parametrize(("action", "state"), [("retire", "retiring"), ("revoke", "revoked")])
def test_secret_ends_after_confirmation_only(operator, action, state):
    secret = make_account().secrets.get()
    response = act(operator, secret, action)
    assert "one more day" in response.text if action == "retire" else "at once" in response.text
    secret.refresh_from_db()
    assert secret.state == "active"

    response = confirm(operator, secret, action)
    secret.refresh_from_db()
    assert secret.state == state
    assert str(secret) in messages(response)[0]
    assert LogEntry.objects.get(object_id=str(secret.pk)).user.username == "ada"


def test_revoked_secret_is_offered_nothing_and_refused_clearly(operator):
    secret = make_account().secrets.get()
    secret.revoke(now=timezone.now())
    assert 'name="action"' not in operator.get(url(secret, "change")).text
    assert "Only an active secret can retire" in messages(confirm(operator, secret, "retire"))[0]
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize(
    ("model", "action"),
    [(SiteLink, "revoke"), (Secret, "retire"), (Entitlement, "suspend")],
)
def test_confirmation_page_holds_no_inline_code(operator, model, action):
    assert not INLINE_CODE.search(act(operator, MAKERS[model](make_link()), action).text)


def test_actions_are_for_whom_may_change(colleague):
    secret = make_account().secrets.get()
    client = colleague("view_secret")
    assert 'value="revoke"' not in client.get(url(secret, "change")).text
    confirm(client, secret, "revoke")
    secret.refresh_from_db()
    assert secret.state == "active"


@pytest.mark.parametrize("model", [Secret, SiteLink])
def test_record_is_never_edited_nor_deleted(operator, model):
    obj = MAKERS[model](make_link())
    before = model.objects.values().get()
    assert operator.post(url(obj, "change"), {"state": "revoked", "website": "1"}).status_code == 403
    assert operator.post(url(obj, "delete"), {"post": "yes"}).status_code == 403
    act(operator, obj, "delete_selected", post="yes")
    assert model.objects.values().get() == before


# Accounts and entitlements


def entitlement_form(**fields):
    return {
        "publicity": "counted",
        "entitlement-TOTAL_FORMS": "1",
        "entitlement-INITIAL_FORMS": "0",
        "entitlement-0-plan": "standard",
        "entitlement-0-status": "active",
        "entitlement-0-starts_on": "2026-01-01",
        "entitlement-0-ends_on": "2026-12-31",
        "entitlement-0-sites_limit": "5",
    } | {f"entitlement-0-{name}": value for name, value in fields.items()}


def shown_values(response):
    """The values of a form's fields and its inlines' as a browser would send them back."""
    formsets = [inline.formset for inline in response.context["inline_admin_formsets"]]
    forms = [response.context["adminform"].form]
    forms += [form for formset in formsets for form in (formset.management_form, *formset.forms)]
    fields = [field for form in forms for field in form]
    values = {field.html_name: field.value() for field in fields}
    values |= {field.html_initial_name: field.value() for field in fields if field.field.show_hidden_initial}
    return {name: value for name, value in values.items() if value is not None and value is not False}


def test_a_new_account_gets_the_plan_that_its_form_shows(operator):
    values = shown_values(operator.get(url(Account, "add")))
    operator.post(url(Account, "add"), values | {"ref": "acct_0001"})
    entitlement, today = Entitlement.objects.get(), timezone.now().date()
    assert (entitlement.plan, entitlement.starts_on) == ("standard", today)
    assert entitlement.ends_on == today + timedelta(days=365)
    assert entitlement.is_usable_on(today)
    assert entitlement.features == []


def test_a_new_account_has_the_websites_and_features_of_its_plan_unless_its_form_says_more(operator):
    make_plan(features=["scans_daily"])
    values = shown_values(operator.get(url(Account, "add"))) | {"entitlement-0-plan": "team"}
    operator.post(url(Account, "add"), values | {"ref": "acct_0001"})
    more = {"entitlement-0-sites_limit": "7", "entitlement-0-features": ["deep_scans"]}
    operator.post(url(Account, "add"), values | more | {"ref": "acct_0002"})
    own, other = Entitlement.objects.order_by("account__ref")
    assert (own.sites_limit, own.overrides, own.features) == (20, [], ["scans_daily"])
    assert (other.sites_limit, other.features) == (7, ["deep_scans"])


def test_an_account_without_a_plan_keeps_none_when_its_name_is_edited(operator):
    account = make_account(entitled=False)
    values = shown_values(operator.get(url(account, "change")))
    operator.post(url(account, "change"), values | {"name": "Shop"})
    account.refresh_from_db()
    assert account.name == "Shop"
    assert not Entitlement.objects.exists()


def test_staff_make_publicity_stricter_and_never_looser(operator):
    account = make_account()
    values = shown_values(operator.get(url(account, "change")))
    response = operator.post(url(account, "change"), values | {"publicity": "shown"})
    assert "Only an owner can make this less strict" in response.text
    operator.post(url(account, "change"), values | {"publicity": "nothing"})
    account.refresh_from_db()
    assert account.publicity == "nothing"
    assert AuditEvent.objects.filter(object_id=account.pk, actor_kind="staff").exists()


@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"ends_on": "2025-12-31"}, "The last day cannot be before the first"),
        ({"features": "telepathy"}, "Select a valid choice"),
        ({"sites_limit": "-1"}, "greater than or equal to 0"),
    ],
)
def test_account_is_not_made_with_a_wrong_entitlement(operator, fields, refusal):
    response = operator.post(url(Account, "add"), {"ref": "acct_0001"} | entitlement_form(**fields))
    assert refusal in response.text
    assert not Account.objects.exists()


def test_features_are_named_and_those_without_a_name_are_kept(operator):
    entitlement = make_account().entitlement
    entitlement.features = ["scans_daily", "beta"]
    entitlement.save()
    page = operator.get(url(entitlement, "change"))
    boxes = page.context["adminform"].form["features"]
    assert [str(box.choice_label) for box in boxes] == [*map(str, FEATURE_LABELS.values()), "beta"]
    operator.post(url(entitlement, "change"), shown_values(page) | {"features": ["beta", "deep_scans"]})
    entitlement.refresh_from_db()
    assert entitlement.features == ["beta", "deep_scans"]


def test_account_reference_cannot_change(operator):
    account = make_account(entitled=False)
    page = operator.get(url(account, "change"))
    assert 'name="ref"' not in page.text


@pytest.mark.parametrize(("action", "days"), [("extend_by_30_days", 30), ("extend_by_365_days", 365)])
def test_entitlement_is_extended_at_once(operator, action, days):
    entitlement = make_account().entitlement
    ends_on = entitlement.ends_on
    response = act(operator, entitlement, action)
    entitlement.refresh_from_db()
    assert (entitlement.ends_on - ends_on).days == days
    assert f"Extended by {days} days" in messages(response)[0]


def test_staff_read_that_what_is_paid_for_holds_and_what_they_set_follows(operator):
    make_plan()
    account = make_account()
    ends_on = timezone.now().date() + timedelta(days=30)
    paid = snapshot((1, 0), renews=True, ends_on=ends_on)
    row = {"provider": "standard", "object_id": "sub_1", "held": msgspec.to_builtins((paid,))}
    Subscription.objects.create(account=account, **row)
    to = {"plan": "team", "ends_on": ends_on, "renews": True}
    entitlement = change_entitlement(account, to, by="payments", is_payment=True)
    said = messages(act(operator, entitlement, "extend_by_30_days"))
    assert f"After it, the plan set by staff: team until {ends_on + timedelta(days=30)}." in " ".join(said)
    entitlement.refresh_from_db()
    assert entitlement.ends_on == ends_on


def test_entitlement_is_suspended_after_confirmation(operator):
    entitlement = make_account().entitlement
    assert "refused until" in act(operator, entitlement, "suspend").text
    confirm(operator, entitlement, "suspend")
    entitlement.refresh_from_db()
    assert entitlement.status == "suspended"
    assert 'value="suspend"' not in operator.get(url(entitlement, "change")).text


# Websites and links


def test_website_is_added_in_the_one_form_of_its_host_and_not_verified(operator):
    operator.post(url(Website, "add"), {"host": "BÜCHER.Example.com.", "verified_by": "nobody"})
    website = Website.objects.get()
    assert website.host == "xn--bcher-kva.example.com"
    assert website.verified_at is None


def test_website_is_verified_once_by_the_signed_in_operator(operator):
    website = make_website(verified=False)
    assert 'name="method"' in act(operator, website, "verify").text
    assert "Select a valid choice" in confirm(operator, website, "verify", method="rumour").text
    confirm(operator, website, "verify", method="file")
    website.refresh_from_db()
    assert (website.verified_by, website.verification_method) == ("ada", "file")
    assert "Nothing to do" in act(operator, website, "verify").text
    confirm(operator, website, "verify", method="dns")
    website.refresh_from_db()
    assert website.verification_method == "file"


def test_link_is_made_by_the_models_rules(operator):
    account, website = make_account(), make_website()
    form = {"account": account.pk, "website": website.pk}
    response = operator.post(url(SiteLink, "add"), form, follow=True)
    link = SiteLink.objects.get()
    assert "was added successfully" in messages(response)[0]
    assert link.events.get().by == "ada"
    assert link.link_id in operator.get(url(link, "change")).text


def test_link_that_the_model_refuses_is_a_form_error(operator):
    account, website = make_account(), make_website(verified=False)
    form = {"account": account.pk, "website": website.pk}
    assert "is not verified yet" in operator.post(url(SiteLink, "add"), form).text
    assert not SiteLink.objects.exists()

    website.verify(method="dns", by="Ada", at=timezone.now())
    operator.post(url(SiteLink, "add"), form)
    response = operator.post(url(SiteLink, "add"), form)
    assert len(response.context["errors"]) == 1
    assert SiteLink.objects.get().link_id in response.context["errors"][0][0]


def test_a_link_made_by_staff_says_who_reads_what_was_found_for_a_former_holder(operator):
    former = make_link()
    make_finding(former.website)
    former.revoke(by="Ada", reason="Sold", now=timezone.now())
    account = make_account("acct_0002")
    form = {"account": account.pk, "website": former.website.pk}
    assert "acct_0001 had this website before" in operator.post(url(SiteLink, "add"), form).text
    assert not SiteLink.objects.not_revoked().exists()
    operator.post(url(SiteLink, "add"), form | {"past": "new"})
    link = SiteLink.objects.not_revoked().get()
    assert (link.account, link.website.host, link.website.findings.count()) == (
        account,
        "shop.example.com",
        0,
    )


def test_a_link_to_a_website_of_another_account_is_made_only_if_staff_tick_that_they_share_it(operator):
    link, account = make_link(), make_account("acct_0002")
    form = {"account": account.pk, "website": link.website.pk}
    page = operator.post(url(SiteLink, "add"), form)
    assert "also linked to acct_0001" in page.context["adminform"].form.errors["shared"][0]
    assert SiteLink.objects.get() == link
    operator.post(url(SiteLink, "add"), form | {"shared": "on"})
    assert SiteLink.objects.filter(website=link.website).count() == 2


def test_a_restored_link_warns_of_what_was_found_for_others_since_then(operator):
    former = make_link()
    former.revoke(by="Ada", reason="Sold", now=timezone.now())
    later = make_link(make_account("acct_0002"), former.website)
    later.revoke(by="Ada", reason="Sold back", now=timezone.now())
    assert "acct_0002 had shop.example.com in the meantime" in act(operator, former, "restore").text
    assert "in the meantime" not in act(operator, former, "revoke").text


def test_a_restored_link_warns_of_the_other_accounts_that_have_the_website(operator):
    link = make_link()
    link.revoke(by="Ada", reason="Left", now=timezone.now())
    assert "also linked to" not in act(operator, link, "restore").text
    make_link(make_account("acct_0002", name="Example Agency"), link.website)
    warning = "shop.example.com is also linked to acct_0002 (Example Agency): all of them would see the same"
    assert warning in act(operator, link, "restore").text
    assert "also linked to" not in act(operator, link, "revoke").text


def test_link_is_revoked_and_restored_with_a_reason(operator):
    link = make_link()
    page = operator.get(url(link, "change")).text
    assert 'value="revoke"' in page
    assert 'value="restore"' not in page
    assert 'name="reason"' in act(operator, link, "revoke").text
    assert "This field is required." in confirm(operator, link, "revoke", reason="   ").text
    link.refresh_from_db()
    assert link.revoked_at is None
    confirm(operator, link, "revoke", reason="Contract ended")
    link.refresh_from_db()
    assert link.revoked_at is not None
    confirm(operator, link, "restore", reason="Contract renewed")
    link.refresh_from_db()
    assert link.revoked_at is None
    history = operator.get(url(link, "change")).text
    assert "Contract ended" in history
    assert "Contract renewed" in history


def test_many_links_are_revoked_one_by_one(operator):
    revoked = make_link()
    revoked.revoke(by="Ada", reason="asked to", now=timezone.now())
    working = make_link(revoked.account, make_website("blog.example.com"))
    data = {
        "action": "revoke",
        "_selected_action": [revoked.pk, working.pk],
        "confirmed": "True",
        "reason": "Contract ended",
    }
    response = operator.post(url(SiteLink, "changelist"), data, follow=True)
    done, refused = sorted(messages(response))
    assert done == "Revoked: blog.example.com for acct_0001."
    assert refused.startswith(
        f"shop.example.com for acct_0001: Nothing to do: {revoked.link_id} has been revoked"
    )
    assert not SiteLink.objects.not_revoked().exists()


# Findings and notes


@pytest.mark.parametrize(
    ("action", "status"),
    [("false_positive", "false_positive"), ("accept_risk", "accepted_risk"), ("fixed", "fixed")],
)
def test_finding_is_decided_with_a_reason_and_opened_again(operator, action, status):
    finding = make_finding(make_website())
    assert "This field is required" in confirm(operator, finding, action, reason=" ").text
    assert messages(confirm(operator, finding, action, reason="We looked.")) == [
        f"{DONE[action]}: {finding} · shop.example.com · {finding.location}."
    ]
    finding.refresh_from_db()
    assert finding.status == status
    assert (finding.fixed_at is not None) is (status == "fixed")
    confirm(operator, finding, "reopen", reason="We looked again.")
    finding.refresh_from_db()
    assert (finding.status, finding.fixed_at) == ("open", None)
    assert list(finding.events.values_list("event", "by", "reason")) == [
        (status, "ada", "We looked."),
        ("reconsidered", "ada", "We looked again."),
    ]


def test_finding_is_accepted_for_a_time(operator):
    finding = make_finding(make_website())
    tomorrow = timezone.now().date() + timedelta(days=1)
    shown = messages(confirm(operator, finding, "accept_risk", reason="Soon.", until="2026-01-01"))
    (refusal,) = shown
    assert refusal.startswith(f"{finding} · shop.example.com · {finding.location}: This day has passed")
    confirm(operator, finding, "accept_risk", reason="Soon.", until=tomorrow.isoformat())
    finding.refresh_from_db()
    assert (finding.status, finding.triage_until) == ("accepted_risk", tomorrow)


def test_finding_is_rated_otherwise_and_as_its_engine_does_again(operator):
    finding = make_finding(make_website(), severity=2)
    confirm(operator, finding, "override_severity", severity="4", reason="It is reachable.")
    finding.refresh_from_db()
    assert (finding.severity, finding.source_severity) == (4, 2)
    confirm(operator, finding, "override_severity", severity="", reason="It is not.")
    finding.refresh_from_db()
    assert (finding.severity, finding.source_severity) == (2, None)


def test_findings_are_confirmed_and_taken_back_on_their_page_and_in_the_list(operator):
    finding, other = (
        make_finding(make_website(), kind="suspected"),
        make_finding(make_website("b.example.org")),
    )
    page = operator.get(url(finding, "change")).text
    assert 'value="confirm_finding"' in page
    assert 'value="unconfirm_finding"' not in page
    assert "lower the grade" in act(operator, finding, "confirm_finding").text
    confirm(operator, finding, "confirm_finding", reason="It is reachable.")
    finding.refresh_from_db()
    assert (finding.kind, finding.source_kind) == ("confirmed", "suspected")
    page = operator.get(url(finding, "change")).text
    assert 'value="unconfirm_finding"' in page
    assert 'value="confirm_finding"' not in page
    (refusal,) = messages(confirm(operator, other, "unconfirm_finding", reason="It is not."))
    assert "No analyst has confirmed it" in refusal
    confirm(operator, finding, "unconfirm_finding", reason="It is not.")
    finding.refresh_from_db()
    assert (finding.kind, finding.source_kind) == ("suspected", None)


def test_a_finding_whose_id_has_thousands_is_decided_by_the_forms_themselves(operator):
    site = make_website()
    finding, other = make_finding(site, pk=1_234_567), make_finding(site)
    page = operator.get(url(finding, "change"))
    assert 'name="_selected_action" value="1234567"' in page.text
    path = url(Finding, "changelist") + "?queue=new"
    response = operator.post(path, {"action": "false_positive", "_selected_action": [finding.pk, other.pk]})
    chosen = re.findall(r'name="_selected_action"\s+value="([^"]*)"', response.text)
    assert f'href="{path}" class="closelink"' in response.text
    form = {"action": "false_positive", "_selected_action": chosen, "confirmed": "True", "reason": "Ours."}
    operator.post(path, form)
    assert Finding.objects.filter(status="false_positive").count() == 2


def test_many_findings_are_decided_at_once_after_their_number_was_shown(operator):
    site = make_website()
    findings = [make_finding(site) for _ in range(25)]
    chosen = {"action": "false_positive", "select_across": "1", "_selected_action": findings[0].pk}
    path = url(Finding, "changelist") + "?severity__exact=2"
    response = operator.post(path, chosen)
    assert "Findings: 25." in response.text
    assert response.text.count("<li>Medium: ") == 20
    done = operator.post(path, chosen | {"confirmed": "True", "reason": "Our own scanner."}, follow=True)
    assert messages(done)[-1] == "And 5 more."
    assert Finding.objects.filter(status="false_positive").count() == 25


def test_coverage_shows_when_its_scanner_is_due_and_what_is_overdue(operator):
    source = make_source("nuclei", interval_days=3)
    fresh = datetime(2999, 3, 1, 12, tzinfo=UTC)
    make_coverage(make_website(), source=source, last_run_at=fresh)
    old = make_coverage(
        make_website("old.example.com"), source=source, last_run_at=datetime(2026, 3, 1, tzinfo=UTC)
    )
    page = operator.get(url(Coverage, "changelist")).text
    assert ">4 Mar 2999<" in page
    assert ">4 Mar 2026, overdue<" in page
    assert "4 Mar 2026, overdue" in operator.get(url(old, "change")).text


def test_coverage_by_a_scan_of_ours_is_due_by_schedule(operator, settings):
    settings.CRAWLER_ENABLED = True
    link, source = make_link(), make_source("essentials")
    old = make_coverage(link.website, source=source, last_run_at=datetime(2026, 1, 1, tzinfo=UTC))
    job = ScanJob.objects.create(website=link.website)
    run = make_import_run(link.website, source=source)
    make_engine_run(job, import_run=run)
    overdue = url(Coverage, "changelist") + "?due=overdue"
    assert "Not scheduled" in operator.get(url(old, "change")).text
    assert operator.get(overdue).context["cl"].result_count == 0
    run.scanned_at = datetime(2026, 3, 1, tzinfo=UTC)
    run.save()
    assert "1 Apr 2026, overdue" in operator.get(url(old, "change")).text
    assert operator.get(overdue).context["cl"].result_count == 1
    schedule = make_schedule(link, next_at=datetime(2999, 3, 4, 12, tzinfo=UTC))
    assert "4 Mar 2999" in operator.get(url(old, "change")).text
    assert operator.get(overdue).context["cl"].result_count == 0
    schedule.next_at = datetime(2026, 3, 4, 12, tzinfo=UTC)
    schedule.save()
    assert "4 Mar 2026, overdue" in operator.get(url(old, "change")).text
    assert operator.get(overdue).context["cl"].result_count == 1
    schedule.next_at = datetime(2999, 3, 4, 12, tzinfo=UTC)  # the scans until then were refused
    schedule.changed_at = datetime(2026, 3, 2, tzinfo=UTC)
    schedule.save()
    assert "9 Mar 2026, overdue" in operator.get(url(old, "change")).text
    assert operator.get(overdue).context["cl"].result_count == 1
    run.scanned_at = datetime(2999, 1, 1, tzinfo=UTC)
    run.save()
    assert operator.get(overdue).context["cl"].result_count == 0


def test_queue_holds_open_findings_without_a_review_worst_first(operator):
    site = make_website()
    low, high = make_finding(site, severity=1), make_finding(site, severity=3)
    reviewed, decided = make_finding(site), make_finding(site)
    make_finding(site, status="fixed", fixed_at=timezone.now())
    act(operator, reviewed, "mark_reviewed")
    confirm(operator, decided, "accept_risk", reason="Known.")
    for chosen in ({}, {"queue": "new"}):
        queue = operator.get(url(Finding, "changelist"), chosen).context["cl"].result_list
        assert list(queue) == [high, low]


def test_the_queue_is_read_in_the_order_of_an_index(operator):
    make_finding(make_website())
    page = operator.get(url(Finding, "changelist"), {"queue": "new"}).context["cl"]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":  # which would rather sort so few
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    plan = page.queryset[: page.list_per_page].explain()
    assert "dashboard_api_finding_queue" in plan
    assert "ORDER BY" not in plan  # SQLite's word for what is sorted by itself
    assert "dashboard_api_finding_queue" in page.queryset.order_by().values("status").explain()


EVERYTHING = {"queue": "all"}


def test_everything_is_listed_newest_first(operator):
    site = make_website()
    older, newer = make_finding(site, severity=3), make_finding(site, severity=1)
    listed = operator.get(url(Finding, "changelist"), EVERYTHING).context["cl"].result_list
    assert list(listed) == [newer, older]


@pytest.mark.parametrize(
    ("query", "marked"),
    [({}, {1: "desc"}), (EVERYTHING, {}), (EVERYTHING | {"o": "-2"}, {2: "desc"})],
    ids=["the queue", "everything", "a chosen column"],
)
def test_the_arrow_marks_the_column_that_the_list_is_sorted_by(operator, query, marked):
    make_finding(make_website())
    page = operator.get(url(Finding, "changelist"), query).context["cl"]
    assert page.get_ordering_field_columns() == marked


def test_the_list_says_whether_it_is_the_queue_or_everything(operator):
    for query, chosen in (({}, "To review"), (EVERYTHING, "Everything")):
        page = operator.get(url(Finding, "changelist"), query).context["cl"]
        choices = list(page.filter_specs[0].choices(page))
        assert [choice["display"] for choice in choices if choice["selected"]] == [chosen]
        assert [choice["query_string"] for choice in choices] == ["?queue=new", "?queue=all"]


def test_a_finding_that_is_not_in_the_queue_is_opened_again_on_its_page(operator):
    finding = make_finding(make_website(), status="accepted_risk")
    assert f'action="{url(Finding, "changelist")}?queue=all"' in operator.get(url(finding, "change")).text


def ask_about_all(operator, *findings):
    path = f"{url(Finding, 'changelist')}?queue=all"
    chosen = [finding.pk for finding in findings]
    return operator.post(path, {"action": "false_positive", "_selected_action": chosen}).text


def test_a_decision_names_the_website_and_the_place_of_each_finding(operator):
    locations = ("https://shop.example.com/a", "https://shop.example.com/b")
    site = make_website()
    page = ask_about_all(operator, *(make_finding(site, title="Old jQuery", location=at) for at in locations))
    for location in locations:
        assert f"<li>Medium: Old jQuery · shop.example.com · {location}</li>" in page


def test_a_decision_about_findings_of_several_accounts_is_warned_of(operator):
    first, second = (
        make_link(make_account("acct_a")),
        make_link(make_account("acct_b"), make_website("b.com")),
    )
    one, other = make_finding(first.website), make_finding(second.website)
    page = ask_about_all(operator, one)
    assert "more than one customer" not in page
    assert "Customer: acct_a." in page
    assert "This affects more than one customer: acct_a, acct_b." in ask_about_all(operator, one, other)


def test_a_decision_about_a_website_of_several_accounts_is_warned_of(operator):
    website = make_website()
    for ref in ("acct_a", "acct_b"):
        link = make_link(make_account(ref), website)
    finding = make_finding(website)
    assert "more than one customer: acct_a, acct_b." in ask_about_all(operator, finding)
    link.revoke(by="tests", reason="Left", now=timezone.now())
    assert "Customer: acct_a." in ask_about_all(operator, finding)
    website.links.get(account__ref="acct_a").revoke(by="tests", reason="Left", now=timezone.now())
    assert "No customer has these websites now." in ask_about_all(operator, finding)


@pytest.fixture
def entitlements():
    """One of each kind, by the account's reference; numbers are days since the end and the failed payment."""
    today = timezone.now().date()
    for ref, status, ended, renews, unpaid in (
        ("running", "active", 0, False, None),
        ("over", "active", 1, False, None),
        ("renewing", "active", 3, True, None),
        ("not_renewed", "active", 4, True, None),
        ("trial_over", "trialing", 1, False, None),
        ("expired", "expired", 0, False, None),
        ("suspended", "suspended", 1, False, None),
        ("owing", "past_due", 0, False, 20),
        ("owing_in_grace", "past_due", 5, True, 7),
        ("owing_too_long", "past_due", 5, True, 8),
    ):
        account = make_account(ref)
        Entitlement.objects.filter(account=account).update(
            status=status,
            renews=renews,
            past_due_since=None if unpaid is None else today - timedelta(days=unpaid),
            ends_on=today - timedelta(days=ended),
        )


@pytest.mark.parametrize("model", [Entitlement, Account])
@pytest.mark.parametrize(
    ("status", "found"),
    [
        ("expired", {"over", "not_renewed", "trial_over", "expired", "owing", "owing_too_long"}),
        ("active", {"running", "renewing"}),
        ("trialing", set()),
        ("suspended", {"suspended"}),
        ("past_due", {"owing_in_grace"}),
    ],
)
def test_a_status_is_found_as_the_customer_reads_it(operator, entitlements, model, status, found):
    page = operator.get(url(model, "changelist"), {"status": status})
    listed = page.context["cl"].result_list
    assert {getattr(row, "account", row).ref for row in listed} == found
    label = Entitlement.Status(status).label
    assert page.text.count(f'<td class="field-status_today">{label}</td>') == len(found)


def test_finding_keeps_what_the_report_said(operator):
    finding = make_finding(make_website(), title="As reported")
    operator.post(url(finding, "change"), {"title": "Nothing", "severity": "0", "status": "fixed"})
    finding.refresh_from_db()
    assert (finding.status, finding.title, finding.severity) == ("open", "As reported", 2)


@pytest.mark.parametrize("model", [Finding, Account, Website])
def test_a_form_that_counts_more_rows_than_are_shown_is_shown_again(operator, model):
    make_finding(make_link().website)
    address = url(model.objects.get(), "change")
    sets = [inline.formset.prefix for inline in operator.get(address).context["inline_admin_formsets"]]
    response = operator.post(address, {f"{prefix}-TOTAL_FORMS": "2" for prefix in sets})
    assert response.status_code == 200
    assert "Please correct the errors below." in response.text


def test_finding_page_shows_the_first_of_many_places(operator, django_assert_max_num_queries):
    finding = make_finding(make_website())
    Occurrence.objects.bulk_create(
        Occurrence(finding=finding, location=f"https://shop.example.com/{number}/", location_digest=number)
        for number in range(150)
    )
    with django_assert_max_num_queries(14):
        text = operator.get(url(finding, "change")).text
    assert "https://shop.example.com/99/" in text
    assert "https://shop.example.com/100/" not in text


def test_finding_is_found_by_title_rule_and_host(operator):
    make_finding(make_website(), title="Old jQuery", rule="jquery-eol")
    make_finding(make_website("blog.example.com"), title="Weak cipher")
    for query in ("jquery", "eol", "shop.example"):
        text = operator.get(url(Finding, "changelist"), {"q": query}).text
        assert "Old jQuery" in text
        assert "Weak cipher" not in text


def test_note_is_by_the_signed_in_operator_and_internal_until_published(operator):
    website = make_website()
    form = operator.get(url(AnalystNote, "add")).context["adminform"].form
    assert form["is_internal"].value() is True

    sent = {"website": website.pk, "author": "a colleague", "body": "Look into it."}
    operator.post(url(AnalystNote, "add"), sent)
    note = AnalystNote.objects.get()
    assert note.author == "ada"
    operator.post(url(note, "change"), sent | {"body": "Look again."})
    note.refresh_from_db()
    assert (note.author, note.body) == ("ada", "Look again.")


def test_who_changes_the_text_of_a_colleagues_note_becomes_its_author(operator):
    note = make_note(make_website(), author="grace", body="Harmless.")
    sent = {"website": note.website.pk, "body": note.body, "is_pinned": "on"}
    operator.post(url(note, "change"), sent)
    note.refresh_from_db()
    assert (note.author, note.is_pinned) == ("grace", True)
    operator.post(url(note, "change"), sent | {"body": "Call this number."})
    note.refresh_from_db()
    assert note.author == "ada"


def test_a_note_can_be_pinned_and_the_pinned_ones_listed(operator):
    website = make_website()
    make_note(website, body="Not this one.")
    form = {"website": website.pk, "author": "ada", "body": "Begin here.", "is_pinned": "on"}
    operator.post(url(AnalystNote, "add"), form)
    assert AnalystNote.objects.get(is_pinned=True).body == "Begin here."
    page = operator.get(url(AnalystNote, "changelist"), {"is_pinned__exact": "1"}).text
    assert "Begin here." in page
    assert "Not this one." not in page


def test_note_list_says_who_reads_each(operator):
    website = make_website()
    make_note(website, is_internal=True)
    make_note(website, account=make_account())
    make_note(website)
    text = operator.get(url(AnalystNote, "changelist")).text
    for reader in ("us only (internal)", "customer acct_0001", "every customer with this website"):
        assert reader in text


def test_note_on_another_websites_finding_is_a_form_error(operator):
    finding = make_finding(make_website("blog.example.com"))
    form = {"website": make_website().pk, "finding": finding.pk, "author": "ada", "body": "Look."}
    assert "belongs to another website" in operator.post(url(AnalystNote, "add"), form).text


# Plans


def test_an_edit_of_a_used_plan_makes_its_next_revision(operator):
    plan, account = make_plan(), make_account()
    change_entitlement(account, {"plan": "team"}, by="ada")
    page = operator.get(url(plan, "change"))
    assert "acct_0001" in page.text
    operator.post(url(plan, "change"), shown_values(page) | {"websites": "9"})
    newest = Plan.objects.newest("team")
    assert (newest.revision, newest.limits) == (2, {"websites": 9, "seats": 3})
    assert Entitlement.objects.get().sites_limit == 20

    asked = act(operator, newest, "move_accounts")
    assert "1 accounts are affected (acct_0001)" in asked.text
    act(operator, newest, "move_accounts", confirmed="True", reason="New prices")
    assert Entitlement.objects.get().sites_limit == 9


def test_a_limit_is_overridden_on_the_page_of_the_entitlement(operator):
    make_plan()
    entitlement = change_entitlement(make_account(), {"plan": "team"}, by="ada")
    act(operator, entitlement, "override_limit", confirmed="True", limit="seats", value="9", reason="Audit")
    assert "Members: 9, no end (Audit)" in operator.get(url(entitlement, "change")).text
    for said in ("Ended: ", "Nothing to do: this limit has no override."):
        page = act(operator, entitlement, "end_override", confirmed="True", limit="seats", reason="Done")
        assert said in page.text


def test_the_reason_of_an_edit_is_on_record(operator):
    entitlement = make_account().entitlement
    values = shown_values(operator.get(url(entitlement, "change")))
    operator.post(url(entitlement, "change"), values | {"status": "suspended", "reason": "Not paid"})
    event = AuditEvent.objects.get(action="entitlement.changed")
    assert (event.reason, event.after["status"]) == ("Not paid", "suspended")
