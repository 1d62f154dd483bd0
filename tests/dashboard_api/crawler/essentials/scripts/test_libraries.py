"""Libraries by address and content, and their versions; without a network."""

import re
import time

import pytest

from dashboard_api.crawler.essentials.scripts import report
from dashboard_api.crawler.essentials.scripts.libraries import SEVERITIES, TABLE, readings_of
from dashboard_api.crawler.essentials.scripts.versions import is_in, key_of, without_form

URLS = {
    "https://a.example/jquery-3.4.1.min.js": ("jquery", "3.4.1"),
    "https://a.example/jquery-3.4.1.slim.min.js?v=2": ("jquery", "3.4.1"),
    "https://cdn.example/ajax/libs/jquery/3.4.1/jquery.min.js": ("jquery", "3.4.1"),
    "https://a.example/jquery-3.4.1.min.dc5e7f18c8d3.js": ("jquery", "3.4.1"),
    "https://cdn.example/npm/jquery@3.4.1": ("jquery", "3.4.1"),
    "https://cdn.example/combine/npm/axios@0.21.1,npm/vue@3.4.21": ("vue", "3.4.21"),
    "https://cdn.example/jquery@1.9.0b1/jquery.js": ("jquery", "1.9.0b1"),
    "https://a.example/wp-includes/js/underscore.min.js?ver=1.8.3": ("underscore", "1.8.3"),
    "https://a.example/wp-includes/js/jquery/ui/core.min.js?ver=1.12.1": ("jquery-ui", "1.12.1"),
    "https://code.jquery.com/ui/1.12.1/jquery-ui.min.js": ("jquery-ui", "1.12.1"),
    "https://cdn.datatables.net/1.10.19/js/jquery.dataTables.min.js": ("datatables", "1.10.19"),
    "https://cdn.ckeditor.com/4.9.2/full/ckeditor.js": ("ckeditor", "4.9.2"),
    "https://cdn.example/twitter-bootstrap/4.0.0-beta.2/js/bootstrap.min.js": ("bootstrap", "4.0.0-beta.2"),
}


@pytest.mark.parametrize("url", URLS)
def test_an_address_names_a_library_and_its_version(url):
    assert [(each.library.name, each.version) for each in readings_of(url, b"", TABLE.library)][:1] == [
        URLS[url]
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/jquery.min.js",
        "/jquery-ui.min.js?ver=1.12.1",
        "/wp-content/plugins/a/jquery.min.js?ver=1.2.3",
        "/assets/3.4.1/app.js",
        "/jquery.cookie-1.4.1.min.js",
        "/jquery-3.min.js",
        "/vue@2/dist/vue.js",
        "/notjquery-1.4.1.js",
        "/ckeditor5/4.1.0/ckeditor.js",
    ],
)
def test_other_addresses_name_none(path):
    assert readings_of(f"https://a.example{path}", b"", TABLE.library) == []


def test_the_table_has_15_libraries_with_well_known_vulnerabilities_and_limits_that_can_be_compared():
    assert len(TABLE.library) == 15
    for library in TABLE.library:
        assert library.holes
        for hole in library.holes:
            assert re.fullmatch(r"CVE-\d{4}-\d{4,8}", hole.id)
            assert hole.severity in SEVERITIES[:3]
            assert key_of(hole.below)
            assert not hole.first or key_of(hole.first) < key_of(hole.below)


def test_every_banner_has_a_version_and_no_repetition_without_a_limit():
    for library in TABLE.library:
        for pattern in (*library.banners, *library.urls):
            assert re.compile(pattern).groups == 1
            assert not re.search(r"(?<!\\)[*+](?!\?)", re.sub(r"\[[^]]*\]|\\.", "", pattern)), pattern


@pytest.mark.parametrize(
    ("version", "first", "below", "is_within"),
    [
        ("3.4.1", "1.2.0", "3.5.0", True),
        ("3.5.0", "1.2.0", "3.5.0", False),
        ("3.5.0-rc.1", "", "3.5.0", True),
        ("3.10.0", "", "3.9.0", False),
        ("1.8", "", "1.8.1", True),
        ("1.9.0b1", "", "1.9.0", True),
        ("1.12.4-wp", "", "3.5.0", False),
        ("1.12.4-aem", "", "3.5.0", False),
    ],
)
def test_versions_are_compared_by_numbers_and_builds_with_patches_are_not(version, first, below, is_within):
    assert is_in(version, first, below) is is_within


def test_a_form_of_a_file_is_no_part_of_the_version():
    assert [without_form(each) for each in ("3.4.1-slim", "3.4.1-min", "1.0.0-rc.1")] == [
        "3.4.1",
        "3.4.1",
        "1.0.0-rc.1",
    ]


@pytest.mark.parametrize(
    "unit", [b"/*! jQuery v1", b"/*!\n * ", b'.version="1.2",a=b,', b"//! version : 1.", b"*/ \n"]
)
def test_a_hostile_script_keeps_no_search_busy(unit):
    body = (unit * report.SCRIPT_BYTES)[: report.SCRIPT_BYTES]
    begun = time.process_time()
    readings_of("https://a.example/a.js", body, TABLE.library)
    assert time.process_time() - begun < 5
