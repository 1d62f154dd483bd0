"""Answers of the service for pages; during an outage, the last good answer.

An outage is a failed connection, a timeout or a 5xx. After a refusal no old answer is shown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import msgspec
from django.utils import timezone

from foundation.operations.metrics import count_last_answer
from portal.answers import service
from portal.models import LastAnswer, Website
from signed_api.errors import CallError, TimedOut, Unreachable
from signed_api.findings import DashboardRequest, DashboardResponse, FindingRequest, FindingResponse

_Answer = TypeVar("_Answer", DashboardResponse, FindingResponse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A failed call, and the time at which the portal received the answer shown instead."""

    error: CallError
    failed_at: datetime
    received_at: datetime


def get_dashboard(website: Website, request: DashboardRequest) -> tuple[DashboardResponse, Outage | None]:
    """Return the dashboard; during an outage, the last stored one with the outage. Raises CallError."""
    return _get_or_last(website, request, DashboardResponse, lambda: service.get_dashboard(website, request))


def get_finding(website: Website, finding_id: str) -> tuple[FindingResponse, Outage | None]:
    """Return one finding; during an outage, the last stored answer with the outage. Raises CallError."""
    request = FindingRequest(finding_id=finding_id)
    return _get_or_last(website, request, FindingResponse, lambda: service.get_finding(website, finding_id))


def _get_or_last(
    website: Website, request: msgspec.Struct, answer_type: type[_Answer], get: Callable[[], _Answer]
) -> tuple[_Answer, Outage | None]:
    try:
        answer = get()
    except (Unreachable, TimedOut) as error:  # a 5xx is Unavailable, a kind of Unreachable
        stored = LastAnswer.objects.read(website, request)
        if stored is None:
            raise
        try:
            old_answer = msgspec.json.decode(stored.body, type=answer_type)
        except msgspec.DecodeError:  # an older portal stored it in another format
            raise error from None
        count_last_answer()
        return old_answer, Outage(error=error, failed_at=timezone.now(), received_at=stored.received_at)
    if not service.is_in_process():  # a service in this process is never down while the portal runs
        LastAnswer.objects.store(website, request, msgspec.json.encode(answer))
    return answer, None
