"""View models: frozen objects that templates read; templates compute nothing."""

from portal.view_models.finding import finding_view
from portal.view_models.help import help_page
from portal.view_models.site import Results, SitePage, build_results, site_not_found, site_page
from portal.view_models.sites import SiteCard, SitesPage, site_card, sites_page

__all__ = [
    "Results",
    "SiteCard",
    "SitePage",
    "SitesPage",
    "build_results",
    "finding_view",
    "help_page",
    "site_card",
    "site_not_found",
    "site_page",
    "sites_page",
]
