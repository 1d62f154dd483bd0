"""A stranger becomes a customer who reads a first finding, without an operator."""

import socket

import pytest

from config.demo import website
from config.onboarding import sign_up_views
from dashboard_api.crawler.engines import read_engines
from dashboard_api.crawler.worker import Worker
from tests.browser import journey

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_the_sign_up_to_the_first_finding_and_to_checking_it_again(
    open_page, service, settings, monkeypatch, mailoutbox, tmp_path
):
    settings.SIGN_UP, settings.LINK_URL = "open", ""
    settings.ALLOW_PRIVATE_HOSTS = settings.CRAWLER_ENABLED = True
    monkeypatch.setattr(sign_up_views, "run_later", lambda job: job())
    with socket.create_server(("127.0.0.1", 0)) as free:
        settings.LOCALHOST_WEBSITES = {journey.HOST: free.getsockname()[1]}
    website.create(tmp_path)
    engines = [engine for engine in read_engines(settings.CRAWLER_ENGINES) if not engine.optional]
    worker = Worker("tests", engines, lambda: False)
    page = open_page()
    with website.serving(tmp_path, settings.LOCALHOST_WEBSITES[journey.HOST]):
        journey.ask_for_an_account(page)
        journey.create_the_account(page, journey.LINK.search(mailoutbox[0].body)[0])
        journey.prove_the_website(page, tmp_path)
        assert worker.run_one().outcome == "complete"
        journey.read_the_first_finding(page)
        journey.ask_to_check_it_again(page)
        assert worker.run_one().outcome == "still_there"
        journey.read_that_it_is_still_there(page)
