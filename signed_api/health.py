"""The response about the health of the service."""

from typing import Annotated

from signed_api.values import Member, Number, about


class HealthResponse(Member, frozen=True, kw_only=True):
    """Whether calls are answered now. Compare your clock with server_time before you sign."""

    ok: Annotated[bool, about("Calls are answered.")]
    status: Annotated[
        str, about("ok or degraded. degraded: calls may fail, or results are older than usual.")
    ]
    server_time: Annotated[Number, about("Whole Unix seconds.")]
    window_seconds: Annotated[
        Number, about("How far the timestamp of a signed call may be from server_time.")
    ]
    retry_after: Annotated[
        Number | None, about("Seconds until the next attempt; null while calls are answered.")
    ]
