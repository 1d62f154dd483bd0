"""The portal knows the topics of the service, word for word, and has each in German."""

import pytest
from django.utils.translation import override

from dashboard_api.models import Severity
from dashboard_api.scanners.topics import TOPICS as WRITTEN
from portal.texts import topics
from tests.factories import make_finding, make_source


def test_the_portal_knows_every_title_and_fix_that_the_service_writes():
    assert {topic.id: (topic.title, topic.fix) for topic in WRITTEN.values()} == topics.TOPICS


def test_every_topic_has_german_texts():
    with override("de"):
        untranslated = [
            text for topic in topics.TOPICS.values() for text in topic if topics.translate(text) == text
        ]
    assert untranslated == []


@pytest.mark.django_db(transaction=True)
def test_a_german_reader_sees_a_problem_and_its_fix_in_german(owner, link):
    for _ in range(2):
        make_finding(
            link.website, severity=Severity.CRITICAL, source=make_source("wapiti"), rule="SQL Injection"
        )
    owner.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    page = owner.get("/sites/shop.example.com/?view=problems").text
    assert "SQL-Injection" in page
    assert "32 Probleme mit 33 Befunden" in page
    assert page.count("Übergeben Sie Werte an SQL als Parameter") == 2  # in "Do first", and in the list
    chip = owner.get("/sites/shop.example.com/?problem=sql-injection").text
    assert "Problem: <b>SQL-Injection</b>" in chip
