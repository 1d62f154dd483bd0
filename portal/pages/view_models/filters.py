"""Filters of the list: facets with counts, chips for active filters, and the pager."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from django.core.paginator import Paginator
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal.pages.forms import NOT_ACCEPTED, PAGE_SIZES, PROBLEMS, SEVERAL_VALUES
from portal.pages.urls import Address
from portal.pages.view_models.reader import VISITOR, Reader
from portal.texts import labels
from signed_api.answers import UNASSIGNED
from signed_api.findings import Facets, FacetValue, Page
from signed_api.limits import MAX_PAGE_DEPTH

SHOWN_HOSTS = 8  # further hosts are folded away


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One value of a facet; it cannot be chosen if ``url`` is empty, and ``count`` may be unknown."""

    key: str
    label: str
    url: str
    is_active: bool
    tone: str = ""
    meaning: str = ""
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """A filter and its values; ``remark`` explains the counts, and ``folded`` values are hidden at first."""

    name: str
    title: str
    options: tuple[Option, ...]
    remark: str = ""
    folded: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """An active filter; ``url`` removes it."""

    name: str
    title: str
    value: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A page or a page size; ``url`` is empty for the current one, and for a gap between pages."""

    key: str
    text: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pager:
    """Links to the pages of the list; the previous and next URLs are empty at its ends.

    ``remark`` explains why the last page comes before the end of the list.
    """

    links: tuple[PageLink, ...]
    sizes: tuple[PageLink, ...]
    previous_url: str
    next_url: str
    remark: str


def facets(page: Page, address: Address) -> tuple[Facet, ...]:
    """Return the facets of severity, kind and scanner with the service's counts."""
    values = page.facets
    by_name = {"severity": values.severity, "kind": values.kind, "source": values.source}
    return tuple(
        _facet(name, facet_values, address) for name, facet_values in by_name.items() if facet_values
    )


def _facet(name: str, values: Sequence[FacetValue], address: Address, reader: Reader = VISITOR) -> Facet:
    return Facet(
        name=name,
        title=labels.label(labels.FILTERS, name),
        options=tuple(_option(name, value, address, reader) for value in values),
    )


def answer_facets(page: Page, address: Address, reader: Reader) -> tuple[Facet, ...]:
    """Return the facets of the account's answers: answer, day and assignee, the reader first."""
    values = page.facets
    in_order = sorted(
        values.assignee, key=lambda each: (each.value != reader.me, each.value == UNASSIGNED, -each.count)
    )
    has_people = len(in_order) > 1 or address.filters.assignee
    by_name = {"answer": values.answer, "due": values.due, "assignee": in_order if has_people else []}
    return tuple(
        _facet(name, facet_values, address, reader) for name, facet_values in by_name.items() if facet_values
    )


def host_facet(page: Page, address: Address) -> tuple[Facet, ...]:
    """Return the facet of hosts, unless all findings are on one host."""
    values = page.facets.hosts
    if len(values) < 2 and not address.filters.hosts:
        return ()
    facet = _facet("hosts", values, address)
    active = [option for option in facet.options if option.is_active]
    others = [option for option in facet.options if not option.is_active]
    room = max(SHOWN_HOSTS - len(active), 0)
    return (
        replace(
            facet,
            options=(*active, *others[:room]),
            folded=tuple(others[room:]),
            remark=_("A finding belongs to the host of its first location."),
        ),
    )


def status_facet(values: Facets, address: Address) -> Facet:
    """Return the facet of statuses; one is always active, by default open."""
    counts = {value.value: value.count for value in values.status}
    return Facet(
        name="status",
        title=labels.label(labels.FILTERS, "status"),
        options=tuple(_status_option(status, counts.get(status, 0), address) for status in labels.STATUSES),
        remark="",
    )


def _status_option(status: str, count: int, address: Address) -> Option:
    current = address.filters.status or labels.OPEN
    is_selectable = count or status == current
    new_status = "" if status in (labels.OPEN, current) else status  # "" is the default, open
    return Option(
        key=f"facet-status-{status}",
        label=labels.label(labels.STATUSES, status),
        meaning=labels.label(labels.STATUS_MEANINGS, status),
        count=count,
        url=address.with_filters(status=new_status) if is_selectable else "",
        is_active=status == current,
    )


def _option(name: str, value: FacetValue, address: Address, reader: Reader) -> Option:
    chosen, asked = address.filters.values(name), value.value
    if name == "assignee":
        chosen = list(dict.fromkeys(map(reader.filter_value, chosen)))
        asked = reader.filter_value(asked)
    is_active = asked in chosen
    is_selectable = value.count or is_active
    return Option(
        key=f"facet-{name}-{value.value.lower()}",
        label=filter_label(name, value.value, value.label, reader=reader),
        tone=labels.tone(value.value) if name == "severity" else "",
        meaning=labels.label(labels.KIND_MEANINGS, value.value) if name == "kind" else "",
        count=value.count,
        url=address.with_filters(**{name: toggled(chosen, asked)}) if is_selectable else "",
        is_active=is_active,
    )


def toggled(chosen: Sequence[str], value: str) -> str:
    """Return ``chosen`` with ``value`` added or removed, joined by commas."""
    if value in chosen:
        return ",".join(other for other in chosen if other != value)
    return ",".join([*chosen, value])


def period_facet(address: Address, *, last_visit: date | None = None) -> Facet:
    """Return the facet of periods, without counts: when findings were first seen, or fixed.

    ``last_visit``, the day of the reader's previous visit, adds the period since then.
    """
    name = "fixed" if address.filters.status == "fixed" else "since"
    chosen = getattr(address.filters, name)
    periods = {days: str(label) for days, label in labels.PERIODS.items()}
    if last_visit and name == "since":
        days = str((timezone.now().date() - last_visit).days + 1)
        text = _("Since your last visit, %(day)s") % {"day": labels.day_and_month(last_visit)}
        periods = {**periods, days: text}
    if chosen:
        periods.setdefault(chosen, labels.period(chosen))
    return Facet(
        name=name,
        title=labels.label(labels.FILTERS, name),
        options=tuple(
            Option(
                key=f"facet-{name}-{days}",
                label=label,
                url=address.with_filters(**{name: "" if days == chosen else days}),
                is_active=days == chosen,
            )
            for days, label in periods.items()
        ),
    )


def filter_label(name: str, value: str, default: str = "", *, reader: Reader = VISITOR) -> str:
    """Return the label of a filter's value."""
    tables = {
        "severity": labels.SEVERITIES,
        "kind": labels.KINDS,
        "status": labels.STATUSES,
        "answer": labels.ANSWERS,
        "due": labels.DUE,
    }
    if name == "assignee":
        return reader.label(value)
    if name == "answer" and value == NOT_ACCEPTED:
        return _("all but accepted risks")
    if name in ("since", "fixed"):
        return labels.period(value)
    return labels.label(tables[name], value, default) if name in tables else default or value


def chips(
    values: Facets, address: Address, *, problem_title: str = "", reader: Reader = VISITOR
) -> tuple[Chip, ...]:
    """Return a chip for each active filter, and for each value of filters with several."""
    source_names = {value.value: value.label for value in values.source}
    result = []
    for name, text in address.filters.active.items():
        if name in SEVERAL_VALUES and text != NOT_ACCEPTED:
            chosen = address.filters.values(name)
            result += [
                Chip(
                    name=f"{name}-{value.lower()}",
                    title=labels.label(labels.FILTERS, name),
                    value=filter_label(
                        name, value, source_names.get(value, "") if name == "source" else "", reader=reader
                    ),
                    url=address.with_filters(**{name: toggled(chosen, value)}),
                )
                for value in chosen
            ]
            continue
        label = filter_label(name, text, problem_title if name == "problem" else "", reader=reader)
        result.append(
            Chip(
                name=name,
                title=labels.label(labels.FILTERS, name),
                value=_("“%(words)s”") % {"words": text} if name == "query" else label,
                url=address.with_filters(**{name: ""}),
            )
        )
    return tuple(result)


def clear_url(address: Address) -> str:
    """Return the URL without filters, but with the page size."""
    return address.with_filters(**dict.fromkeys(address.filters.active, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One view or order of the list; ``url`` is empty for the current one."""

    key: str
    text: str
    url: str


def views(address: Address) -> tuple[Choice, ...]:
    """Return the views of the list: findings and problems; empty for a list of one problem."""
    if address.filters.problem:
        return ()
    is_grouped = address.filters.view == PROBLEMS
    return (
        Choice(
            key="view-findings",
            text=_("Findings"),
            url=address.with_filters(view="") if is_grouped else "",
        ),
        Choice(
            key="view-problems",
            text=_("Problems"),
            url="" if is_grouped else address.with_filters(view=PROBLEMS),
        ),
    )


def sorts(address: Address) -> tuple[Choice, ...]:
    """Return the orders of the list."""
    filters = address.filters
    return tuple(
        Choice(
            key=f"sort-{sort}",
            text=str(text),
            url=""
            if sort == (filters.sort or labels.WORST)
            else address.with_filters(sort="" if sort == labels.WORST else sort),
        )
        for sort, text in (labels.PROBLEM_SORTS if filters.view else labels.SORTS).items()
    )


def pager(page: Page, address: Address) -> Pager:
    """Return links to the first and last page and to the neighbours of the current page."""

    def url(number: int) -> str:
        return address.with_filters(page=number)

    current, page_size = address.filters.page, address.filters.page_size
    max_page = MAX_PAGE_DEPTH // page_size
    last = min(page.page_count, max_page)
    remark = _("The list ends after the worst %(count)s findings. Filter or search to see the others.")
    remark %= {"count": number_format(last * page_size)}
    # Only a list of problems has their number.
    row_count = page.total if page.problem_total is None else page.problem_total
    is_cut = last < page.page_count
    return Pager(
        links=tuple(page_links(current, last, url)) if last > 1 else (),
        sizes=tuple(_size_links(row_count, address)),
        previous_url=url(min(current - 1, last)) if current > 1 and last else "",
        next_url=url(current + 1) if current < last else "",
        remark=remark if is_cut and current >= last else "",
    )


def page_links(current: int, last: int, url: Callable[[int], str]) -> Iterator[PageLink]:
    """Yield the first and last page, the neighbours of ``current``, and gaps; ``url`` maps pages to URLs."""
    pages = Paginator(range(last), 1)
    for number in pages.get_elided_page_range(min(current, last), on_each_side=1, on_ends=1):
        if not isinstance(number, int):
            yield PageLink(key="", text=str(number), url="")
        else:
            page_url = "" if number == current else url(number)
            yield PageLink(key=f"page-{number}", text=str(number), url=page_url)


def _size_links(total: int, address: Address) -> Iterable[PageLink]:
    if total <= PAGE_SIZES[0]:
        return
    for size in PAGE_SIZES:
        url = "" if size == address.filters.page_size else address.with_filters(page_size=size)
        yield PageLink(key=f"size-{size}", text=str(size), url=url)
