"""The dashboard service as this deployment's settings and accounts reach it; what views ask through."""

from django.conf import settings
from django.utils.module_loading import import_string

from foundation.sealing import CannotUnseal
from portal.gateway import (
    Changes,
    ChangesQuestion,
    Dashboard,
    FindingAnswer,
    InactiveEntitlement,
    LinkedSite,
    Misconfigured,
    Question,
    RevokedLink,
    UnknownLink,
    Upstream,
    fetch_changes,
    fetch_dashboard,
    fetch_finding,
)
from portal.models import LastAnswer, Website


def ask(website: Website, question: Question) -> Dashboard:
    """The dashboard of ``website`` as ``question`` narrows it; raises GatewayError.

    What the service says of the website as a whole is kept: a dashboard in short, or that it shows none.
    Call it outside any open transaction: a service in this process uses the same connection.
    """
    try:
        dashboard = fetch_dashboard(upstream(), linked_site(website), question)
    except (InactiveEntitlement, RevokedLink, UnknownLink) as refusal:
        LastAnswer.objects.keep(website, refusal=refusal.code)
        raise
    LastAnswer.objects.keep(website, dashboard=dashboard)
    return dashboard


def ask_about(website: Website, finding_id: str, listed: Question) -> FindingAnswer:
    """One finding of ``website``, which the list ``listed`` may hold; raises GatewayError."""
    return fetch_finding(upstream(), linked_site(website), finding_id, listed)


def ask_what_changed(website: Website, *, since: str, min_severity: str) -> Changes:
    """What is worse on ``website`` than at the cursor ``since``; raises GatewayError."""
    question = ChangesQuestion(since=since, min_severity=min_severity)
    return fetch_changes(upstream(), linked_site(website), question)


def ask_what_is_new(website: Website, *, days: int, min_severity: str) -> Changes:
    """Return what got worse on ``website`` in the last ``days``, today included; raises GatewayError."""
    question = ChangesQuestion(days=days, min_severity=min_severity)
    return fetch_changes(upstream(), linked_site(website), question)


def ask_what_an_import_changed(website: Website, *, since: str, min_severity: str) -> Changes:
    """The same by the first import since the cursor, and whether there is more; raises GatewayError."""
    question = ChangesQuestion(since=since, min_severity=min_severity, until="next_import")
    return fetch_changes(upstream(), linked_site(website), question)


def upstream() -> Upstream:
    """The service at DASHBOARD_BASE_URL, else the one in this process; raises Misconfigured."""
    if not settings.DASHBOARD_BASE_URL and settings.DASHBOARD_APPLICATION:
        return Upstream(
            application=import_string(settings.DASHBOARD_APPLICATION),
            timeout_seconds=settings.DASHBOARD_TIMEOUT_SECONDS,
        )
    return Upstream(
        base_url=settings.DASHBOARD_BASE_URL,
        timeout_seconds=settings.DASHBOARD_TIMEOUT_SECONDS,
        calls_at_once=settings.DASHBOARD_CALLS_AT_ONCE,
    )


def linked_site(website: Website) -> LinkedSite:
    """What the gateway needs to know of ``website``; raises Misconfigured without a usable secret."""
    account = website.account
    try:
        return LinkedSite(
            host=website.host,
            link_id=website.link_id,
            account_ref=account.ref,
            secret=account.reveal_secret(),
        )
    except CannotUnseal as error:
        lost = (
            "MASTER_KEYS holds no key that opens it; put that key back, or " if account.sealed_secret else ""
        )
        raise Misconfigured(
            f"There is no usable secret for {account.ref}: {lost}"
            f"run 'manage.py connect_account {account.ref}'."
        ) from error
