from datetime import UTC, date, datetime

import pytest
from django.contrib.auth.models import AnonymousUser

from foundation.operations.request_ids import begin_request
from portal.gateway.errors import Misconfigured, ServiceDown, TooManyCalls
from portal.pages.error_pages import error_page_for, unknown_website
from signed_api.errors import (
    AlreadyAnswered,
    BadResponse,
    CallError,
    CannotConnect,
    CheckTooSoon,
    ClaimEnded,
    ClaimRefused,
    FieldError,
    InactiveEntitlement,
    InvalidRequest,
    RateLimited,
    Refused,
    ReusedKey,
    RevokedLink,
    ScanRefused,
    SecretRefused,
    SelectionChanged,
    SignatureRefused,
    SlowRequest,
    TimedOut,
    TooManyDisputes,
    Unavailable,
    UnknownClaim,
    UnknownFinding,
    UnknownLink,
    UnknownRun,
    UnknownScan,
    UnknownScript,
    Unreachable,
)
from tests.structs import refused

UPSTREAM_TEXT = "<b>raw text of the service</b>"
EXPIRED = refused(InactiveEntitlement, plan="standard", status="expired", ends_on=date(2026, 10, 31))
PAUSED = refused(InactiveEntitlement, plan="standard", status="active", ends_on=None, reason="websites_limit")
EARLY = refused(
    InactiveEntitlement, plan="standard", status="active", ends_on=None, starts_on=date(2026, 10, 31)
)
ENDED_EARLY = refused(InactiveEntitlement, plan="standard", status="expired", ends_on=date(2199, 10, 31))
SUSPENDED = refused(InactiveEntitlement, plan="standard", status="suspended", ends_on=date(2199, 10, 31))


def by_reason(reason):
    return refused(RevokedLink, revoked_at=datetime(2026, 11, 3, tzinfo=UTC), reason=reason)


UNKNOWN_SCANNER = refused(InvalidRequest, errors=[FieldError(field="source")])
LAPSED = refused(RevokedLink, revoked_at=None, reason="ownership_lapsed")
REVOKED = refused(RevokedLink, revoked_at=datetime(2026, 11, 3, 14, 5, tzinfo=UTC))

# error, HTTP status, text, whether a retry may help
TABLE = [
    (EXPIRED, 403, "Standard (Expired). Its last day: 31 Oct 2026.", False),
    (ENDED_EARLY, 403, "Standard (Expired). Renew the plan", False),
    (SUSPENDED, 403, "Standard (Suspended). Contact us to see the results again", False),
    (EARLY, 403, "Its first day: 31 Oct 2026.", False),
    (PAUSED, 403, "includes fewer websites", False),
    (REVOKED, 403, "removed this website from your organization on 3 Nov 2026", False),
    (by_reason("by_operator"), 403, "It is verified, but our team removed it", False),
    (by_reason("claim_ended"), 403, "Add the website again", False),
    (by_reason("proof_awaited"), 403, "its new proof is not complete", False),
    (LAPSED, 403, "could not find the token for 14 days", False),
    (UnknownLink(), 404, "is not in your organization", False),
    (UnknownFinding(), 404, "Finding not found", False),
    (
        refused(InvalidRequest, errors=[FieldError(field="source")]),
        400,
        "a scanner that this website does not have",
        False,
    ),
    (RateLimited(retry_after=30), 503, "in 30 seconds", True),
    (RateLimited(), 503, "Wait a moment", True),
    (CheckTooSoon(retry_after=9), 503, "in 9 seconds", True),
    (SlowRequest(retry_after=30), 503, "Use more filters", True),
    (TooManyCalls(UPSTREAM_TEXT), 503, "The portal is busy", True),
    (TimedOut(UPSTREAM_TEXT), 504, "taking too long", True),
    (Unreachable(UPSTREAM_TEXT), 502, "cannot be reached", True),
    (CannotConnect(UPSTREAM_TEXT), 502, "cannot be reached", True),
    (Unavailable(retry_after=5), 503, "cannot be reached", True),
    (ServiceDown(UPSTREAM_TEXT), 502, "cannot be reached", True),
    (refused(SignatureRefused, code="stale_timestamp", server_time=1), 502, "Temporarily unavailable", True),
    (AlreadyAnswered(), 502, "Temporarily unavailable", True),  # like these: the form of an answer says it
    (SelectionChanged(), 502, "Temporarily unavailable", True),
    (TooManyDisputes(), 502, "Temporarily unavailable", True),
    (ReusedKey(), 502, "Temporarily unavailable", True),
    (UnknownRun(), 502, "Temporarily unavailable", True),  # like the next one: the pages of scans are 404
    (UnknownScript(), 502, "Temporarily unavailable", True),  # the page of scripts has a message instead
    (UnknownScan(), 502, "Temporarily unavailable", True),  # like the next one: the pages of scans say it
    (refused(ScanRefused, http_status=503, code="crawler_stopped"), 502, "Temporarily unavailable", True),
    (UnknownClaim(), 502, "Temporarily unavailable", True),  # like the next two: the pages of claims say it
    (ClaimEnded(), 502, "Temporarily unavailable", True),
    (refused(ClaimRefused, reasons=[UPSTREAM_TEXT]), 502, "Temporarily unavailable", True),
    (refused(SecretRefused, reason=UPSTREAM_TEXT), 502, "Temporarily unavailable", True),  # like these
    (refused(Refused, http_status=400, code="invalid_request"), 502, "Temporarily unavailable", True),
    (BadResponse(UPSTREAM_TEXT), 502, "Temporarily unavailable", True),
    (Misconfigured(UPSTREAM_TEXT), 502, "Temporarily unavailable", True),
]


def words_of(error_page):
    return f"{error_page.title} {error_page.text} {error_page.advice}"


def concrete_errors(base=CallError):
    for error in base.__subclasses__():
        yield error
        yield from concrete_errors(error)


@pytest.mark.parametrize(("error", "status", "words", "can_retry"), TABLE)
def test_every_error_has_its_page(error, status, words, can_retry):
    error_page = error_page_for(error)
    assert (error_page.status, error_page.can_retry) == (status, can_retry)
    assert words in words_of(error_page)


def test_no_error_of_the_gateway_is_forgotten():
    assert {type(error) for error, *_ in TABLE} == {*concrete_errors(), Refused}


@pytest.mark.parametrize("error", [error for error, *_ in TABLE], ids=lambda error: type(error).__name__)
def test_a_screen_shows_no_text_and_no_code_of_the_service(error):
    words = words_of(error_page_for(error))
    assert UPSTREAM_TEXT not in words
    assert getattr(error, "code", "no code") not in words


def test_a_screen_names_the_portals_request_which_the_service_has_on_record():
    request_id = begin_request().request_id
    assert error_page_for(TimedOut(request_id="req-1")).reference == request_id
    assert error_page_for(TimedOut()).reference == request_id


def test_unknown_link_and_unknown_website_have_the_same_page():
    begin_request()
    assert error_page_for(UnknownLink(request_id="r")) == unknown_website(AnonymousUser())


def test_actions_lead_where_the_deployment_says(settings):
    assert [(action.label, action.url) for action in error_page_for(EXPIRED).actions] == [
        ("Renew the plan", settings.RENEW_URL)
    ]
    assert [action.url for action in error_page_for(REVOKED).actions] == [settings.SUPPORT_URL]


def test_a_suspended_account_is_led_to_support_because_no_payment_ends_it(settings):
    assert [action.url for action in error_page_for(SUSPENDED).actions] == [settings.SUPPORT_URL]
    assert "Renew" not in words_of(error_page_for(SUSPENDED))


def test_actions_without_an_address_are_not_offered(settings):
    settings.RENEW_URL = settings.SUPPORT_URL = settings.LINK_URL = ""
    assert error_page_for(EXPIRED).actions == ()


def test_a_renewal_that_needs_the_payers_reference_begins_on_the_page_of_the_plan(settings):
    settings.RENEW_URL = "https://example.com/renew?ref={billing_ref}"
    assert [action.url for action in error_page_for(EXPIRED).actions] == ["/plan/"]


@pytest.mark.parametrize(
    "error", [UnknownLink(), by_reason("claim_ended"), LAPSED], ids=["unknown", "ended", "lapsed"]
)
def test_only_people_who_may_link_websites_are_led_to_where_that_is_done(settings, error):
    settings.LINK_URL = settings.SUPPORT_URL = ""
    [action] = error_page_for(error, linking_url="/websites/add/").actions
    assert action.url == "/websites/add/"
    assert error_page_for(error).actions == ()


def test_a_deployment_that_links_websites_elsewhere_has_no_page_of_proofs(settings):
    error_page = error_page_for(LAPSED, linking_url=settings.LINK_URL)
    assert [action.url for action in error_page.actions] == [settings.SUPPORT_URL]


@pytest.mark.parametrize("error", [RateLimited(retry_after=30), SlowRequest(retry_after=30)])
def test_the_response_says_how_long_to_wait(error):
    assert error_page_for(error).retry_after == 30


def test_missing_dates_stay_missing():
    error = refused(InactiveEntitlement, plan="standard", status="suspended", ends_on=None)
    assert error_page_for(error).text == "Your plan: Standard (Suspended)."
    assert (
        "removed this website from your organization."
        in error_page_for(refused(RevokedLink, revoked_at=None)).text
    )


@pytest.mark.parametrize(("retry_after", "seconds"), [(0, 30), (7, 7)])
def test_too_many_requests_always_names_a_time_to_come_back(retry_after, seconds):
    error_page = error_page_for(RateLimited(retry_after=retry_after))
    assert (error_page.title, error_page.retry_after) == ("Too many requests at once", seconds)
