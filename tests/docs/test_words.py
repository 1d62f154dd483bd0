"""Words of screens and e-mails that were replaced: none of them comes back, in English or in German."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ["locale/de/LC_MESSAGES/django.po", "dashboard_api/locale/de/LC_MESSAGES/django.po"]
MESSAGES = "".join((ROOT / file).read_text() for file in FILES)
# the word to use: the former one
FORMER = {
    "Export": "Take it with you",
    "Confidence": "Certainty",
    "Check your inbox": "Look into your mail",
    "Audit log": "Activity",
    "Notifications": "Alerts",
    "Share": "Hand over",
    "Remove": "Give the website up",
    "Protokoll": "Aktivität",
    "Website entfernen": "Website aufgeben",
    "I’ve saved these codes": "I keep them safe",
    "Minimum severity": "From this severity on",
    "Counted in the": "Of the worst",
    "Classification": "Catalogued as",
    "Change severity": "Rate otherwise",
    "Befunde": " Funde ",
    "Bewertung %(grade)s": "Note %(grade)s",
    "Risiko akzeptiert": "Hingenommen",
    "Sicherheit der Erkennung": "Gewissheit",
    "fehlgeschlagen": "misslungen",
    "Testphase": "Probezeit",
    "Exportieren": "Mitnehmen",
    "Prüfen Sie Ihr Postfach": "Sehen Sie in Ihre Post",
    "needs attention": "needs you",
    "Confirm that it is you": "Is it you",
    "Dienst": "Sicherheitsdienst",
    "Wiederherstellungscodes": "Ersatzcodes",
    "Verwalter": "Inhaber und Verwaltung",
    "Schlüssel": "Geheimnis",
    "Badge": "Siegel",
    "Continue": "Go on",
    "another organization": "nother account ",
    "removed": "the link ends",
    "verify": "claimed",
    "Retest": "hecked again",
    "Valid for": "Works for",
    "Schnellscan": "Schneller Scan",
    "Tiefenscan": "iefer Scan",
    "Limit": "Grenze",
    "Nachweis": "Beleg ",
    "Zuerst beheben": "Zuerst erledigen",
    "behobenen Befunden": "Korrekturen",
}


def test_no_former_word_is_on_a_screen():
    assert [f"{former}: say {word}" for word, former in FORMER.items() if former in MESSAGES] == []
