"""Saved views on a dashboard: links to them, the one that is open, and what it no longer filters by."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.models import SavedView, Website
from portal.pages.forms import NOT_ACCEPTED, PERIOD, SEVERAL_VALUES, Filters, SaveViewForm
from portal.pages.urls import Address
from portal.pages.view_models.filters import filter_label
from portal.pages.view_models.reader import VISITOR, Reader
from portal.texts import labels
from signed_api.findings import Facets

SHOWN_VIEWS = 6  # further views are folded away


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedViewLink:
    """A link to a saved view."""

    key: str
    name: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedViewGroup:
    """The views of the person, or those for everyone; ``folded`` views are hidden at first."""

    key: str
    title: str
    shown: tuple[SavedViewLink, ...]
    folded: tuple[SavedViewLink, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedViews:
    """The saved views next to a list; ``dropped`` names the filters of the open view that do not exist here.

    The ``form`` saves the filters of the list at ``save_url``; without filters, there is none.
    """

    groups: tuple[SavedViewGroup, ...]
    manage_url: str
    dropped: tuple[str, ...]
    save_url: str
    form: SaveViewForm | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedView:
    """The saved view that a request opens: ``view`` is unknown if the filters are of no view."""

    views: tuple[SavedView, ...]
    view: SavedView | None
    dropped: tuple[str, ...] = ()

    def without_unknown(
        self, facets: Facets, address: Address, reader: Reader = VISITOR
    ) -> tuple["OpenedView", Address]:
        """Return the open view and the address without scanners and people that are not there any more."""
        chosen = address.filters.values("source")
        known = {value.value for value in facets.source}
        left = unknown_people(address.filters, reader)
        if not self.view or (known.issuperset(chosen) and not left):
            return self, address
        source = ",".join(value for value in chosen if value in known)
        unknown = [_filter_text("source", value) for value in chosen if value not in known]
        filters = replace(without_people(address.filters, left), source=source)
        dropped = dict.fromkeys((*self.dropped, *unknown, *_people_in_words(left, reader)))
        return replace(self, dropped=tuple(dropped)), replace(address, filters=filters)

    def url(self, address: Address) -> str:
        """Return the address of the list; a view that lost a filter keeps its own, so that it can say so."""
        return view_url(self.view, address) if self.view and self.dropped else str(address)


def opened_view(
    user: AbstractBaseUser | AnonymousUser, website: Website, filters: Filters, query: QueryDict
) -> OpenedView:
    """Return the saved views of the person for ``website``, and the one whose filters the request has."""
    views = tuple(SavedView.objects.visible_to(user).filter(account=website.account_id))
    normal, fields = query_of(filters), _fields(query)
    for view in views:
        # The second holds for a view with a filter that the portal no longer knows.
        if view.query == normal or _fields(QueryDict(view.query)) == fields:
            return OpenedView(views=views, view=view, dropped=dropped_filters(view.query))
    return OpenedView(views=views, view=None)


def saved_views(opened: OpenedView, address: Address, *, manages: bool) -> SavedViews:
    """Return the views for the page at ``address``; owners and managers may save one for everyone."""
    is_filtered = bool(address.filters.active)
    own = [view for view in opened.views if not view.is_for_everyone]
    shared = [view for view in opened.views if view.is_for_everyone]
    groups = (("own", _("My views"), own), ("everyone", _("Views for everyone"), shared))
    return SavedViews(
        groups=tuple(
            _group(key, title, views, opened.view, address) for key, title, views in groups if views
        ),
        manage_url=reverse("portal:saved_views"),
        dropped=opened.dropped,
        save_url=save_url(address),
        form=SaveViewForm(manages=manages, auto_id="save-view-%s") if is_filtered else None,
    )


def _group(
    key: str, title: str, views: Iterable[SavedView], current: SavedView | None, address: Address
) -> SavedViewGroup:
    links = [
        SavedViewLink(
            key=f"view-{view.pk}",
            name=view.name,
            url=view_url(view, address),
            is_current=view == current,
        )
        for view in views
    ]
    links.sort(key=lambda link: (not link.is_current, link.name.casefold()))
    shown = sorted(links[:SHOWN_VIEWS], key=lambda link: link.name.casefold())
    return SavedViewGroup(key=key, title=title, shown=tuple(shown), folded=tuple(links[SHOWN_VIEWS:]))


def filters_of(view: SavedView) -> Filters:
    """Return the filters of the view that the portal still knows."""
    return Filters.from_query(QueryDict(view.query))


def query_of(filters: Filters) -> str:
    """Return the filters as the query string of a saved view: the normal form, without the page."""
    return urlencode(Address(path="", filters=replace(filters, page=1)).fields())


def view_url(view: SavedView, address: Address) -> str:
    """Return the address of the view on the website of ``address``, with filters that no longer exist."""
    fields = [("account", address.account), *parse_qsl(view.query)]
    return f"{address.path}?{urlencode([(name, value) for name, value in fields if value])}"


def save_url(address: Address) -> str:
    """Return the address that saves the filters of a list."""
    filters = replace(address.filters, page=1)
    return str(replace(address, path=f"{address.path}views/", filters=filters))


def unknown_people(filters: Filters, reader: Reader) -> list[str]:
    """Return the assignees of ``filters`` who left the account."""
    return [value for value in filters.values("assignee") if not reader.is_known(value)]


def without_people(filters: Filters, left: Collection[str]) -> Filters:
    """Return ``filters`` without the assignees who left."""
    kept = [each for each in filters.values("assignee") if each not in left]
    return replace(filters, assignee=",".join(kept))


def _people_in_words(left: Iterable[str], reader: Reader) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_filter_text("assignee", value, reader) for value in left))


def dropped_filters(query: str, reader: Reader = VISITOR) -> tuple[str, ...]:
    """Return the filters of a stored query that the portal no longer knows, and people who left, in words."""
    known = Filters.from_query(QueryDict(query))
    dropped = tuple(text for name, value, text in _parts(query, reader) if not _has(known, name, value))
    return (*dropped, *_people_in_words(unknown_people(known, reader), reader))


def filters_in_words(filters: Filters, reader: Reader = VISITOR) -> tuple[str, ...]:
    """Return the filters in words, such as "Severity: High", without people who left."""
    known = without_people(filters, unknown_people(filters, reader))
    return tuple(text for _name, _value, text in _parts(query_of(known), reader))


def _has(filters: Filters, name: str, value: str) -> bool:
    if name not in Filters.__dataclass_fields__:
        return False
    kept = getattr(filters, name)
    return value in (kept, *kept.split(",")) if name in SEVERAL_VALUES else value == str(kept)


def _parts(query: str, reader: Reader) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and words of each filter of a query; a list has several values."""
    for name, values in parse_qsl(query):
        is_one = name not in SEVERAL_VALUES or values == NOT_ACCEPTED
        for value in [values] if is_one else values.split(","):
            yield name, value, _filter_text(name, value, reader)


def _filter_text(name: str, value: str, reader: Reader = VISITOR) -> str:
    """Return one filter in words; a problem is known by an id, which says nothing to a person."""
    names = {"sort": _("Order"), "view": _("Group"), "page_size": _("Per page")}
    choices: dict[str, Mapping[str, object]] = {
        "sort": labels.PROBLEM_SORTS | labels.SORTS,
        "view": {"problems": _("Problems")},
    }
    title = names.get(name) or labels.label(labels.FILTERS, name)
    if name == "problem":
        return title
    if name in ("since", "fixed") and not PERIOD.fullmatch(value):
        return f"{title}: {value}"
    return f"{title}: {choices.get(name, {}).get(value) or filter_label(name, value, value, reader=reader)}"


def _fields(query: QueryDict) -> dict[str, list[str]]:
    """Return the fields of a query that make a view."""
    return {name: values for name, values in query.lists() if name not in ("account", "page")}
