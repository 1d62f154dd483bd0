"""Reports sent over HTTP, in-process, as a program would send them."""

from concurrent.futures import Future
from datetime import timedelta
from urllib.parse import urlencode

from django.utils import timezone

from dashboard_api.importing import report_jobs
from dashboard_api.models import ReportToken
from tests.dashboard_api.calls import post

REPORTS = "/v1/reports"


def make_token(link, *websites, **fields):
    """Return a token for the link's website, or for ``websites``, and its value in clear."""
    defaults = {"name": "CI", "sources": [], "expires_at": timezone.now() + timedelta(days=30), "by": "tests"}
    websites = websites or [link.website]
    return ReportToken.objects.issue(link.account, websites, **(defaults | fields))


def send(client, clear, body, *, host="shop.example.com", headers=(), environ=(), **parameters):
    """Send ``body``; a parameter with a list is repeated."""
    headers = {"Authorization": f"Bearer {clear}"} | dict(headers)
    query = urlencode({"host": host} | parameters, doseq=True)
    return post(client, body, headers, path=REPORTS, QUERY_STRING=query, **dict(environ))


def fetch(client, clear, report):
    return client.get(f"{REPORTS}/{report}", headers={"Authorization": f"Bearer {clear}"})


def run_here(monkeypatch):
    """Let imports run in the thread, and the transaction, of the test."""

    def started(job_id):
        done = Future()
        report_jobs.run(job_id)
        done.set_result(None)
        return done

    monkeypatch.setattr(report_jobs, "_start_once", started)


def never_run(monkeypatch):
    """Let reports wait, as if their import took long or its process had died."""
    monkeypatch.setattr(report_jobs, "_start_once", lambda _: done_future())


def done_future():
    done = Future()
    done.set_result(None)
    return done
