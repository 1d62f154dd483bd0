"""URLs of the portal's pages with their filters, of payments, and of pages to return to."""

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from portal.pages.forms import FINDING_ID, PROBLEM_ID, Filters

if TYPE_CHECKING:  # config uses this module without the portal's tables
    from portal.models import Website

_BILLING_REF = "{billing_ref}"  # the placeholder in RENEW_URL
_DEFAULTS = {each.name: each.default for each in fields(Filters)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The URL of a page with its filters; ``account`` is set only if the host is ambiguous."""

    path: str
    account: str = ""
    filters: Filters = field(default_factory=Filters)

    def __str__(self) -> str:
        fields = self.fields()
        return f"{self.path}?{urlencode(fields)}" if fields else self.path

    def fields(self, *, without: str = "") -> dict[str, str]:
        """Return the fields of the query string in a fixed order, without defaults and ``without``."""
        values = {"account": self.account} | {name: getattr(self.filters, name) for name in _DEFAULTS}
        return {
            name: str(value)
            for name, value in values.items()
            if value and value != _DEFAULTS.get(name) and name != without
        }

    def of_finding(self, finding_id: str) -> str:
        """Return the URL of a finding, with the filters of its list; empty for an invalid id."""
        path = f"{self.path}findings/{finding_id}/"
        return str(replace(self, path=path)) if FINDING_ID.fullmatch(finding_id) else ""

    def of_sharing(self, finding_id: str = "") -> str:
        """Return the URL that creates a share link of a finding, or of the list without ``finding_id``."""
        if finding_id:
            path = f"{self.path}findings/{finding_id}/share/"
            return str(replace(self, path=path, filters=Filters()))
        return str(replace(self, path=f"{self.path}share/", filters=self.filters.without_page))

    def of_answer(self, ids: str = "") -> str:
        """Return the URL that answers these findings (ids with commas), or all open ones that match."""
        filters = self.filters.without_page
        filters = filters if ids else replace(filters, status="", fixed="")
        address = replace(self, path=f"{self.path}answer/", filters=filters)
        fields = address.fields() | ({"ids": ids} if ids else {})
        return f"{address.path}?{urlencode(fields)}"

    def of_message(self, finding_id: str) -> str:
        """Return the URL that writes to the analysts about a finding."""
        path = f"{self.path}findings/{finding_id}/messages/"
        return str(replace(self, path=path)) if FINDING_ID.fullmatch(finding_id) else ""

    def of_retest(self, finding_id: str) -> str:
        """Return the URL that retests a finding."""
        return str(Address(path=f"{self.path}findings/{finding_id}/check/", account=self.account))

    def of_scans(self) -> str:
        """Return the URL of the scans of the website."""
        return str(Address(path=f"{self.path}scans/", account=self.account))

    def of_inventory(self) -> str:
        """Return the URL of the website's certificates and scripts."""
        return str(Address(path=f"{self.path}inventory/", account=self.account))

    def with_filters(self, **changes: Any) -> str:
        """Return the URL with changed filters, by default on the first page."""
        filters = replace(self.filters, **{"page": 1, **changes}).compatible
        return str(replace(self, filters=filters))

    def of_problem(self, problem: str) -> str:
        """Return the URL of a problem's findings under the same filters; empty for an invalid id."""
        if not PROBLEM_ID.fullmatch(problem):
            return ""
        return self.with_filters(problem=problem, view="")  # as a list of findings, not of problems

    def of_fix(self, problem: str) -> str:
        """Return the URL of a problem's fix on its page; empty for an invalid id."""
        url = self.of_problem(problem)
        return f"{url}#findings-title" if url else ""


def site_address(website: "Website", *, names_account: bool) -> Address:
    """Return the address of the dashboard; ``names_account`` is needed if several accounts have this host."""
    return Address(
        path=reverse("portal:site", args=[website.host]),
        account=website.account.ref if names_account else "",
    )


def adding_url(account_ref: str = "") -> str:
    """Return the page for adding a website: LINK_URL, or our own page with the account preselected."""
    query = {"account": account_ref} if account_ref else None
    return settings.LINK_URL or reverse("portal:add_website", query=query)


def payment_url(billing_ref: str) -> str:
    """Return RENEW_URL with the reference for payments; empty if it is not set."""
    return str(settings.RENEW_URL).replace(_BILLING_REF, quote(billing_ref, safe=""))


def renewal_url() -> str:
    """Return the page for renewing a plan: RENEW_URL, or the plan's page if RENEW_URL needs a reference."""
    return reverse("portal:plan") if _BILLING_REF in settings.RENEW_URL else str(settings.RENEW_URL)


def portal_origin(request: HttpRequest) -> str:
    """Return PORTAL_BASE_URL, or the request's origin if it is unset.

    Only a deployment on loopback may leave it unset: visitors can forge the Host header, and the links are
    for other people.
    """
    return settings.PORTAL_BASE_URL or request.build_absolute_uri("/").removesuffix("/")


def referring_page(request: HttpRequest) -> str:
    """Return path and query of our page that sent the form; empty without a Referer of ours."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        return ""
    parts = urlsplit(page)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return path if is_local_path(path) else ""


def is_local_path(text: str) -> bool:
    """Return whether ``text`` is a path of this site; redirect() also takes URLs and names of views."""
    return text.startswith("/") and url_has_allowed_host_and_scheme(text, allowed_hosts=None)
