"""Errors of the API; ``api.request.error_response`` turns each into JSON.

ApiError                       status  code
    HttpsRequired              403     https_required
    NotFound                   404     not_found
    BadRequest                 400     bad_request
    MethodNotAllowed           405     method_not_allowed
    UnexpectedQuery            400     unexpected_query
    UnsupportedMediaType       415     unsupported_media_type
    LengthRequired             411     length_required
    BodyTooLarge               413     body_too_large          (max_bytes)
    IncompleteBody             400     incomplete_body
    Unauthenticated            401
        InvalidSignature               invalid_signature       (reason, mistake, and what was received)
        StaleTimestamp                 stale_timestamp         (server_time, window_seconds, skew_seconds)
        ReplayedNonce                  replayed_nonce
    CallbackRefused            401     invalid_signature       (payment callbacks only)
    RateLimited                429     rate_limited            (reason, limit, used, resets_at)
    MalformedJson              400     malformed_json
    InvalidRequest             400     invalid_request         (errors)
    UnknownLink                404     unknown_link            (host)
    InactiveEntitlement        403     inactive_entitlement    (plan, status, ends_on, reason, starts_on)
    RevokedLink                403     revoked_link            (revoked_at, reason)
    UnknownFinding             404     unknown_finding
    UnknownRun                 404     unknown_run
    UnknownScript              404     unknown_script
    NotPublished               404     not_published           (public telemetry only)
    UnknownClaim               404     unknown_claim           (this and the next three: claims only)
    WrongClaimState            409     wrong_state             (ended_reason)
    WrongState                 409     wrong_state             (answers, messages, scripts)
    AlreadyAnswered            409     already_answered
    SelectionChanged           409     selection_changed       (total, added, removed)
    TooManyOpen                429     too_many_open
    ClaimRefused               409     claim_refused           (reasons)
    CheckTooSoon               429     check_too_soon
    SecretRefused              409     secret_refused          (reason; secrets only)
    UnknownScan                404     unknown_job             (this and the next six: scans only)
    ScansNotIncluded           403     scans_not_included      (reason)
    OptedOut                   403     opted_out
    ConsentMissing             403     consent_missing
    NotScannable               409     not_scannable           (reason)
    ScanCooldown               429     scan_cooldown           (allowed_at, remaining_today)
    CrawlerStopped             503     crawler_stopped
    CallbackTooLarge           413     callback_too_large      (max_bytes; payment callbacks only)
    InvalidToken               401     invalid_token           (this and the next eight: reports only)
    OtherWebsite               403     website_not_allowed
    OtherScanner               403     scanner_not_allowed     (reasons)
    UnknownReport              404     unknown_report
    ReusedKey                  409     idempotency_key_reused
    ReportTooLarge             413     report_too_large        (max_bytes)
    RefusedReport              422     refused_report          (reasons)
    TooManyReports             429     too_many_reports
    LostReport                 500     lost_report
    Unavailable                503     unavailable
        Fenced                        unavailable
        SlowRequest                   unavailable             (reason, limit_seconds)
        BusyWithReports               unavailable             (this and the next: reports only)
        CannotStoreReport             unavailable
    InternalError              500     internal_error

The specification defines invalid_signature and stale_timestamp; decision record 0003 adds the others.
"""

from typing import Any, ClassVar

from dashboard_api import limits


class ApiError(Exception):
    """An error with its HTTP status, code, message for the integrator, and details."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]
    members: ClassVar[tuple[str, ...]] = ()  # extra members of the error in the body
    do_not_call_in_templates: ClassVar = True  # the documentation page lists the classes themselves
    retry_after: int | None = None  # seconds until a new attempt may succeed

    def __init__(self, message: str = "", **details: Any) -> None:
        self.text = message or self.message
        self.details = details
        super().__init__(self.text)

    @property
    def doc_path(self) -> str:
        """The path of the page that explains the error."""
        return f"/v1/docs#error-{self.code}"

    def headers(self) -> dict[str, str]:
        """Return the extra headers of the response."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


class HttpsRequired(ApiError):
    """An unencrypted call to a deployment that requires https."""

    status, code = 403, "https_required"
    message = "Call this service over https://. Your request was not encrypted, so it was not answered."


class NotFound(ApiError):
    """No route has this path."""

    status, code = 404, "not_found"
    message = "Unknown path. GET /v1/docs lists all paths."


class NotPublished(ApiError):
    """The document is not published yet."""

    status, code = 404, "not_published"
    message = "This document is not published yet. The first run of publish_telemetry makes it."


class BadRequest(ApiError):
    """The web server or Django refused the request before the endpoint saw it."""

    status, code = 400, "bad_request"
    message = "The request could not be read; check its Host header and its framing."


class MethodNotAllowed(ApiError):
    """The path does not accept this method."""

    status, code = 405, "method_not_allowed"
    message = "This path takes POST only."

    def __init__(self, allowed: str = "POST") -> None:
        super().__init__(f"This path takes {allowed} only.")
        self._allowed = allowed

    def headers(self) -> dict[str, str]:
        """Return the allowed method, which RFC 9110 requires."""
        return {"Allow": self._allowed}


class UnexpectedQuery(ApiError):
    """The URL has a query string, which a signature does not cover."""

    status, code = 400, "unexpected_query"
    message = "Send every parameter in the signed JSON body: a query string is not signed."


class UnsupportedMediaType(ApiError):
    """The body is not declared as plain JSON."""

    status, code = 415, "unsupported_media_type"
    message = "Send content-type: application/json in UTF-8, without a content-encoding."


class LengthRequired(ApiError):
    """The request has no valid Content-Length."""

    status, code = 411, "length_required"
    message = "Send a Content-Length header with the exact number of bytes; chunked bodies are not read."


class BodyTooLarge(ApiError):
    """The body is longer than 8 KB (specification, section 8)."""

    status, code = 413, "body_too_large"
    message = f"A signed body has at most {limits.MAX_BODY_BYTES} bytes."
    members = ("max_bytes",)

    def __init__(self) -> None:
        super().__init__(max_bytes=limits.MAX_BODY_BYTES)


class IncompleteBody(ApiError):
    """The body is shorter than its Content-Length."""

    status, code = 400, "incomplete_body"
    message = "The body ended before its Content-Length was reached."


class Unauthenticated(ApiError):
    """The caller is not authenticated."""

    status = 401

    def headers(self) -> dict[str, str]:
        """Return the authentication scheme, which RFC 9110 requires."""
        return {"WWW-Authenticate": f'ES1 error="{self.code}"'}


class InvalidSignature(Unauthenticated):
    """The signature does not verify, or the account is unknown."""

    code = "invalid_signature"
    message = (
        "The signature does not verify. Sign the exact bytes sent with the site API secret of the account "
        "named in portal_account_ref. Compare body_sha256 with your own digest of the body, and "
        "canonical_sha256 with that of your six lines: if both are equal, the secret is another one."
    )
    members = (
        "reason",
        "mistake",
        "header",
        "expected",
        "body_sha256",
        "method",
        "path",
        "canonical_sha256",
        "canonical_length",
    )


class CallbackRefused(ApiError):
    """The signature of a payment callback does not verify, or its time is outside the window."""

    status, code = 401, "invalid_signature"
    message = (
        "The signature of this callback does not verify, or its time differs from ours by more than "
        "300 seconds. Sign the exact bytes sent with the secret of this provider."
    )

    def headers(self) -> dict[str, str]:
        """Return the authentication scheme, which RFC 9110 requires."""
        return {"WWW-Authenticate": "Signature"}


class StaleTimestamp(Unauthenticated):
    """The timestamp is outside the window."""

    code = "stale_timestamp"
    message = "The timestamp is outside the accepted window. Set the clock, and sign every attempt again."
    members = ("server_time", "window_seconds", "skew_seconds")


class ReplayedNonce(Unauthenticated):
    """The nonce was used before."""

    code = "replayed_nonce"
    message = "This nonce was used before. Every attempt needs a new timestamp and a new nonce."


class TooSoon(ApiError):
    """A call that comes too early; ``Retry-After`` is ``seconds``, at least 1."""

    def __init__(self, message: str = "", *, seconds: int, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = max(seconds, 1)


class RateLimited(TooSoon):
    """The account makes more calls than its rate limit or plan allows."""

    status, code = 429, "rate_limited"
    message = "This account calls too often. Sign a new attempt after Retry-After seconds."
    members = ("reason", "limit", "used", "resets_at")


class MalformedJson(ApiError):
    """The body is not a strict JSON object."""

    status, code = 400, "malformed_json"
    message = "The body must be one JSON object in UTF-8."


class InvalidRequest(ApiError):
    """Fields break their rules; ``errors`` lists every one."""

    status, code = 400, "invalid_request"
    message = "The request has fields that cannot be accepted; see errors."
    members = ("errors",)

    def __init__(self, errors: list[dict[str, str]]) -> None:
        super().__init__(errors=errors)


class UnknownLink(ApiError):
    """The link id is unknown, belongs to another account, or has another host."""

    status, code = 404, "unknown_link"
    message = "No website is linked to this account by this link_id and host."
    members = ("host",)


class InactiveEntitlement(ApiError):
    """The account's entitlement does not cover the call today."""

    status, code = 403, "inactive_entitlement"
    message = "The account's entitlement is not active."
    members = ("plan", "status", "ends_on", "reason", "starts_on")


class RevokedLink(ApiError):
    """The link was revoked."""

    status, code = 403, "revoked_link"
    message = "The link between this account and the website has been revoked."
    members = ("revoked_at", "reason")


class UnknownFinding(ApiError):
    """The finding id is unknown or belongs to another website."""

    status, code = 404, "unknown_finding"
    message = "The website has no finding of this finding_id."


class UnknownRun(ApiError):
    """A run is unknown, taken back, or of another website or scanner; or there are no two to compare."""

    status, code = 404, "unknown_run"
    message = "The website has no two such runs of one scanner."


class UnknownScript(ApiError):
    """No scan saw a script with this address on the home page of the website."""

    status, code = 404, "unknown_script"
    message = "No scan saw a script with this url on the home page."


class UnknownClaim(ApiError):
    """The claim id is unknown or belongs to another account."""

    status, code = 404, "unknown_claim"
    message = "This account has no claim with this claim_id."


class WrongClaimState(ApiError):
    """The claim has ended."""

    status, code = 409, "wrong_state"
    message = "The claim has ended: send POST /v1/site/claim for a new one."
    members = ("ended_reason",)


class WrongState(ApiError):
    """The finding, the answer or the message is not in a state for this call; nothing was changed."""

    status, code = 409, "wrong_state"
    message = "The finding is not in a state for this: request it again."


class AlreadyAnswered(ApiError):
    """A finding has an open answer, and the call must not replace one; nothing was changed."""

    status, code = 409, "already_answered"
    message = "One of these findings has an open answer already, and the call must not replace it."


class SelectionChanged(ApiError):
    """Other findings match now than in the preview; nothing was changed."""

    status, code = 409, "selection_changed"
    message = "Other findings match now than in the preview: look at a new preview. Nothing was changed."
    members = ("total", "added", "removed")


class TooManyOpen(ApiError):
    """The account has as many open disputes as it may have; nothing was changed."""

    status, code = 429, "too_many_open"
    message = "This account has 200 open disputes. Wait for answers, or withdraw some."
    retry_after = 86_400


class ClaimRefused(ApiError):
    """The website cannot be claimed now; nothing was changed."""

    status, code = 409, "claim_refused"
    message = "This website cannot be claimed; see reasons."
    members = ("reasons",)


class CheckTooSoon(TooSoon):
    """The claim was checked a moment ago, or the account has used up its checks for this hour."""

    status, code = 429, "check_too_soon"
    message = "The claim was checked a short while ago. Ask again after Retry-After seconds."


class SecretRefused(ApiError):
    """The secret cannot be issued or retired; no secret was changed."""

    status, code = 409, "secret_refused"
    message = "The secrets stay as they are; see reason."
    members = ("reason",)


class UnknownScan(ApiError):
    """The job id is unknown or belongs to another website."""

    status, code = 404, "unknown_job"
    message = "The website has no scan with this job_id."


class ScansNotIncluded(ApiError):
    """The plan does not include scans of this profile or frequency."""

    status, code = 403, "scans_not_included"
    message = "The plan of this account does not include these scans."
    members = ("reason",)


class OptedOut(ApiError):
    """The host, its domain or its address is never scanned."""

    status, code = 403, "opted_out"
    message = "This website is never scanned, because this was asked for. Contact support to change it."


class ConsentMissing(ApiError):
    """A deep scan needs the owner's consent, which is missing."""

    status, code = 403, "consent_missing"
    message = "A deep scan attacks the website. Send consent: true if its owner agrees to that for a year."


class NotScannable(ApiError):
    """The website may not be scanned in this way."""

    status, code = 409, "not_scannable"
    message = "The website may not be scanned in this way; see reason."
    members = ("reason",)


class ScanCooldown(TooSoon):
    """The website was scanned a short while ago, or the scans of the day or month are used up."""

    status, code = 429, "scan_cooldown"
    message = "The website was scanned often enough for now. The next scan may begin at allowed_at."
    members = ("allowed_at", "remaining_today")


class CrawlerStopped(ApiError):
    """All scans are stopped, or this deployment does not scan."""

    status, code = 503, "crawler_stopped"
    message = "No website is scanned for now. Try again after Retry-After seconds."
    retry_after = limits.CRAWLER_RETRY_AFTER_SECONDS


class CallbackTooLarge(ApiError):
    """The body of a payment callback is longer than 256 KB."""

    status, code = 413, "callback_too_large"
    message = f"A payment callback has at most {limits.MAX_CALLBACK_BYTES // 1024} KB."
    members = ("max_bytes",)

    def __init__(self) -> None:
        super().__init__(max_bytes=limits.MAX_CALLBACK_BYTES)


class InvalidToken(ApiError):
    """The token is missing or unknown, was revoked, or has ended."""

    status, code = 401, "invalid_token"
    message = (
        "Send the header Authorization: Bearer with a token for reports. This one is missing or unknown, "
        "was revoked, or has ended."
    )

    def headers(self) -> dict[str, str]:
        """Return the authentication scheme, which RFC 6750 requires."""
        return {"WWW-Authenticate": f'Bearer error="{self.code}"'}


class OtherWebsite(ApiError):
    """The token does not include this host; the response does not reveal whether it is a website."""

    status, code = 403, "website_not_allowed"
    message = "This token may not send reports about this host."


class OtherScanner(ApiError):
    """The report comes from a scanner that the token does not include."""

    status, code = 403, "scanner_not_allowed"
    message = "This token may not send reports from this scanner."
    members = ("reasons",)


class UnknownReport(ApiError):
    """The report id is unknown or belongs to another token."""

    status, code = 404, "unknown_report"
    message = "This token has sent no report with this id in the last week."


class ReusedKey(ApiError):
    """The Idempotency-Key was used with another body or other parameters."""

    status, code = 409, "idempotency_key_reused"
    message = "This Idempotency-Key was used with another body or other parameters. Use a new one."


class ReportTooLarge(ApiError):
    """The report is longer than its format allows."""

    status, code = 413, "report_too_large"
    message = (
        f"A report can have at most {limits.MAX_DOCUMENT_BYTES // 1024**2} MB; as JSON lines, "
        f"{limits.MAX_SENT_REPORT_BYTES // 1024**2} MB. Scan in parts, and send one report for each."
    )
    members = ("max_bytes",)

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes=max_bytes)


class RefusedReport(ApiError):
    """The report cannot be imported; nothing was changed."""

    status, code = 422, "refused_report"
    message = "The report cannot be imported, and nothing was changed; see reasons."
    members = ("reasons",)


class TooManyReports(ApiError):
    """The account has too many reports waiting, or has sent too many bytes in 24 hours."""

    status, code = 429, "too_many_reports"
    message = (
        f"{limits.MAX_UNFINISHED_REPORTS} reports of this account are not imported yet. "
        "Send the next one after Retry-After seconds."
    )
    retry_after = limits.REPORT_RETRY_AFTER_SECONDS

    AT_ONCE: ClassVar = (
        "Other reports of this account are being received. Send this one again after Retry-After seconds."
    )
    IN_A_DAY: ClassVar = (
        f"{limits.MAX_SENT_BYTES_A_DAY // 1024**3} GB of reports of this account were sent within 24 hours, "
        "each counted with 1 MB more than it has. Send the next one after Retry-After seconds."
    )

    def __init__(self, message: str = "", *, seconds: int = limits.REPORT_RETRY_AFTER_SECONDS) -> None:
        super().__init__(message)
        self.retry_after = seconds


class LostReport(ApiError):
    """The report was received, but every attempt to import it failed."""

    status, code = 500, "lost_report"
    message = "Something went wrong on our side, and nothing was changed. Send it again with a new key."


class Unavailable(ApiError):
    """The service cannot reach a store that it needs."""

    status, code = 503, "unavailable"
    message = "The service is temporarily unavailable. Sign a new attempt after Retry-After seconds."
    retry_after = limits.RETRY_AFTER_SECONDS


class Fenced(Unavailable):
    """The call may be a replay: its nonce may have been lost when a backup was restored."""

    def __init__(self, seconds: int) -> None:
        super().__init__()
        self.retry_after = max(seconds, 1)


class SlowRequest(Unavailable):
    """The request reached the time limit of the database."""

    message = (
        f"The answer would take longer than {limits.STATEMENT_SECONDS} seconds. Narrow the request by "
        "severity, source or kind, by more or longer words in query, or by an earlier page; or sign a new "
        "attempt after Retry-After seconds."
    )
    members = ("reason", "limit_seconds")

    retry_after = limits.SLOW_REQUEST_RETRY_AFTER_SECONDS  # the same request would be as slow again

    def __init__(self) -> None:
        super().__init__(reason="slow_question", limit_seconds=limits.STATEMENT_SECONDS)


class BusyWithReports(Unavailable):
    """This process is already receiving as many reports as it can."""

    message = "Other reports are being received. Send this one again after Retry-After seconds."
    retry_after = limits.REPORT_RETRY_AFTER_SECONDS


class CannotStoreReport(Unavailable):
    """The service cannot write to the folder of reports, for example because the disk is full."""

    message = "The report cannot be stored now. Send it again after Retry-After seconds."
    retry_after = limits.REPORT_RETRY_AFTER_SECONDS


class InternalError(ApiError):
    """An unexpected error; the log has the cause under the request id."""

    status, code = 500, "internal_error"
    message = "Something went wrong on our side. Quote request_id when you ask for help."
