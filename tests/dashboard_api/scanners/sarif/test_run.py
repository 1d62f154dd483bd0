"""A run of SARIF: the part of the tool's scans that it covers."""

import time

import pytest

from dashboard_api.scanners.sarif.run import Run


def category_of(identity):
    return Run({"automationDetails": {"id": identity}}).category


@pytest.mark.parametrize(
    ("identity", "category"),
    [
        ("codeql/ruby/2026-03-01", "codeql/ruby"),
        ("codeql/ruby/", "codeql/ruby"),
        ("codeql/ruby", "codeql/ruby"),
        ("codeql/face", "codeql/face"),
        ("codeql/face1", "codeql"),
        ("a//", "a/"),
        ("ruby", "ruby"),
        ("42", ""),
        ("", ""),
    ],
)
def test_the_last_part_is_left_out_if_it_names_the_run(identity, category):
    assert category_of(identity) == category


def test_a_long_name_takes_no_time():
    began = time.process_time()
    assert category_of("/" * 100_000 + "x") == "/" * 100_000 + "x"
    assert time.process_time() - began < 1
