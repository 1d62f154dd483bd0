"""The response that lists the calls of an account."""

from dashboard_api.contract.cursor import CallPosition
from dashboard_api.models import Secret, SiteLink
from dashboard_api.models.sites import original_host
from dashboard_api.queries.account_calls import CallRow, Reader, calls_of
from signed_api import account as contract
from signed_api.account import CallsRequest


def build_calls(account_id: int, request: CallsRequest, *, reader: Reader) -> contract.CallsResponse:
    """Return one page of the account's calls that match the request, newest first."""
    found = calls_of(account_id, request, reader=reader, count=request.page_size + 1)
    shown = found[: request.page_size]
    hints = dict(Secret.objects.filter(account_id=account_id).values_list("pk", "hint"))
    links = SiteLink.objects.filter(account_id=account_id, pk__in={call.link_id for call in shown})
    # original_host: a former owner must not learn that another account has proven the website since.
    hosts = {pk: original_host(host) for pk, host in links.values_list("pk", "website__host")}
    last = shown[-1] if len(found) > len(shown) else None
    return contract.CallsResponse(
        ok=True,
        calls=[_call(call, hosts, hints) for call in shown],
        before=str(CallPosition(at=last.at, request_id=last.request_id)) if last else None,
    )


def _call(call: CallRow, hosts: dict[int, str], hints: dict[int, str]) -> contract.SignedCall:
    return contract.SignedCall(
        at=call.at,
        route=call.route,
        host=hosts.get(call.link_id) if call.link_id else None,
        secret_id=str(call.secret_id),
        secret_hint=hints.get(call.secret_id, ""),
        status=call.status,
        code=call.code or None,
        request_id=call.request_id,
        address=call.address,
    )
