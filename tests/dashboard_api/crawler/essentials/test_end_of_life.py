"""Software without support, on fixed days and without a network."""

from datetime import date, timedelta

import pytest

from dashboard_api.crawler.essentials import end_of_life
from dashboard_api.crawler.essentials.end_of_life import TABLE, of_headers, of_page

TODAY = date(2026, 11, 29)


def of(today=TODAY, **headers):
    values = {name.replace("_", "-"): value for name, value in headers.items()}
    return [(each.product, each.version, each.severity) for each in of_headers(values, today)]


def test_the_last_day_is_a_supported_one_and_the_next_is_not():
    last_day = TABLE.product["PHP"]["8.2"]
    assert of(last_day, X_Powered_By="PHP/8.2.30") == []
    assert of(last_day + timedelta(days=1), X_Powered_By="PHP/8.2.30") == [("PHP", "8.2", "medium")]


@pytest.mark.parametrize(
    ("server", "wanted"),
    [
        ("Apache/2.2.34 (Unix) OpenSSL/1.0.2u PHP/5.6.40", ["Apache", "OpenSSL", "PHP"]),
        ("Apache/2.4.99 (Win64) OpenSSL/1.1.1g", ["OpenSSL"]),
        ("Apache/2.4.6 (CentOS) OpenSSL/1.0.2k-fips PHP/5.4.16", []),
        ("Apache/2.4.52 () OpenSSL/1.0.2k-fips", []),
        ("nginx/1.18.0 (Ubuntu)", []),
        ("nginx/1.10.3", ["nginx"]),
        ("openresty/1.10.3", []),
        ("nginx/1.1.19", []),  # a series without a known last day
        ("Apache-Coyote/1.1", []),
        ("Microsoft-IIS/10.0", []),
        ("Microsoft-IIS/7.5", ["IIS"]),
        ("Apache", []),
        ("PHP/", []),
        ("nginx/" + "9" * 400, []),
    ],
)
def test_a_server_without_support_is_one_that_no_distribution_patches(server, wanted):
    assert sorted(product for product, _, _ in of(Server=server)) == wanted


def test_a_distribution_in_one_header_counts_for_all_of_them():
    assert of(Server="Apache/2.4.41 (Ubuntu)", X_Powered_By="PHP/7.4.3") == []
    assert of(Server="Apache/2.4.41 (Unix)", X_Powered_By="PHP/7.4.3") == [("PHP", "7.4", "medium")]


def test_a_version_that_a_distribution_ships_without_its_name_is_a_low_risk():
    [ended] = of_headers({"Server": "nginx/1.22.1"}, TODAY)
    assert ended.severity == "low"
    assert "Debian 12 ships this version" in ended.evidence


def test_the_evidence_has_the_version_the_last_day_and_where_it_was_read():
    [ended] = of_headers({"X-Powered-By": "PHP/7.4.33"}, TODAY)
    assert ended.evidence.splitlines()[:2] == [
        "PHP 7.4 was supported until 2022-11-28.",
        "X-Powered-By: PHP/7.4.33",
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("WordPress 4.6.1", ["4.6"]),
        ("WordPress 4.7", []),
        ("Drupal 9 (https://www.drupal.org)", ["9"]),
        ("Joomla! 3.9 - Open Source", ["3"]),
        ("TYPO3 CMS 11.5", ["11"]),
        ("nginx/1.10.3", []),  # no page is made with it
        ("WordPress", []),
    ],
)
def test_a_page_says_what_it_was_made_with(text, wanted):
    assert [each.version for each in of_page([text], TODAY)] == wanted


def test_every_product_of_the_table_is_read_and_every_day_is_one():
    assert TABLE.product.keys() == end_of_life._PRODUCTS.keys()
    assert {product for product, _, _ in TABLE.shipped} <= TABLE.product.keys()
    assert all(date(2000, 1, 1) < day for series in TABLE.product.values() for day in series.values())
