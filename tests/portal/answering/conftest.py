"""The website, members and service of share links."""

from tests.portal.sharing.conftest import browser, members, stub, website

__all__ = ["browser", "members", "stub", "website"]
