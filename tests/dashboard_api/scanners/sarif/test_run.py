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


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("docker://shop", "./docker://shop"),
        ("ubuntu:20.04", "./ubuntu:20.04"),
        ("python:3", "./python:3"),
        ("localhost:3000", "./localhost:3000"),
        ("registry.example.com:5000/shop:3", "./registry.example.com:5000/shop:3"),
        ("pkg:deb/curl@7.50?arch=i386#x", "./pkg:deb/curl@7.50%3Farch=i386%23x"),
        ("urn:uuid:7", "./urn:uuid:7"),
        ("maven:org.example:shop", "./maven:org.example:shop"),
        ("git@git.example.com:shop/app.git", "./git@git.example.com:shop/app.git"),
        ("s3://backups/a%20b", "./s3://backups/a%20b"),
    ],
)
def test_the_name_of_an_image_or_package_is_no_address_of_a_website(uri, address):
    assert Run({}).address({"uri": uri}) == address


@pytest.mark.parametrize(
    "uri",
    [
        "https://shop.example.com/a",
        "HTTP://shop.example.com/a",
        "ldap://shop.example.com:389",
        "shop.example.com:443",
        "192.0.2.7:22",
        "/a",
        "../a",
    ],
)
def test_an_address_that_names_a_host_or_a_path_stays(uri):
    assert Run({}).address({"uri": uri}) == uri


@pytest.mark.parametrize("uri", ["C:\\shop\\src\\a.c", "c:/shop/src/a.c"])
def test_a_path_with_a_drive_is_below_the_source_root(uri):
    root = {"SRCROOT": {"uri": f"file:///{uri[0]}:/shop/"}}
    assert Run({"originalUriBaseIds": root}).address({"uri": uri}) == "./src/a.c"
