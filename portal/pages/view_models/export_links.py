"""Links to exports of a list, with the list's filters."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec

from django.utils.translation import gettext as _

from portal.pages.urls import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportLink:
    """A link to one format of the export."""

    text: str
    url: str


def export_links(address: Address) -> tuple[ExportLink, ...]:
    """Return links to the formats that this deployment offers, for the list at ``address``."""

    def url(name: str) -> str:
        return str(replace(address, path=f"{address.path}{name}", filters=address.filters.without_page))

    return (
        ExportLink(text=_("CSV, for spreadsheets"), url=url("findings.csv")),
        ExportLink(text="JSON", url=url("findings.json")),
        ExportLink(text=_("SARIF, for developer tools"), url=url("findings.sarif")),
        ExportLink(text=_("Report to print"), url=url("report/")),
        *((ExportLink(text=_("Report as PDF"), url=url("report.pdf")),) if pdf_available() else ()),
    )


@cache
def pdf_available() -> bool:
    """Return whether the typesetter for PDFs is installed (the extra ``pdf``)."""
    return find_spec("typst") is not None
