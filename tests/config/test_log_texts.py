"""The log of what staff did, in the language of the reader."""

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.utils import translation

from config.log_texts import own_language
from foundation.stored_texts import translate
from foundation.triage_reasons import REASONS
from tests.factories import make_account, make_user

EVERY_REASON = [reason for reasons in REASONS.values() for reason in reasons.values()]


@pytest.mark.parametrize(
    ("message", "german"),
    [
        ("Revoked.", "Widerrufen."),
        ("Archived.", "Archiviert."),
        ("Took back.", "Zurückgenommen."),
        ("Set up.", "Eingerichtet."),
        ("Marked as reviewed.", "Als geprüft markiert."),
        ("Imported a.json.", "a.json importiert."),
        ("Extended by 30 days.", "Um 30 Tage verlängert."),
        ("Seen as acct_0001: the dashboard.", "Als acct_0001 angesehen: die Übersicht."),
        (
            "Fixed: Checked by hand: the problem is gone.",
            "Behoben: Von Hand geprüft: Das Problem ist behoben.",
        ),
        ("Words of somebody: they stay.", "Words of somebody: they stay."),
        ("", ""),
        (".", "."),
    ],
)
def test_a_message_is_translated_and_other_words_stay(message, german):
    assert own_language(message) == message
    with translation.override("de"):
        assert own_language(message) == german


@pytest.mark.django_db
def test_the_home_and_the_history_show_the_log_in_german(client):
    operator, account = make_user("ada", is_staff=True, is_superuser=True), make_account()
    LogEntry.objects.log_actions(operator.pk, [account], CHANGE, "Suspended.", single_object=True)
    client.force_login(operator)
    for page in ("/admin/", f"/admin/dashboard_api/account/{account.pk}/history/"):
        assert "Ausgesetzt." in client.get(page, headers={"accept-language": "de"}).text
        assert "Suspended." in client.get(page).text


@pytest.mark.parametrize("reason", EVERY_REASON)
def test_every_template_of_a_reason_is_translated(reason):
    with translation.override("de"):
        assert translate(reason) != reason
