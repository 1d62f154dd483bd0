"""Why the service could not be asked, or did not answer with a dashboard.

GatewayError
    Refused                  the service said no, with a code of its contract
        SignatureRefused     401: our secret or our clock is wrong; the operator must act
        InactiveEntitlement  403 inactive_entitlement: plan, status, ends_on
        RevokedLink          403 revoked_link: revoked_at
        UnknownLink          404 unknown_link
        UnknownFinding       404 unknown_finding
        RateLimited          429: retry_after seconds
        SlowQuestion         503 unavailable, by reason slow_question: retry_after seconds
        Rejected             any other 4xx: the portal asked something the service does not take
    Unreachable              no connection, connection lost, or any other 5xx
        CannotConnect        nothing was sent
    TimedOut                 the deadline passed
    TooManyCalls             not sent: too many calls are waiting already
    BadAnswer                an answer that is no dashboard: not JSON, wrong shape, too large, a redirect
    Misconfigured            the portal has no usable secret or base URL
"""

from datetime import date, datetime


class GatewayError(Exception):
    """``request_id`` is the service's own, where it gave one; never shown text of the service's."""

    def __init__(self, message: str = "", *, request_id: str = "") -> None:
        self.request_id = request_id
        super().__init__(message)


class Refused(GatewayError):
    """An error body of the contract: ``status`` and ``code``."""

    def __init__(self, *, status: int, code: str, request_id: str = "") -> None:
        self.status = status
        self.code = code
        super().__init__(f"{status} {code}", request_id=request_id)


class SignatureRefused(Refused):
    """401, whatever the code; ``skew_seconds`` is our clock minus the service's, where it told its own."""

    def __init__(self, *, code: str, skew_seconds: int | None = None, request_id: str = "") -> None:
        self.skew_seconds = skew_seconds
        super().__init__(status=401, code=code, request_id=request_id)


class InactiveEntitlement(Refused):
    """The account's plan does not cover the dashboard now."""

    def __init__(
        self, *, plan: str, entitlement_status: str, ends_on: date | None, request_id: str = ""
    ) -> None:
        self.plan = plan
        self.entitlement_status = entitlement_status
        self.ends_on = ends_on
        super().__init__(status=403, code="inactive_entitlement", request_id=request_id)


class RevokedLink(Refused):
    """The website's link has been revoked."""

    def __init__(self, *, revoked_at: datetime | None, request_id: str = "") -> None:
        self.revoked_at = revoked_at
        super().__init__(status=403, code="revoked_link", request_id=request_id)


class UnknownLink(Refused):
    """The link id and the host do not belong together."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=404, code="unknown_link", request_id=request_id)


class UnknownFinding(Refused):
    """The website has no such finding."""

    def __init__(self, *, request_id: str = "") -> None:
        super().__init__(status=404, code="unknown_finding", request_id=request_id)


class RateLimited(Refused):
    """``retry_after`` in seconds; 0 when the service did not say."""

    def __init__(self, *, retry_after: int = 0, request_id: str = "") -> None:
        self.retry_after = retry_after
        super().__init__(status=429, code="rate_limited", request_id=request_id)


class SlowQuestion(Refused):
    """The service gave the question up; ``retry_after`` in seconds, 0 when it did not say."""

    def __init__(self, *, retry_after: int = 0, request_id: str = "") -> None:
        self.retry_after = retry_after
        super().__init__(status=503, code="unavailable", request_id=request_id)


class Rejected(Refused):
    """The service does not take what the portal asked."""


class Unreachable(GatewayError):
    """Nobody answered, or the service is down."""


class CannotConnect(Unreachable):
    """Nothing was sent, so asking again is safe."""


class TimedOut(GatewayError):
    """The answer did not arrive before the deadline."""


class TooManyCalls(GatewayError):
    """Too many calls are waiting; nothing was sent, so that threads stay free for pages without a call."""


class BadAnswer(GatewayError):
    """What arrived is not what the contract promises."""


class Misconfigured(GatewayError):
    """The portal itself lacks what it needs to ask."""
