"""English and German: chosen by cookie or browser, and complete."""

import gettext
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.utils.translation import override

from config.identity.sign_in import ALLAUTH_TEXTS
from tests.config.checkout import BASE_DIR, Checkout
from tests.factories import make_user
from tests.processes import made_once

GERMAN = (Path("locale/de/LC_MESSAGES"), Path("dashboard_api/locale/de/LC_MESSAGES"))


def language(client, path="/accounts/login/", **headers):
    html = client.get(path, headers=headers).content.decode()
    return re.search(r'<html[^>]* lang="([^"]*)"', html)[1]


FAMILIAR = re.compile(r"\b(?:du|dich|dir|dein\w*|gib|wähle|habe)\b", re.IGNORECASE)


@pytest.mark.parametrize("text", ALLAUTH_TEXTS, ids=str)
def test_what_allauth_says_addresses_people_as_everything_else_does(text):
    with override("de"):
        assert not FAMILIAR.search(str(text))


@pytest.mark.django_db
class TestChoice:
    @pytest.mark.parametrize(
        ("accepted", "expected"),
        [("de-AT,de;q=0.9,en;q=0.5", "de"), ("en-GB", "en"), ("fr", "en"), ("", "en"), ("*;;q=x", "en")],
    )
    def test_a_page_is_in_the_language_that_the_browser_asks_for(self, client, accepted, expected):
        assert language(client, **{"accept-language": accepted}) == expected

    def test_a_language_that_was_chosen_goes_before_what_the_browser_asks_for(self, client):
        client.post("/language/", {"language": "de", "next": "/"})
        assert language(client, **{"accept-language": "en"}) == "de"
        client.post("/language/", {"language": "en", "next": "/"})
        assert language(client, **{"accept-language": "de"}) == "en"

    @pytest.mark.parametrize("chosen", ["", "xx", "../de", "fr"])
    def test_a_language_that_there_is_not_and_a_cookie_of_anything_else_change_nothing(self, client, chosen):
        client.post("/language/", {"language": chosen})
        assert language(client) == "en"
        client.cookies["language"] = f'"><script>{chosen}'
        assert language(client) == "en"
        client.get("/language/?language=de")
        assert language(client) == "en"

    @pytest.mark.parametrize("back", ["https://evil.example.org/", "//evil.example.org/", "javascript:x"])
    def test_choosing_leads_back_to_a_page_of_ours(self, client, back):
        kept = client.post("/language/", {"language": "de", "next": "/sites/a.example/?page=2"})
        assert kept["Location"] == "/sites/a.example/?page=2"
        assert client.post("/language/", {"language": "de", "next": back})["Location"] == "/"

    def test_the_cookie_is_for_this_server_alone(self, client):
        cookie = client.post("/language/", {"language": "de"}).cookies["language"]
        assert (cookie["httponly"], cookie["samesite"], cookie["domain"]) == (True, "Lax", "")
        assert cookie["max-age"] == 365 * 24 * 3600

    def test_the_admin_is_english_for_a_german_browser_and_offers_no_other_language(self, client):
        client.force_login(make_user(is_staff=True, is_superuser=True))
        client.cookies["language"] = "de"
        german = {"accept-language": "de"}
        for page in ("/admin/", "/admin/auth/user/", "/admin/auth/user/add/"):
            assert language(client, page, **german) == "en"
            assert "Deutsch" not in client.get(page, headers=german).text
        assert client.get("/admin/nothing/", headers=german).status_code == 404
        assert language(client, "/admin/nothing/", **german) == "en"
        for page in ("/accounts/", "/admin/see-as/none.example.com/"):
            assert language(client, page, **german) == "de", "what customers see stays in their language"

    def test_what_programs_read_stays_english(self, client):
        client.cookies["language"] = "de"
        assert language(client, "/v1/docs") == "en"
        answer = client.post("/v1/site/dashboard", data=b"{}", content_type="application/json")
        assert "Accept-Language" not in answer.get("Vary", "")
        assert "Content-Language" not in answer

    def test_a_form_offers_the_other_language_and_knows_where_it_is(self, client):
        client.force_login(make_user())
        html = client.get("/accounts/?a=1&b=2").content.decode()
        assert 'name="next" value="/accounts/?a=1&amp;b=2"' in html
        assert 'name="language" value="de" lang="de">Deutsch<' in html
        assert 'value="en"' not in html


@pytest.fixture(scope="module")
def gathered(tmp_path_factory):
    """Return a copy of the product after ``make messages``; REQUIRE_GETTEXT=1 fails instead of skipping."""
    if not all(map(shutil.which, ("make", "xgettext", "msgmerge", "msgfmt", "msgattrib"))):
        without = pytest.fail if os.environ.get("REQUIRE_GETTEXT") == "1" else pytest.skip
        without("GNU gettext or make is not installed (Debian: apt install gettext make)")

    def gather(folder):
        checkout = Checkout(folder)
        tools = ["make", "messages", f"BIN={Path(sys.executable).parent}", "--old-file=.venv/installed"]
        environ = {"PATH": os.environ["PATH"]}
        subprocess.run(tools, cwd=folder, env=environ, check=True, capture_output=True, timeout=300)
        return checkout.folder

    return made_once(tmp_path_factory, "gathered", gather)


def messages(folder):
    with (folder / "django.mo").open("rb") as file:
        catalogue = dict(gettext.GNUTranslations(file)._catalog)
    del catalogue[""]  # its own description, with the day when it was gathered
    return catalogue


@pytest.mark.once
@pytest.mark.parametrize("german", GERMAN, ids=str)
class TestTranslation:
    def test_every_text_of_the_product_is_translated_and_compiled(self, gathered, german):
        assert messages(BASE_DIR / german) == messages(gathered / german)

    @pytest.mark.parametrize("kind", ["--untranslated", "--only-fuzzy", "--only-obsolete"])
    def test_nothing_is_missing_guessed_or_left_over(self, gathered, german, kind):
        file = gathered / german / "django.po"
        texts = subprocess.check_output(["msgattrib", kind, "--no-wrap", file], text=True)
        assert not texts

    def test_a_translation_names_what_its_text_names(self, gathered, german):
        file = gathered / german / "django.po"
        subprocess.run(["msgfmt", "--check-format", "-o", os.devnull, file], check=True)
        marks = re.compile(r"%\(\w+\)[sd]|</?\w+[^>]*>")
        for text, translation in messages(gathered / german).items():
            if isinstance(text, tuple):  # whose singular may leave out the number
                translation, text = (each.replace("%(count)s", "") for each in (translation, text[0]))
            source = text.partition("\x04")[2] or text
            assert sorted(marks.findall(translation)) == sorted(marks.findall(source)), translation
