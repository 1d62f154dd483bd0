"""Store the demo's data in an empty database, in one transaction."""

from datetime import datetime, timedelta
from random import Random

import msgspec
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import F
from django.utils import timezone

from config.admin_pages.staff_groups import create_groups
from config.demo import answers
from config.demo.accounts import Account, Confirmation, Note, Person, Run, Site, read_accounts
from config.demo.findings import PERIOD, store_findings
from config.demo.inventories import store_inventory
from config.demo.sample_data import read_sample_data
from dashboard_api import models as api
from dashboard_api.billing import entitlements, plans
from dashboard_api.decisions import triage
from portal import models as portal

SEED = 2026
BY = "demo"
_UNKNOWN_LINK_ID = "00000000-0000-4000-8000-000000000000"  # the service never issued it


def is_seeded() -> bool:
    """Return whether the database has any user."""
    return User.objects.exists()


@transaction.atomic
def seed(password: str) -> None:
    """Fill an empty database; every user gets the same ``password``."""
    now = timezone.now()
    demo = read_accounts()
    _create_people(demo.people, password)
    for plan in demo.plans:
        saved = plans.save(api.Plan(**msgspec.structs.asdict(plan)), by=BY)
        api.PlanPrice.objects.update_or_create(
            provider="stripe", price=f"price_demo_{plan.slug}", defaults={"plan": saved}
        )
    for account in demo.accounts:
        _create_account(account, now)
    data = read_sample_data()
    dice = Random(SEED)  # noqa: S311 - the same demo every time
    for slug, name in data.sources.items():
        api.Source.objects.get_or_add(slug, name)
    for site in demo.sites:
        website = _create_website(site, now)
        runs = _create_coverage(demo.runs.get(site.runs, []), website, now)
        store_findings(data, website, site.findings_count, runs, now=now, dice=dice)
        if runs:
            store_inventory(website, now, Random(website.host))  # noqa: S311
    for account in demo.accounts:
        _end_plan(account, now)
    _create_notes(demo.notes, now)
    _confirm_findings(demo.confirmations, now)
    answers.set_fix_days(demo.fix_days)
    answers.store_answers(demo.answers, now)
    answers.store_messages(demo.messages, now)


def _create_people(people: list[Person], password: str) -> None:
    hashed = make_password(password)  # once: hashing is slow on purpose
    users = User.objects.bulk_create(
        User(
            username=person.username,
            email=f"{person.username}@example.com",
            password=hashed,
            is_staff=person.is_staff,
            is_superuser=person.is_superuser,
        )
        for person in people
    )
    create_groups(DEFAULT_DB_ALIAS)
    analysts = Group.objects.get(name="Analysts")
    analysts.user_set.set(user for user in users if user.is_staff and not user.is_superuser)


def _create_account(account: Account, now: datetime) -> None:
    account_of_service = api.Account.objects.create(ref=account.ref, name=account.name)
    start = now - timedelta(days=200)
    entitlements.change(
        account_of_service,
        {"plan": account.plan, "starts_on": start.date()},
        by=BY,
        now=start,
        is_payment=True,
    )
    _, secret = api.Secret.objects.issue(account_of_service, by=BY)
    account_of_portal = portal.Account(ref=account.ref, name=account.name)
    account_of_portal.set_secret(secret)
    account_of_portal.save()
    Role = portal.Membership.Role  # noqa: N806 - a class
    members = {Role.OWNER: account.owner, Role.CONTRIBUTOR: account.contributor, Role.VIEWER: account.viewer}
    for role, username in members.items():
        if username:
            user = User.objects.get(username=username)
            portal.Membership.objects.create(user=user, account=account_of_portal, role=role)


def _end_plan(account: Account, now: datetime) -> None:
    """Set the last day of the plan, after the websites are linked: some plans have ended, and cannot link."""
    last_day = (now + timedelta(days=account.ends_in_days)).date()
    entitlements.change(
        api.Account.objects.get(ref=account.ref),
        {"status": "active", "renews": False, "cancels": False, "ends_on": last_day},
        by=BY,
        now=now,
        is_payment=True,  # so that payment callbacks can change the plan
    )


def _create_website(site: Site, now: datetime) -> api.Website:
    website = api.Website.objects.create(host=site.host, created_at=now - PERIOD)
    website.verify(method=site.method, by=BY, at=now - PERIOD)
    link = api.SiteLink.objects.link(api.Account.objects.get(ref=site.account), website, by=BY)
    if site.is_revoked:
        link.revoke(by=BY, reason="The shop was sold.", now=now - timedelta(days=5))
    portal.Website.objects.create(
        account=portal.Account.objects.get(ref=site.account),
        host=site.host,
        link_id=_UNKNOWN_LINK_ID if site.has_wrong_link_id else link.link_id,
    )
    return website


def _create_coverage(runs: list[Run], website: api.Website, now: datetime) -> list[api.Coverage]:
    sources = api.Source.objects.in_bulk(field_name="slug")
    return api.Coverage.objects.bulk_create(
        api.Coverage(
            website=website,
            source=sources[run.source],
            state=run.state,
            last_run_at=now - timedelta(hours=run.hours_ago),
            completed_at=now - timedelta(hours=run.complete_hours_ago),
            urls_checked=run.urls_checked,
            version=run.version,
            detail=run.detail,
        )
        for run in runs
    )


def _create_notes(notes: list[Note], now: datetime) -> None:
    websites = api.Website.objects.in_bulk(field_name="host")
    by_ref = api.Account.objects.in_bulk(field_name="ref")
    api.AnalystNote.objects.bulk_create(
        api.AnalystNote(
            website=websites[note.host],
            finding=_worst_of_rule(websites[note.host], note.rule) if note.rule else None,
            account=by_ref[note.account] if note.account else None,
            author="Robin Analyst",
            body=note.body,
            is_internal=note.is_internal,
            is_pinned=note.is_pinned,
            created_at=now - timedelta(days=note.days_ago),
            published_at=None if note.is_internal else now - timedelta(days=note.days_ago),
        )
        for note in notes
    )
    api.AnalystNote.objects.update(updated_at=F("created_at"))  # bulk_create set it to now


def _confirm_findings(confirmations: list[Confirmation], now: datetime) -> None:
    for each in confirmations:
        finding = _worst_of_rule(api.Website.objects.get(host=each.host), each.rule)
        triage.confirm(finding, by="robin", reason=each.reason, now=now - timedelta(days=each.days_ago))


def _worst_of_rule(website: api.Website, rule: str) -> api.Finding:
    findings = website.findings.with_status(api.Finding.Status.OPEN).filter(rule=rule)
    return findings.worst_first()[:1].get()
