"""The pages for staff in German: they share only names with the English ones."""

import re
from html.parser import HTMLParser

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse

from dashboard_api.models import Severity
from tests.dashboard_api.api.reports import make_token
from tests.factories import (
    make_coverage,
    make_event,
    make_finding,
    make_import_run,
    make_link,
    make_membership,
    make_note,
    make_occurrence,
    make_portal_account,
    make_portal_website,
    make_standing_decision,
    make_upload,
    make_user,
)

pytestmark = [pytest.mark.once, pytest.mark.django_db]
SHOWN_ATTRIBUTES = ("title", "aria-label", "placeholder", "alt")
# Words that are the same in both languages, and texts that are data: names, hosts, scanners, identifiers.
SAME_IN_BOTH = re.compile(
    r"(› )?(Websites?|Status|Name|Host|Info|Format|Version|Person|Scanner|System|Test|Portal|Support|Badges"
    r"|Scans|Token|security\.txt)"
    r":?|ID|CI|C[VW]E:"
    r"|(› )?(Ada|ada|owner|tests|standard|Nuclei|Analysts|Operators|WebAuthn|acct_0001)"
    r"|acunetix|burp|csv|findings|greenbone|invicti|nessus|nikto|nmap|nuclei|observatory|qualys-was|sarif|sslyze|testssl"
    r"|wapiti|wpscan|zap|md5|rpt_.{4}|[0-9a-f]{16}|[0-9a-f-]{36}|[0-9a-f]{64}|\w+\*+"
    r"|(› )?(https://)?shop\.example\.com\S*( · https\S+|, [-\d: ]+ UTC| ok)?"
    r"|https://\S+|\w+@example\.com|Behind a VPN|Please \*\*update\*\*\."
    r"|dashboard_api\.\w+ \d+|(› )?([a-z_.]+ )?token 1 \(CI\) of acct_0001"
    r"|shop\.example\.com (for|of) acct_0001|tdv1-[a-z2-7]{32}"
    r"|Extended by \d+ days\.|standard of acct_0001|brought in|Finding 1"  # stored texts
)
# Of Django and allauth, whose German is not complete, and of tables that staff only see when they delete.
OF_LIBRARIES = re.compile(
    r"Group-permission .*|(› |0 )?authenticators?|› Authenticators|Authenticators|TOTP .*"
    r"|Enabled|Disabled|Password-based .*|Raw passwords .*|Reset password"
    r"|After you.*|Whether the user .*"
    r"|True|False|Filter|.* \| .* \| Can .*"
)


class Texts(HTMLParser):
    """The texts of a page that people read, with those of attributes."""

    def __init__(self, page):
        super().__init__()
        self.found, self._skipped = set(), 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self._skipped += tag in ("script", "style", "code")
        values = dict(attrs)
        shown = [values.get(name) for name in SHOWN_ATTRIBUTES]
        if tag == "input" and values.get("type") in ("submit", "button"):
            shown.append(values.get("value"))
        for text in filter(None, shown):
            self.handle_data(text)

    def handle_endtag(self, tag):
        self._skipped -= tag in ("script", "style", "code")

    def handle_data(self, data):
        text = " ".join(data.split())
        if not self._skipped and re.search(r"[A-Za-z]{2}", text):
            self.found.add(text)


@pytest.fixture
def staff(client):
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def link():
    """A website with one record of each model that has pages."""
    link = make_link()
    finding = make_finding(link.website, severity=Severity.HIGH)
    make_occurrence(finding)
    make_event(finding)
    make_note(link.website, finding=finding)
    make_coverage(link.website)
    make_import_run(link.website)
    make_standing_decision(link.website)
    make_token(link)
    rows = b'{"scan": {"source": "zap"}}\n{"a": 1}\n{"finding": {"title": "A"}}\n[]'
    options = {"format_name": "findings", "scanned_at": None}
    make_upload(link.website, rows, by="ada", options=options)
    account = make_portal_account()
    make_portal_website(account)
    make_membership(make_user("owner"), account)
    return link


def reversed_or_none(name, *arguments):
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return None


def pages_of(model):
    """Return the addresses of the list, of the form, and of the pages of one object."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    obj = model.objects.first()
    pages = [reversed_or_none(f"{name}_changelist"), reversed_or_none(f"{name}_add")]
    if obj is not None:
        pages += [reversed_or_none(f"{name}_{page}", obj.pk) for page in ("change", "history", "delete")]
    return filter(None, pages)


def confirmations_of(model, request):
    """Return the actions of the model that ask before they begin, as an address and a form."""
    model_admin, obj = admin.site._registry[model], model.objects.first()
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    for action in model_admin.get_actions(request) if obj else ():
        everything = getattr(model_admin, "everything", "")
        yield f"{address}{everything}", {"action": action, "_selected_action": obj.pk}


def untranslated(client, address, data=None):
    """Return the texts that the English and the German page share."""
    pages = []
    for language in ("en", "de"):
        headers = {"accept-language": language}
        response = client.get(address, headers=headers)
        if data is not None:
            response = client.post(address, data, headers=headers)
        if response.status_code != 200:
            return set()
        pages.append(Texts(response.text).found)
    return {
        text
        for text in pages[0] & pages[1]
        if not SAME_IN_BOTH.fullmatch(text) and not OF_LIBRARIES.fullmatch(text)
    }


@pytest.mark.slow
def test_the_pages_for_staff_share_only_names_with_the_english_ones(staff, link, rf):
    request = rf.get("/")
    request.user = User.objects.get(username="ada")
    shared = {}
    for model in admin.site._registry:
        for address in pages_of(model):
            shared[address] = untranslated(staff, address)
        for address, data in confirmations_of(model, request):
            shared[f"{address} {data['action']}"] = untranslated(staff, address, data)
    for address in (reverse("admin:index"), reverse("new_customer")):
        shared[address] = untranslated(staff, address)
    for name, pk in (
        ("account_issue_secret", link.account.pk),
        ("reporttoken_issue", link.account.pk),
        ("website_import", link.website.pk),
        ("website_upload", link.website.uploads.get().pk),
    ):
        address = reverse(f"admin:dashboard_api_{name}", args=[pk])
        shared[address] = untranslated(staff, address)
    first_seen = {text: address for address, texts in shared.items() for text in texts}
    assert first_seen == {}
