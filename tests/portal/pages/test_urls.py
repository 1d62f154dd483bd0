"""URLs that the settings shape."""

import pytest

from portal.pages.urls import payment_url, renewal_url


@pytest.mark.parametrize(
    ("template", "reference", "url"),
    [
        ("https://example.com/pay?ref={billing_ref}", "0b0c6d3e", "https://example.com/pay?ref=0b0c6d3e"),
        (
            "https://example.com/{billing_ref}?r={billing_ref}",
            "a b/&c",
            "https://example.com/a%20b%2F%26c?r=a%20b%2F%26c",
        ),
        ("https://example.com/pay", "0b0c6d3e", "https://example.com/pay"),
        ("", "0b0c6d3e", ""),
    ],
)
def test_the_checkout_gets_the_payers_reference_where_the_address_has_its_place(
    settings, template, reference, url
):
    settings.RENEW_URL = template
    assert payment_url(reference) == url


@pytest.mark.parametrize(
    ("template", "url"),
    [
        ("https://example.com/pay?ref={billing_ref}", "/plan/"),
        ("https://example.com/pay", "https://example.com/pay"),
        ("", ""),
    ],
)
def test_a_page_without_the_reference_leads_to_the_page_of_the_plan(settings, template, url):
    settings.RENEW_URL = template
    assert renewal_url() == url
