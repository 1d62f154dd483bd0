"""View models of the page about the signed API."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from foundation.texts.snippets import SNIPPETS, Snippet
from portal.models import Account
from portal.pages.urls import adding_url, portal_origin
from signed_api.client import host_of, is_loopback
from signed_api.findings import DASHBOARD

MAX_WEBSITES = 50  # of an account on the page
SECRET_ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiWebsite:
    """A website with the id of its link."""

    pk: int
    host: str
    link_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAccount:
    """An account with the ids that its backend sends; ``unlisted`` is the number of further websites.

    ``secrets_url`` is the page of its secrets, for owners. ``adding_url`` is the page for adding websites.
    """

    pk: int
    name: str
    ref: str
    websites: tuple[ApiWebsite, ...]
    unlisted: int
    secrets_url: str
    adding_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiPage:
    """The accounts that the person may manage, and the address of the API."""

    accounts: tuple[ApiAccount, ...]
    base_url: str
    docs_url: str
    path: str
    snippets: tuple[Snippet, ...]
    support_url: str


def api_page(request: HttpRequest, accounts: Iterable[Account], owned: Collection[int]) -> ApiPage:
    """Return the page for ``accounts``; ``owned`` are ids of accounts."""
    base_url = public_base_url(request)
    return ApiPage(
        accounts=tuple(_account(account, owned) for account in accounts),
        base_url=base_url,
        docs_url=f"{base_url}/v1/docs",
        path=DASHBOARD.path,
        snippets=SNIPPETS,
        support_url=settings.SUPPORT_URL,
    )


def public_base_url(request: HttpRequest) -> str:
    """Return the API's address for customers: DASHBOARD_BASE_URL, or the portal's if unset or loopback."""
    address = settings.DASHBOARD_BASE_URL
    return address if address and not is_loopback(host_of(address) or "") else portal_origin(request)


def refusal(reason: str) -> str:
    """Return why no secret was issued or retired."""
    texts = {
        "portal_only": _("Support can give you a secret, or retire one."),
        "too_many": _("Two secrets work already: one must end first. A retired secret ends after one day."),
        "in_use": _("This portal uses that secret. Support replaces it."),
    }
    return texts.get(reason, _("Nothing was changed: that secret is already retired."))


def _account(account: Account, owned: Collection[int]) -> ApiAccount:
    websites = account.websites.all()
    return ApiAccount(
        pk=account.pk,
        name=str(account),
        ref=account.ref,
        websites=tuple(
            ApiWebsite(pk=website.pk, host=website.host, link_id=website.link_id)
            for website in websites[:MAX_WEBSITES]
        ),
        unlisted=max(0, len(websites) - MAX_WEBSITES),
        secrets_url=reverse("portal:api_secrets", args=[account.pk]) if account.pk in owned else "",
        adding_url=adding_url(account.ref),
    )
