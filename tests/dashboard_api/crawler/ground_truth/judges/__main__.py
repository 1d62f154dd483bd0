"""Compare our scans of the ground truth with the MDN HTTP Observatory and csp_evaluator.

``python -m tests.dashboard_api.crawler.ground_truth.judges [WORD ...]`` prints each difference with its
reason, and the number of each reason. A difference without a reason in reasons.toml fails it. It needs
Node.js and npm; words limit it to lines of the ground truth with them.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from dashboard_api.crawler.essentials import scan  # noqa: E402 - after the setup
from tests.dashboard_api.crawler.essentials.good_website import HEADERS, HOST  # noqa: E402
from tests.dashboard_api.crawler.ground_truth import figures, serving, table  # noqa: E402
from tests.foundation.outbound.internet import PUBLIC  # noqa: E402
from tests.judges import CSP_EVALUATOR, OBSERVATORY, install  # noqa: E402

_HERE = Path(__file__).parent
_META = re.compile(r"content-security-policy[\"'] content=\"([^\"]*)\"", re.IGNORECASE)
_TABLE = tomllib.loads((_HERE / "reasons.toml").read_text())
POINTS, REASONS = _TABLE["points"], _TABLE["reasons"]


class Difference(NamedTuple):
    """A subject of a website about which a judge and we differ."""

    judge: str
    website: str
    subject: str
    theirs: str
    ours: str
    grades: str = ""

    @property
    def has_other_grade(self):
        """Return whether the Observatory's points for our findings give another grade."""
        theirs, _, ours = self.grades.partition(" and ")
        return theirs != ours

    @property
    def reason(self):
        """Return the reason of reasons.toml; empty without one."""
        return next((each["reason"] for each in REASONS if self._is_of(each)), "")

    def _is_of(self, reason):
        return all(
            re.fullmatch(reason.get(name, ".*"), getattr(self, name), re.DOTALL)
            for name in ("judge", "website", "subject", "theirs", "ours")
        )


@contextmanager
def asking(authority):
    """Yield a function that sends a request to judges.mjs and returns the answer."""
    observatory, evaluator = install(OBSERVATORY, CSP_EVALUATOR)
    environ = {"OBSERVATORY": str(observatory), "CSP_EVALUATOR": str(evaluator)}
    with subprocess.Popen(
        ["node", str(_HERE / "judges.mjs")],
        env=os.environ | environ | {"NODE_EXTRA_CA_CERTS": str(authority.file)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as judges:

        def ask(request):
            print(json.dumps(request), file=judges.stdin, flush=True)
            return json.loads(judges.stdout.readline())

        yield ask
        judges.stdin.close()


def differences(website, ask, internet, authority):
    """Yield the differences about a website."""
    serving.serve(website, internet, authority)
    lines = [*scan.report(HOST, PUBLIC)]
    routes = internet.routes.items()
    ports = {port: loopback for (address, port), loopback in routes if address == PUBLIC}
    theirs = ask({"host": HOST, "ports": ports})
    internet.end()
    name = f"{website.line}: {website.name}"
    failed = next((line["error"] for line in lines if "error" in line and "rules" not in line), "")
    if failed or "error" in theirs:
        if not (failed and "error" in theirs):
            yield Difference("Observatory", name, "scan", theirs.get("error", theirs.get("grade")), failed)
        return
    ours = {line["finding"] for line in lines if "finding" in line}
    yield from _of_observatory(name, ask, theirs, ours)
    if policies := _policies(website):
        yield from _of_evaluator(name, ask({"policies": policies}), ours)


def _of_observatory(name, ask, theirs, ours):
    """Yield tests that only one of both fails, and those that lead to another grade."""
    found = {subject: sorted(POINTS.get(subject, {}).keys() & ours) for subject in theirs["tests"]}
    points = {
        subject: min((POINTS[subject][rule] for rule in found[subject]), default=max(test["points"], 0))
        for subject, test in theirs["tests"].items()
    }
    grade = ask({"points": [*points.values()]})
    for subject, test in theirs["tests"].items():
        has_other_points = grade != theirs["grade"] and points[subject] != test["points"]
        if test["pass"] == bool(found[subject]) or has_other_points:
            grades = f"{theirs['grade']} and {grade}"
            yield Difference("Observatory", name, subject, test["result"], " ".join(found[subject]), grades)


def _policies(website):
    sent = website.headers.get("Content-Security-Policy", HEADERS["Content-Security-Policy"])
    texts = [*([sent] if isinstance(sent, str) else sent), *_META.findall(website.body)]
    return [policy.strip() for text in texts for policy in text.split(",") if policy.strip()]


def _of_evaluator(name, findings, ours):
    """Yield a difference if only one of both says that an injected script runs under all policies."""
    high = [[each for each in policy if each["severity"] == "HIGH"] for policy in findings]
    is_found = "csp-unsafe-scripts" in ours
    if all(high) != is_found:
        shown = sorted({f"{each['type']} {each['directive']}" for policy in high for each in policy})
        yield Difference("csp_evaluator", name, "policy", ", ".join(shown), "csp-unsafe-scripts" * is_found)


def main(words):
    """Print the differences and the number of each reason; return whether one has none."""
    websites = [each for each in table.websites() if all(word in each.line for word in words)]
    with figures.serving() as (internet, authority), asking(authority) as ask:
        found = [each for website in websites for each in differences(website, ask, internet, authority)]
    for each in found:
        print(f"{each.judge}: {each.website}\n  {each.subject}: {each.theirs or 'nothing'}", end="")
        print(f"; ours: {each.ours or 'nothing'}{f'; grades: {each.grades}' if each.grades else ''}")
        print(f"  {each.reason or 'WITHOUT A REASON'}")
    for (judge, reason), number in Counter((each.judge, each.reason) for each in found).most_common():
        print(f"{number:4} {judge}: {reason or 'WITHOUT A REASON'}")
    graded = {each.website for each in found if each.has_other_grade}
    differing = {each.website for each in found}
    print(f"{len(websites)} websites: a difference in {len(differing)}, another grade in {len(graded)}")
    return any(not each.reason for each in found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
