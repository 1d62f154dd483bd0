"""Which website an address means, to the person who opens it."""

from portal.htmx import HtmxHttpRequest
from portal.models import Website


def website_at(request: HtmxHttpRequest, host: str) -> tuple[Website | None, list[Website]]:
    """The website that the address means, if the person may see it, and all that have this host."""
    doors = list(Website.objects.visible_to(request.user).with_host(host))
    account = request.GET.get("account", "")
    return next((door for door in doors if account in ("", door.account.ref)), None), doors
