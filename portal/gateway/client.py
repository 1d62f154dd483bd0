"""One signed call, at most one retry, one deadline over both."""

from portal.gateway.messages import Dashboard, Question
from portal.gateway.target import LinkedSite, Upstream


def fetch_dashboard(upstream: Upstream, site: LinkedSite, question: Question) -> Dashboard:
    """The dashboard of ``site`` as ``question`` narrows it; raises GatewayError."""
    raise NotImplementedError
