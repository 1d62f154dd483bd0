"""The state of the page, which is its URL: filters, page and page size; defaults are absent."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from django import forms

from portal import labels
from portal.gateway import Question

PAGE_SIZES = (20, 50, 100)
MAX_PAGE_DEPTH = 10_000  # page * page_size, the service's bound
MAX_QUERY_LENGTH = 200  # the service's, too
FINDING_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,127}", re.ASCII)  # that an address may hold
NARROWING = ("status", "severity", "kind", "source", "query")


class WordField(forms.CharField):
    """One of ``words``, however it is capitalised."""

    def __init__(self, words: Iterable[str], **kwargs: Any) -> None:
        self.spellings = {word.casefold(): word for word in words}
        super().__init__(**kwargs)

    def clean(self, value: Any) -> str:
        """The word as the service writes it."""
        given = super().clean(value).casefold()
        if given and given not in self.spellings:
            raise forms.ValidationError("is not one of the words")
        return self.spellings.get(given, "")


class FilterForm(forms.Form):
    """What an address may carry; whatever does not validate is as if it were not there."""

    status = WordField(labels.STATUSES.keys() - {labels.OPEN}, required=False)  # open is the default
    severity = WordField(labels.SEVERITIES, required=False)
    kind = WordField(labels.KINDS, required=False)
    source = forms.SlugField(max_length=50, required=False)
    query = forms.CharField(max_length=MAX_QUERY_LENGTH, required=False)
    page_size = forms.TypedChoiceField(
        choices=[(size, size) for size in PAGE_SIZES], coerce=int, required=False
    )
    page = forms.IntegerField(min_value=1, required=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What is asked of a website's findings; without a status, of those that are open."""

    status: str = ""
    severity: str = ""
    kind: str = ""
    source: str = ""
    query: str = ""
    page_size: int = PAGE_SIZES[0]
    page: int = 1

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """The filters of a query string; invalid values are dropped."""
        form = FilterForm(data)
        form.is_valid()
        filters = cls(**{name: value for name, value in form.cleaned_data.items() if value})
        return replace(filters, page=1) if filters.page * filters.page_size > MAX_PAGE_DEPTH else filters

    @property
    def active(self) -> dict[str, str]:
        """The filters that narrow the list, by name."""
        return {name: value for name in NARROWING if (value := getattr(self, name))}

    @property
    def bare(self) -> Self:
        """The same without the search."""
        return replace(self, query="", page=1)

    @property
    def whole(self) -> Self:
        """The same without a page: everything that they find."""
        return replace(self, page=1, page_size=PAGE_SIZES[0])

    def question(self) -> Question:
        """The same, as the gateway asks it."""
        return Question(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a state of the page lives; ``account`` only where the host alone does not tell the website."""

    path: str
    account: str = ""
    filters: Filters = Filters()

    def __str__(self) -> str:
        fields = self.fields()
        return f"{self.path}?{urlencode(fields)}" if fields else self.path

    def fields(self, *, without: str = "") -> dict[str, str]:
        """The query string's fields, in their one order, defaults absent."""
        given = {"account": self.account, **asdict(self.filters)}
        usual = asdict(Filters())
        return {
            name: str(value)
            for name, value in given.items()
            if value and value != usual.get(name) and name != without
        }

    def of_finding(self, finding_id: str) -> str:
        """The address of a finding, with the list that it was opened from; empty where it can have none."""
        path = f"{self.path}findings/{finding_id}/"
        return str(replace(self, path=path)) if FINDING_ID.fullmatch(finding_id) else ""

    def to(self, **changes: Any) -> str:
        """The address with other filters; they start at their first page."""
        return str(replace(self, filters=replace(self.filters, **{"page": 1, **changes})))
