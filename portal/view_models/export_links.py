"""What can be taken out of a list: the same filters at another address."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec

from django.utils.translation import gettext as _

from portal.forms import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A link; ``is_file``: the browser saves what it leads to."""

    text: str
    url: str
    is_file: bool = True


def offers(address: Address) -> tuple[Offer, ...]:
    """All that this deployment can make of the list at ``address``."""

    def at(name: str) -> str:
        return str(replace(address, path=f"{address.path}{name}", filters=address.filters.whole))

    return (
        Offer(text=_("CSV, for spreadsheets"), url=at("findings.csv")),
        Offer(text="JSON", url=at("findings.json")),
        Offer(text=_("SARIF, for developers’ tools"), url=at("findings.sarif")),
        Offer(text=_("Report to print"), url=at("report/"), is_file=False),
        *((Offer(text=_("Report as PDF"), url=at("report.pdf")),) if can_draw() else ()),
    )


@cache
def can_draw() -> bool:
    """Whether this deployment has the typesetter that makes PDFs (the extra ``pdf``)."""
    return find_spec("typst") is not None
