"""The host of a finding's first location, the filter of lists."""

import re
from typing import TYPE_CHECKING, Any

from django.db import models

from foundation.addresses.hosts import MAX_HOST_LENGTH

if TYPE_CHECKING:
    from dashboard_api.models.findings import Finding

# "https://", or "//" alone; then an IPv6 address in brackets, or the text before port, path or query.
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE | re.ASCII)
_HOST = re.compile(r"\[([^\]]*)\]|([^/?#:\[\]]*)")


def host_of(location: str) -> str:
    """Return the host of a stored location, which may lack a scheme; empty without one."""
    scheme = _SCHEME.match(location)
    match = _HOST.match(location, scheme.end() if scheme else 0)
    host = (match.group(1) or match.group(2) or "") if match else ""
    return host.lower()[:MAX_HOST_LENGTH]


class HostField(models.CharField):  # type: ignore[type-arg]  # of texts
    """The host of a finding; the ORM computes it from the location on every save."""

    def deconstruct(self) -> Any:
        """Describe a plain field of Django, because migrations do not import the product."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.CharField", args, kwargs

    def pre_save(self, model_instance: "models.Model", add: bool) -> Any:
        """Return the host, and set it on the finding."""
        finding: Finding = model_instance  # type: ignore[assignment]
        finding.host = host_of(finding.location)
        return finding.host
