"""The portal in German: every page, its numbers and days, with and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import PATH, open_menu

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

TEXTS = """
() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [document.title];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest("script")) texts.push(walker.currentNode.data.trim());
  }
  for (const name of ["aria-label", "title", "placeholder", "alt"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) texts.push(element.getAttribute(name));
  }
  return texts.filter((text) => /[a-z]{2}/i.test(text));
}
"""
SCREENS = [
    "/",
    PATH,
    f"{PATH}?severity=High&query=cross",
    f"{PATH}?page=99",
    f"{PATH}?status=fixed",
    f"{PATH}report/?severity=Critical",
    "/sites/unknown.example.com/",
    "/team/",
    "/new/",
    "/help/",
    "/api/",
    "/accounts/",
    "/notifications/",
    f"{PATH}new/?since=0.0.0.&min_severity=High",
    "/accounts/password/change/",
    "/accounts/2fa/totp/activate/",
    "/accounts/2fa/webauthn/add/",
    "/no/such/page/",
]
# Words that are the same in both languages, and texts that are not the portal's.
SAME_IN_BOTH = re.compile(
    r"(?:(?:Websites|API|Team) – )?Threat Dashboard|[0-9a-f-]{36}|Websites?|Scans|Info|Status:?|Passkeys?"
    r"|Nuclei|Zap|Standard|Admin|Ada|API|Support|security\.txt|Status|O|Name|Chrome, \w+|English|Deutsch"
    r"|About .*|Change it\.|<script>.*"
    r"|Cross|PDF|CSV|JSON|SARIF|/ acct_\d+|acct_\d+|owner.*|Begin with the|worst|Seen|by hand|, too\."
    r"|.*(?:https?://|example\.com|site scripting|SQL injection|Outdated library|Cookie without).*"
    r"|[A-Z2-7 ]{16,}|\d+ Info|data:.*|[\d-]{10} [\d:]{5} UTC"
    r"|Scanner|Team|Filter(?: +\(\d+\))?|Esc|requests|curl, openssl"
    r"|(?:Shell|Python|JavaScript|Node\.js|PHP|Go|Ruby)(?: [\d.]+)?"
)


def texts(page, path):
    page.goto(path, wait_until="networkidle" if path == "/" else "load")  # the cards of "/" come later
    return set(page.evaluate(TEXTS))


def test_the_screens_in_german_share_with_the_english_ones_only_names(open_page, owner, watch):
    watch.expect("404")
    in_english, in_german = (open_page(user=owner, locale=locale) for locale in ("en-GB", "de-DE"))
    untranslated = {}
    for path in SCREENS:
        english, german = texts(in_english, path), texts(in_german, path)
        assert len(english) > 5, path
        same = {text for text in english & german if not SAME_IN_BOTH.fullmatch(text.replace("\n", " "))}
        if same:
            untranslated[path] = same
    assert untranslated == {}


@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/password/reset/"])
def test_the_sign_in_is_german_for_german_browsers(open_page, path):
    page = open_page(locale="de-DE")
    assert "Passwort" in " ".join(texts(page, path))
    assert not {"Sign in", "Password", "Skip to content"} & texts(page, path)


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_chosen_language_is_kept_on_the_same_page(open_page, owner, scripts):
    page = open_page(user=owner, java_script_enabled=scripts)
    page.goto(f"{PATH}?severity=High")
    open_menu(page)
    page.get_by_role("button", name="Deutsch").click()
    expect(page).to_have_url(f"{PATH}?severity=High")
    expect(page.get_by_role("heading", name="Befunde", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.goto("/accounts/")
    expect(page.get_by_role("heading", name="Ihr Konto")).to_be_visible()
    page.get_by_role("main").get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()


def test_charts_facets_numbers_and_days_are_german(open_page, owner):
    page = open_page(user=owner, locale="de-DE", timezone_id="Europe/Berlin")
    page.goto(PATH)
    expect(page.get_by_role("list", name="Alter der offenen Befunde")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Hoch.*12")).first).to_be_visible()
    expect(page.get_by_text("1.234 URLs gescannt")).to_be_visible()
    expect(page.locator(".generated-at time")).to_have_text(re.compile(r"^\d\d\.\d\d\.\d{4}, \d\d:\d\d$"))
