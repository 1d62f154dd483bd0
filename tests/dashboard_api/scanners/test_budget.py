"""Small reports whose rows share long texts: what reading them may cost."""

import gzip
import io
import json

import pytest

from dashboard_api import limits
from dashboard_api.importing.staging import stage
from dashboard_api.scanners import read_report, report
from dashboard_api.scanners.nessus import _properties
from dashboard_api.scanners.report import UnreadableReport
from dashboard_api.scanners.sarif.run import Run
from dashboard_api.scanners.wpscan import findings as wpscan
from tests.dashboard_api.scanners.samples import (
    make_nessus,
    make_nessus_host,
    make_nessus_item,
    make_nmap,
    make_result,
    make_sarif,
    make_zap_alert,
    make_zap_report,
)

pytestmark = pytest.mark.once


def read(data):
    return read_report(io.BytesIO(data if isinstance(data, bytes) else json.dumps(data).encode()))


def staged(data):
    return stage(read(data), "shop.example.com", base_url=None)


def size_of(rows):
    return rows._database.execute("SELECT SUM(LENGTH(row)) FROM report_row").fetchone()[0]


def make_tools_of(count):
    runs = [{"tool": {"driver": {"name": f"tool {number}"}}} for number in range(count)]
    return make_sarif() | {"runs": runs}


def test_a_report_that_takes_too_long_for_its_length_is_refused(monkeypatch):
    clock = iter(range(0, 10_000, 30))
    monkeypatch.setattr(report.time, "thread_time", lambda: next(clock))
    with pytest.raises(UnreadableReport, match="takes too long to read for its length"):
        list(read(make_zap_report(make_zap_alert(instances=[{"uri": "https://shop.example.com/"}] * 5))))


def test_a_longer_report_may_take_longer():
    budget = report.Budget(length=100 * 1024**2)
    budget.spend(seconds=limits.READ_SECONDS + 100 * limits.READ_SECONDS_A_MB)
    with pytest.raises(UnreadableReport, match="too long"):
        budget.spend(seconds=1)


def test_all_reports_of_a_file_have_one_budget():
    first = read(make_tools_of(3))
    assert {id(each.budget) for each in (first, *first.others)} == {id(first.budget)}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_length_is_that_of_the_unpacked_file(pack):
    data = json.dumps(make_sarif(make_result())).encode()
    assert read(pack(data)).budget.length == len(data)


def test_rows_that_share_a_long_text_are_refused_before_they_fill_the_disk(monkeypatch):
    monkeypatch.setattr(limits, "STAGED_MB", 1)
    results = [make_result(partialFingerprints={"a": str(number)}) for number in range(100)]
    rule = {"id": results[0]["ruleId"], "help": {"text": "long " * 10_000}}
    with pytest.raises(UnreadableReport, match="share long texts"):
        staged(make_sarif(*results, rule=rule))


def test_the_texts_of_a_finding_are_staged_once():
    instances = [{"uri": f"https://shop.example.com/{number}"} for number in range(100)]
    alert = make_zap_alert(desc="long " * 10_000, instances=instances)
    rows = staged(make_zap_report(alert))
    assert size_of(rows) < 100_000
    [(_, finding)] = rows.grouped_findings(lambda _: report.datetime(2026, 3, 1))
    assert len(finding.row.description) > 40_000
    assert len(finding.occurrences) == 100


def test_arguments_of_a_message_do_not_make_it_longer_than_it_may_be_stored():
    message = {"text": "{0}" * 10_000, "arguments": ["a" * 100_000]}
    text = Run({}).message(message, {})
    assert 60_000 < len(text) < 100_000


def test_older_identities_of_very_many_fingerprints_are_few():
    fingerprints = {f"name{number:04}": "a" for number in range(2_000)}
    [row] = read(make_sarif(make_result(partialFingerprints=fingerprints)))
    assert "name1999=a" in row.identity[-1]
    assert len(row.aliases) <= 25


def test_ports_that_nmap_names_again_and_again_take_no_time():
    began = report.time.process_time()
    assert len(read(make_nmap(services="0-99999," * 2_000 + "70000")).checks) == 65_536
    assert len(read(make_nmap(services="1-3,2,2-5,9,1-2")).checks) == 6
    assert report.time.process_time() - began < 2


def test_ports_are_those_of_known_protocols():
    data = make_nmap(services="1-2")
    data = data.replace(b"<scaninfo", b'<scaninfo protocol="x" services="7"/><scaninfo', 1)
    assert read(data).checks == {"tcp/1", "tcp/2"}


def test_a_file_of_very_many_tools_is_refused(monkeypatch):
    most = limits.MAX_SARIF_PARTS
    assert len(read(make_tools_of(most)).others) == most - 1
    with pytest.raises(UnreadableReport, match=f"{most + 1} tools and categories"):
        read(make_tools_of(most + 1))


def test_the_name_of_a_host_is_found_once_for_its_items(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "dashboard_api.scanners.nessus._properties", lambda host: calls.append(host) or _properties(host)
    )
    items = [make_nessus_item(pluginID=str(number)) for number in range(50)]
    tags = {"host-fqdn": "shop.example.com"}
    rows = list(read(make_nessus(make_nessus_host(*items, name="192.0.2.7", **tags))))
    assert all("shop.example.com" in row.location for row in rows)
    assert len(calls) < 10


def test_a_long_title_of_wordpress_takes_no_time():
    began = report.time.process_time()
    wpscan._severity({}, "auth" * 60_000)
    assert report.time.process_time() - began < 2
