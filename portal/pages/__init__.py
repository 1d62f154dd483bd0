"""What a template may read: frozen context objects; templates compute nothing."""

from portal.pages.site import Results, SitePage, results_of, site_page, unknown_site
from portal.pages.sites import SitesPage, sites_page

__all__ = ["Results", "SitePage", "SitesPage", "results_of", "site_page", "sites_page", "unknown_site"]
