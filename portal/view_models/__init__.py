"""View models: frozen objects that templates read; templates compute nothing."""

from portal.view_models.finding import finding_view
from portal.view_models.hand_over import HandOver, hand_over
from portal.view_models.help import help_page
from portal.view_models.site import (
    Results,
    SitePage,
    build_results,
    sample_page,
    sample_results,
    site_not_found,
    site_page,
)
from portal.view_models.site_rows import SiteRow, site_row
from portal.view_models.sites import SitesPage, sites_page

__all__ = [
    "HandOver",
    "Results",
    "SitePage",
    "SiteRow",
    "SitesPage",
    "build_results",
    "finding_view",
    "hand_over",
    "help_page",
    "sample_page",
    "sample_results",
    "site_not_found",
    "site_page",
    "site_row",
    "sites_page",
]
