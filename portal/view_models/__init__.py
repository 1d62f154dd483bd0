"""View models: frozen objects that templates read; templates compute nothing."""

from portal.view_models.finding import finding_view
from portal.view_models.hand_over import HandOver, ShareOffer, hand_over
from portal.view_models.site import Results, SitePage, build_results, site_not_found, site_page
from portal.view_models.sites import SiteCard, SitesPage, site_card, sites_page

__all__ = [
    "HandOver",
    "Results",
    "ShareOffer",
    "SiteCard",
    "SitePage",
    "SitesPage",
    "build_results",
    "finding_view",
    "hand_over",
    "site_card",
    "site_not_found",
    "site_page",
    "sites_page",
]
