"""Reports of Nikto up to 2.5, with texts as its plugins print them."""

from hypothesis import given
from hypothesis import strategies as st

from dashboard_api.scanners import nikto
from dashboard_api.scanners.report import UnreadableReport
from tests.dashboard_api.scanners.samples import read_whole

HOST = r'{"host":"shop.example.com","ip":"192.0.2.7","port":"443","banner":"Apache \"x\"","vulnerabilities":['
OTHER_HOST = HOST.replace("shop.", "www.shop.")
FIRST = r'{"id":000012,"OSVDB":7,"method":"GET","url":"/a?x="y"","msg":"Says \"hello\" of C:\x\"},'
SECOND = r'{"id":999100,"url":"/","msg":"Contents: a],{\"b\"},] end"},'
QUOTED = r'{"id": "740001","OSVDB": "0","method":"HEAD","url":"/dump.tar","msg":"A \\\"b\\\" \u00e9"}'
# By the first of these versions, the next, and 2.5.
COMMAS = f"{HOST}{FIRST}{SECOND}],{OTHER_HOST}{SECOND}],}}\n".encode()
GLUED = f"{HOST}{QUOTED}]}}{OTHER_HOST},{QUOTED},{QUOTED}]}}\n".encode()
RAW_QUOTE = f"[{HOST}{QUOTED}]}}]".replace("/dump.tar", '/<a x="y">').encode()


def read(data):
    return read_whole(nikto, data)


def facts(report):
    return [(finding.rule, finding.title, finding.location) for finding in report.findings]


def test_commas_after_the_last_and_numbers_without_quotes_are_read():
    report = read(COMMAS)
    assert facts(report) == [
        ("000012", 'Says "hello" of C:\\x\\', 'https://shop.example.com:443/a?x="y"'),
        ("999100", 'Contents: a],{"b"},] end', "https://shop.example.com:443/"),
        ("999100", 'Contents: a],{"b"},] end', "https://www.shop.example.com:443/"),
    ]
    assert report.findings[0].evidence.startswith(
        'Nikto\'s id: 000012\nMethod: GET\nURL: /a?x="y"\nIP address: 192.0.2.7\nServer: Apache "x"\nOSVDB: 7'
    )
    assert report.rejects == ()


def test_hosts_that_are_glued_together_are_read():
    report = read(GLUED)
    assert [location for *_, location in facts(report)] == [
        "https://shop.example.com:443/dump.tar",
        "https://www.shop.example.com:443/dump.tar",
        "https://www.shop.example.com:443/dump.tar",
    ]
    assert report.findings[0].title == 'A "b" é'


def test_what_was_found_before_a_host_begins_is_of_this_host():
    for early in (QUOTED, f"{QUOTED},{QUOTED}", f"{FIRST}{QUOTED}"):
        report = read(f"[{early}{HOST},{QUOTED},{QUOTED}]}}{OTHER_HOST},{QUOTED}]}}]".encode())
        locations = [location.partition(":443/")[0] for *_, location in facts(report)]
        assert locations[-1] == "https://www.shop.example.com"
        assert locations[:-1] == ["https://shop.example.com"] * (early.count('"msg"') + 2)


def test_a_host_without_items_says_what_was_checked():
    report = read(f"{HOST}],{OTHER_HOST}{SECOND}],}}".encode())
    assert [check.location for check in report.coverage] == ["https://shop.example.com:443"]
    assert len(report.findings) == 1


@given(data=st.data())
def test_damaged_report_is_read_or_refused(data):
    sample = data.draw(st.sampled_from([COMMAS, GLUED, RAW_QUOTE]))
    start = data.draw(st.integers(0, len(sample)))
    damage = data.draw(st.binary(max_size=4))
    try:
        report = read(sample[:start] + damage + sample[start + len(damage) :])
    except UnreadableReport:
        return
    assert report.rows == len(report.findings) + len(report.coverage) + len(report.rejects)
