"""View models: frozen objects for templates, so that templates only print."""

from portal.pages.view_models.answers import answering
from portal.pages.view_models.finding import finding_view
from portal.pages.view_models.hand_over import HandOver, Lead, ShareOffer, hand_over, hand_over_problem
from portal.pages.view_models.help import help_page
from portal.pages.view_models.neighbours import Neighbours, find_neighbours
from portal.pages.view_models.outage import OutageNotice, outage_notice
from portal.pages.view_models.reader import Reader, reader_of
from portal.pages.view_models.saved_views import OpenedView, opened_view, saved_views
from portal.pages.view_models.site import (
    Results,
    SitePage,
    build_results,
    problem_heading,
    results_without_links,
    sample_page,
    sample_results,
    site_not_found,
    site_page,
)
from portal.pages.view_models.site_rows import SiteRow, site_row
from portal.pages.view_models.sites import SitesPage, sites_page

__all__ = [
    "HandOver",
    "Lead",
    "Neighbours",
    "OpenedView",
    "OutageNotice",
    "Reader",
    "Results",
    "ShareOffer",
    "SitePage",
    "SiteRow",
    "SitesPage",
    "answering",
    "build_results",
    "find_neighbours",
    "finding_view",
    "hand_over",
    "hand_over_problem",
    "help_page",
    "opened_view",
    "outage_notice",
    "problem_heading",
    "reader_of",
    "results_without_links",
    "sample_page",
    "sample_results",
    "saved_views",
    "site_not_found",
    "site_page",
    "site_row",
    "sites_page",
]
