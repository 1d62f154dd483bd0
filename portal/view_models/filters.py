"""How the list is narrowed: facets with counts, chips of what is active, and pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal import labels
from portal.forms import MAX_PAGE_DEPTH, PAGE_SIZES, Address
from portal.gateway.messages import Facets, FacetValue, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One value of a facet; without an address it cannot be chosen, and ``count`` may be unknown."""

    key: str
    label: str
    tone: str
    meaning: str
    count: int | None
    url: str
    is_active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A filter and its values; ``remark`` says of what their numbers are, or why they have none."""

    name: str
    title: str
    options: tuple[Option, ...]
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An active filter, and the address without it."""

    name: str
    title: str
    value: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A page or a page size; without an address it is the current one, or the gap between pages."""

    key: str
    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pager:
    """The pages of the list; ``before`` and ``after`` are addresses, empty at the ends.

    ``remark`` says why the list ends where more was found.
    """

    links: tuple[PageLink, ...]
    sizes: tuple[PageLink, ...]
    before: str
    after: str
    remark: str


def facets(page: Page, address: Address) -> tuple[Facet, ...]:
    """The filters whose values the service counts."""
    values = page.facets
    by_name = {"severity": values.severity, "kind": values.kind, "source": values.source}
    return tuple(
        _facet(name, known, address, is_bounded=name in page.bounded_facets)
        for name, known in by_name.items()
        if known
    )


def _facet(name: str, values: Sequence[FacetValue], address: Address, *, is_bounded: bool) -> Facet:
    return Facet(
        name=name,
        title=labels.word(labels.FILTERS, name),
        options=tuple(_option(name, value, address, is_bounded=is_bounded) for value in values),
        remark=of_the_worst(sum(value.count for value in values)) if is_bounded else "",
    )


def status_facet(values: Facets, address: Address) -> Facet:
    """Always one of them: what is open, unless something else is asked for."""
    counts = {value.value: value.count for value in values.status}
    return Facet(
        name="status",
        title=labels.word(labels.FILTERS, "status"),
        options=tuple(_status_option(status, counts.get(status), address) for status in labels.STATUSES),
        remark="" if counts else _("Not counted while words are searched."),
    )


def _status_option(status: str, count: int | None, address: Address) -> Option:
    current = address.filters.status or labels.OPEN
    leads_on = count != 0 or status == current
    return Option(
        key=f"facet-status-{status}",
        label=labels.word(labels.STATUSES, status),
        tone="",
        meaning=labels.word(labels.STATUS_MEANINGS, status),
        count=count,
        url=address.to(status="" if status in (labels.OPEN, current) else status) if leads_on else "",
        is_active=status == current,
    )


def _option(name: str, value: FacetValue, address: Address, *, is_bounded: bool) -> Option:
    """Of what no count has reached it is unknown whether there is any; the list counts what is asked for."""
    is_active = getattr(address.filters, name) == value.value
    leads_on = value.count or is_active or is_bounded
    return Option(
        key=f"facet-{name}-{value.value.lower()}",
        label=value_word(name, value.value, value.label),
        tone=labels.tone(value.value) if name == "severity" else "",
        meaning=labels.word(labels.KIND_MEANINGS, value.value) if name == "kind" else "",
        count=None if is_bounded and (is_active or not value.count) else value.count,
        url=address.to(**{name: "" if is_active else value.value}) if leads_on else "",
        is_active=is_active,
    )


def of_the_worst(count: int) -> str:
    """What is said beside numbers that are not of all that was found."""
    return _("Of the worst %(count)s.") % {"count": number_format(count)}


def value_word(name: str, value: str, otherwise: str = "") -> str:
    """The portal's word for a filter's value."""
    tables = {"severity": labels.SEVERITIES, "kind": labels.KINDS, "status": labels.STATUSES}
    return labels.word(tables[name], value, otherwise) if name in tables else otherwise or value


def chips(values: Facets, address: Address) -> tuple[Chip, ...]:
    """What is active now."""
    names = {value.value: value.label for value in values.source}
    return tuple(
        Chip(
            name=name,
            title=labels.word(labels.FILTERS, name),
            value=_("“%(words)s”") % {"words": value}
            if name == "query"
            else value_word(name, value, names.get(value, "")),
            url=address.to(**{name: ""}),
        )
        for name, value in address.filters.active.items()
    )


def clear_url(address: Address) -> str:
    """The address without any filter; the page size stays."""
    return address.to(**dict.fromkeys(address.filters.active, ""))


def pager(page: Page, address: Address) -> Pager:
    """Links to the first page, the last one and those next to the current page.

    A search does not know its last page before it gets there: until then the links end with a gap.
    """
    current, page_size = address.filters.page, address.filters.page_size
    deepest = MAX_PAGE_DEPTH // page_size
    last = min(page.page_count, deepest)
    goes_on = (PageLink(key="", text="…", url=""),)
    is_open = page.total_relation == "at_least" and current < last < deepest
    return Pager(
        links=(*_page_links(current, last, address), *(goes_on if is_open else ())) if last > 1 else (),
        sizes=tuple(_size_links(page.total, address)),
        before=address.to(page=min(current - 1, last)) if current > 1 and last else "",
        after=address.to(page=current + 1) if current < last else "",
        remark=_why_it_ends(last * page_size) if current >= last < page.page_count else "",
    )


def _why_it_ends(listed: int) -> str:
    text = _("The pages end here, with the worst %(count)s findings. Filter or search to see the others.")
    return text % {"count": number_format(listed)}


def _page_links(current: int, last: int, address: Address) -> Iterable[PageLink]:
    pages = Paginator(range(last), 1)
    for number in pages.get_elided_page_range(min(current, last), on_each_side=1, on_ends=1):
        if not isinstance(number, int):
            yield PageLink(key="", text=str(number), url="")
        else:
            url = "" if number == current else address.to(page=number)
            yield PageLink(key=f"page-{number}", text=str(number), url=url)


def _size_links(total: int, address: Address) -> Iterable[PageLink]:
    if total <= PAGE_SIZES[0]:
        return
    for size in PAGE_SIZES:
        url = "" if size == address.filters.page_size else address.to(page_size=size)
        yield PageLink(key=f"size-{size}", text=str(size), url=url)
