"""The file of RetireJS: what is read of it, and what a wrong or slow one does."""

import json
import time

import pytest

from dashboard_api.crawler.essentials.scripts import retirejs
from dashboard_api.crawler.essentials.scripts.libraries import TABLE, readings_of

SLIDER = {
    "vulnerabilities": [
        {
            "below": "2.0.0",
            "atOrAbove": "1.0.0",
            "severity": "high",
            "identifiers": {"CVE": ["CVE-2020-99999"], "summary": "XSS"},
        },
        {"below": "3.0.0", "severity": "low", "identifiers": {"retid": "1"}},
    ],
    "extractors": {
        "filename": ["slider-(§§version§§)(\\.min)?\\.js"],
        "uri": ["/slider@(§§version§§)/"],
        "filecontent": ["/\\*! Slider v(§§version§§)", "(?<name>.)[^]"],
        "func": ["slider.version"],
    },
}


@pytest.fixture
def read(tmp_path):
    def read(content):
        file = tmp_path / "retire.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return retirejs.read(file)

    return read


def found(libraries, url="https://a.example/a.js", body=b""):
    return [
        (each.library.name, each.version, [hole.id for hole in each.library.holes_of(each.version)])
        for each in readings_of(url, body, libraries)
    ]


def test_a_library_that_we_do_not_know_is_found_by_address_and_by_content(read):
    libraries = read({"slider": SLIDER})
    wanted = [("slider", "1.4.0", ["CVE-2020-99999"])]
    assert found(libraries, "https://a.example/js/slider-1.4.0.min.js") == wanted
    assert found(libraries, "https://cdn.example/slider@1.4.0/x.js") == wanted
    assert found(libraries, body=b"/*! Slider v1.4.0 */") == wanted
    assert found(libraries, body=b"/*! Slider v2.0.0 */") == [("slider", "2.0.0", [])]


def test_our_own_libraries_get_more_holes_and_keep_theirs(read):
    ranges = [{"below": "3.9.0"}]
    more = {"vulnerabilities": [{"ranges": ranges, "identifiers": {"CVE": ["CVE-2027-1000"]}}]}
    libraries = read({"jquery": more, "angularjs": {"vulnerabilities": 1}})
    [(_, _, holes)] = found(libraries, "https://a.example/jquery-3.4.1.js")
    assert holes == ["CVE-2020-11022", "CVE-2020-11023", "CVE-2027-1000"]
    assert len(libraries) == len(TABLE.library)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[]", "RetireJS's JSON"),
        ("{", "RetireJS's JSON"),
        ("{}", "no library"),
        ('{"a": {"vulnerabilities": [], "extractors": {}}}', "no library"),
    ],
)
def test_a_wrong_file_is_refused_with_a_reason(read, content, why):
    with pytest.raises(retirejs.WrongFile, match=why):
        read(content)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(retirejs.WrongFile, match="No such file"):
        retirejs.read(tmp_path / "retire.json")


def test_a_slow_pattern_is_stopped(read):
    slow = {**SLIDER, "extractors": {"filecontent": ["((a+)+)+(§§version§§)x"]}}
    libraries = read({"slider": slow})
    begun = time.process_time()
    with pytest.raises(retirejs.TooSlow), retirejs.limited(0.2):
        found(libraries, body=b"a" * 100_000)
    assert time.process_time() - begun < 5
