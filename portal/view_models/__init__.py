"""What a template may read: frozen context objects; templates compute nothing."""

from portal.view_models.finding import finding_text
from portal.view_models.site import Results, SitePage, results_of, site_page, unknown_site
from portal.view_models.sites import SiteCard, SitesPage, site_card, sites_page

__all__ = [
    "Results",
    "SiteCard",
    "SitePage",
    "SitesPage",
    "finding_text",
    "results_of",
    "site_card",
    "site_page",
    "sites_page",
    "unknown_site",
]
