"""Every refusal of the service; ``endpoint`` turns each into the JSON error body (contract, "Error body").

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
        InvalidSignature               invalid_signature       (reason, and what the server saw)
        StaleTimestamp                 stale_timestamp         (server_time, window_seconds, skew_seconds)
        ReplayedNonce                  replayed_nonce
    MalformedJson              400     malformed_json
    InvalidRequest             400     invalid_request         (errors)
    UnknownLink                404     unknown_link
    InactiveEntitlement        403     inactive_entitlement    (plan, status, ends_on)
    RevokedLink                403     revoked_link            (revoked_at)
    UnknownFinding             404     unknown_finding
    Unavailable                503     unavailable
        SlowQuestion                   unavailable             (reason, limit_seconds)
    InternalError              500     internal_error

The specification names invalid_signature and stale_timestamp; the others are decision record 0003.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from dashboard_api import limits


class ApiError(Exception):
    """A refusal with its HTTP status, its code, a message for the integrator, and named details."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]
    detail_types: ClassVar[Mapping[str, str | list[str]]] = {}  # JSON Schema types of its possible details
    do_not_call_in_templates: ClassVar = True  # a page lists the classes

    def __init__(self, message: str = "", **details: Any) -> None:
        self.text = message or self.message
        self.details = details
        super().__init__(self.text)

    def headers(self) -> dict[str, str]:
        """Headers that belong to this refusal."""
        return {}


class HttpsRequired(ApiError):
    """An unencrypted call to a deployment that requires https."""

    status, code = 403, "https_required"
    message = "Call this service over https://. Your request was not encrypted, so it was not answered."


class NotFound(ApiError):
    """No such path."""

    status, code = 404, "not_found"
    message = "There is nothing at this path. GET /v1/docs shows those that there are."


class BadRequest(ApiError):
    """The web server or Django refused the request before the endpoint saw it."""

    status, code = 400, "bad_request"
    message = "The request could not be read; check its Host header and its framing."


class MethodNotAllowed(ApiError):
    """The path takes POST only."""

    status, code = 405, "method_not_allowed"
    message = "This path takes POST only."

    def headers(self) -> dict[str, str]:
        """RFC 9110 asks for the methods that are allowed."""
        return {"Allow": "POST"}


class UnexpectedQuery(ApiError):
    """A query string is not signed."""

    status, code = 400, "unexpected_query"
    message = "Send every parameter in the signed JSON body: a query string is not signed."


class UnsupportedMediaType(ApiError):
    """The body is not declared as plain JSON."""

    status, code = 415, "unsupported_media_type"
    message = "Send content-type: application/json in UTF-8, without a content-encoding."


class LengthRequired(ApiError):
    """The length must be known before the body is read."""

    status, code = 411, "length_required"
    message = "Send a Content-Length header with the exact number of bytes; chunked bodies are not read."


class BodyTooLarge(ApiError):
    """The specification's 8 KB, section 8."""

    status, code = 413, "body_too_large"
    message = f"A signed body has at most {limits.MAX_BODY_BYTES} bytes."
    detail_types: ClassVar = {"max_bytes": "integer"}

    def __init__(self) -> None:
        super().__init__(max_bytes=limits.MAX_BODY_BYTES)


class IncompleteBody(ApiError):
    """Fewer bytes than declared."""

    status, code = 400, "incomplete_body"
    message = "The body ended before its Content-Length was reached."


class Unauthenticated(ApiError):
    """The caller has not proven who they are."""

    status = 401

    def headers(self) -> dict[str, str]:
        """RFC 9110 asks for the scheme."""
        return {"WWW-Authenticate": f'ES1 error="{self.code}"'}


class InvalidSignature(Unauthenticated):
    """The signature does not verify; the same answer for an unknown account."""

    code = "invalid_signature"
    message = (
        "The signature does not verify. Sign the exact bytes sent with the site API secret of the account "
        "named in portal_account_ref, and compare body_sha256 with your own digest."
    )
    detail_types: ClassVar = dict.fromkeys(("reason", "body_sha256", "method", "path"), "string")


class StaleTimestamp(Unauthenticated):
    """The timestamp lies outside the window."""

    code = "stale_timestamp"
    message = "The timestamp is outside the accepted window. Set the clock, and sign every attempt again."
    detail_types: ClassVar = dict.fromkeys(("server_time", "window_seconds", "skew_seconds"), "integer")


class ReplayedNonce(Unauthenticated):
    """The nonce was spent before."""

    code = "replayed_nonce"
    message = "This nonce was used before. Every attempt needs a new timestamp and a new nonce."


class MalformedJson(ApiError):
    """The body is not one strict JSON object."""

    status, code = 400, "malformed_json"
    message = "The body must be one JSON object in UTF-8."


class InvalidRequest(ApiError):
    """Fields break their rules; all of them are named at once."""

    status, code = 400, "invalid_request"
    message = "The request has fields that cannot be accepted; see errors."
    detail_types: ClassVar = {"errors": "array"}

    def __init__(self, errors: list[dict[str, str]]) -> None:
        super().__init__(errors=errors)


class UnknownLink(ApiError):
    """Unknown id, another account's id and a wrong host give the same answer."""

    status, code = 404, "unknown_link"
    message = "No website is linked to this account by this link_id and host."


class InactiveEntitlement(ApiError):
    """The account's entitlement does not cover today."""

    status, code = 403, "inactive_entitlement"
    message = "The account's entitlement is not active."
    detail_types: ClassVar = {"plan": ["string", "null"], "status": "string", "ends_on": ["string", "null"]}


class RevokedLink(ApiError):
    """The website's link was revoked."""

    status, code = 403, "revoked_link"
    message = "The link between this account and the website has been revoked."
    detail_types: ClassVar = {"revoked_at": "string"}


class UnknownFinding(ApiError):
    """An id that no finding has and the id of another website's finding give the same answer."""

    status, code = 404, "unknown_finding"
    message = "The website has no finding of this finding_id."


class Unavailable(ApiError):
    """Something the service needs cannot be reached; refused rather than let pass."""

    status, code = 503, "unavailable"
    message = "The service is temporarily unavailable. Sign a new attempt after Retry-After seconds."

    def headers(self) -> dict[str, str]:
        """When to come back."""
        return {"Retry-After": str(limits.RETRY_AFTER_SECONDS)}


class SlowQuestion(Unavailable):
    """The database was stopped, so that nobody else has to wait for this answer."""

    message = (
        f"The answer would take longer than {limits.STATEMENT_SECONDS} seconds. Narrow the question by "
        "severity, source or kind, by more or longer words in query, or by an earlier page; or sign a new "
        "attempt after Retry-After seconds."
    )
    detail_types: ClassVar = {"reason": "string", "limit_seconds": "integer"}

    def __init__(self) -> None:
        super().__init__(reason="slow_question", limit_seconds=limits.STATEMENT_SECONDS)

    def headers(self) -> dict[str, str]:
        """Not soon: the same question costs the same again."""
        return {"Retry-After": str(limits.SLOW_QUESTION_RETRY_AFTER_SECONDS)}


class InternalError(ApiError):
    """Unforeseen; the log has the cause under the request id."""

    status, code = 500, "internal_error"
    message = "Something went wrong on our side. Quote request_id when you ask for help."
