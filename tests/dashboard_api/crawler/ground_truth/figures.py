"""Findings of our scans of the ground truth, by rule: found, missed and extra ones."""

import json
import tempfile
from collections import Counter
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from typing import NamedTuple

import pytest

from dashboard_api.crawler.essentials import exposed, scan
from dashboard_api.crawler.essentials.scripts import report as scripts_report
from dashboard_api.scanners import finding_lines
from dashboard_api.scanners.report import BadRow
from foundation.outbound import fetch
from tests.dashboard_api.crawler.essentials.good_website import HOST
from tests.dashboard_api.crawler.ground_truth.serving import Authority, serve
from tests.foundation.outbound.internet import PUBLIC, Internet

SECRET = "hunter2-secret"  # in the files of the table; no report may hold it


class Result(NamedTuple):
    """The findings of one website, compared with what is wanted."""

    found: list[str]
    missed: list[str]
    extra: list[str]
    requests: int


@contextmanager
def serving():
    """Yield an internet for websites of the table, and the trusted authority of their certificates."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        authority = Authority(folder)
        patch.setattr(fetch, "DEFAULT_CA_BUNDLE_PATH", str(authority.file))
        patch.setattr(scan, "_PAUSE", 0)
        fetch.trusted.cache_clear()
        internet = Internet(patch)
        try:
            yield internet, authority
        finally:
            internet.end()
            fetch.trusted.cache_clear()


@contextmanager
def scanning():
    """Yield a function that scans a website of the table."""
    with serving() as (internet, authority):
        yield lambda website: _result(website, internet, authority)


def _result(website, internet, authority):
    internet.zone[f"{HOST}."] = [PUBLIC]
    servers = serve(website, internet, authority)
    lines = [*scan.report(HOST, PUBLIC)]
    scripts = [*scripts_report.report(HOST, PUBLIC, expected=_expected(website))]
    requests = sum(len(server.received) for server in servers)
    if website.line in ("exposed", "exposed-forms", "good"):  # some 50 requests for each
        lines = [*lines[:-1], *[*exposed.report(HOST, PUBLIC)][1:]]  # as one report
    lines = [*lines[:-1], *scripts[1:]]
    internet.end()
    found = {line["finding"]: line["evidence"] for line in lines if "finding" in line}
    wanted = Counter(website.wanted)
    missed, extra = wanted - Counter(found.keys()), Counter(found.keys()) - wanted
    if website.says and website.says not in found.get(website.wanted[0], website.says):
        missed[f"{website.wanted[0]}: {website.says}"] += 1
    if website.refused not in ("", *(line.get("error") for line in lines)):
        missed[website.refused] += 1
    report = BytesIO("\n".join(map(json.dumps, lines)).encode())
    extra["a row that is not read"] = sum(isinstance(row, BadRow) for row in finding_lines.read(report))
    extra["a secret"] = int(SECRET in str(lines))
    return Result(sorted((wanted & Counter(found.keys())).elements()), [*missed], [*+extra], requests)


def _expected(website):
    pins = {url: sha256(text.encode()).hexdigest() for url, text in website.pins.items()}
    return scripts_report.Expected(hosts=website.hosts, pins=pins)


def table_of(results):
    """Yield the lines of a table of the figures by rule."""
    found, missed, extra = (
        Counter(rule for result in results for rule in getattr(result, kind)) for kind in Result._fields[:3]
    )
    yield f"{'rule':40} {'found':>6} {'missed':>6} {'extra':>6}"
    for rule in sorted(found | missed | extra):
        yield f"{rule:40} {found[rule]:6} {missed[rule]:6} {extra[rule]:6}"
    yield f"{'all':40} {found.total():6} {missed.total():6} {extra.total():6}"
