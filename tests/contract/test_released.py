"""From version 1.0.0 on, the contract is only added to."""

import copy
from pathlib import Path

import pytest

from dashboard_api.contract import openapi
from signed_api.all_routes import ROUTES
from tests.contract.released import lines

RELEASED = sorted(Path(__file__).parent.joinpath("released_versions").glob("*.txt"))
REQUESTS = {route.request.__name__ for route in ROUTES}


def broken(released, document):
    """Return what a client of the released version would miss, or would have to send now."""
    now = set(lines(document))
    missing = [
        line
        for line in released
        if line not in now and not (_is_sent(line) and line.removesuffix(", required") in now)
    ]
    bodies = {line.partition(".")[0] for line in released}
    demanded = [
        line
        for line in sorted(now - set(released))
        if _is_sent(line) and line.endswith(", required") and line.partition(".")[0] in bodies
    ]
    return missing + demanded


def _is_sent(line):
    return line.partition(".")[0] in REQUESTS


@pytest.mark.parametrize("file", RELEASED, ids=lambda file: file.stem)
def test_nothing_that_was_released_is_gone_and_nothing_more_is_required(file):
    assert broken(file.read_text().splitlines(), openapi.document("https://api.example.com")) == []


def test_this_version_is_on_record():
    assert f"{openapi.VERSION}.txt" in {file.name for file in RELEASED}


def test_a_missing_or_newly_required_member_is_noticed():
    document = copy.deepcopy(openapi.document("https://api.example.com"))
    released = lines(document)
    schemas = document["components"]["schemas"]
    del schemas["DashboardResponse"]["properties"]["host"]
    schemas["DashboardRequest"]["properties"]["region"] = {"type": "string"}
    schemas["DashboardRequest"]["required"].append("region")
    named = [line.partition(":")[0] for line in broken(released, document)]
    assert named == ["DashboardResponse.host", "DashboardRequest.region"]
