"""The findings that a URL chooses for an answer: some by their ids, or all open ones that match filters."""

import re
from dataclasses import dataclass
from typing import Any, Self

import msgspec
from django.http import QueryDict

from portal.pages.forms import Filters
from signed_api.findings import FILTERS
from signed_api.limits import MAX_CHOSEN_FINDINGS

ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


class TooManyIds(Exception):
    """The URL lists more findings than one call can answer."""


class BadIds(Exception):
    """The URL has something else than ids of findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The ids of findings with commas, or filters of the service; at most one of them is not empty."""

    ids: str
    filters: dict[str, Any]

    @classmethod
    def of(cls, query: QueryDict, filters: Filters) -> Self:
        """Read ``ids`` of the query, with commas or repeated, else ``filters``; raises the errors above."""
        ids = list(dict.fromkeys(each.strip() for each in ",".join(query.getlist("ids")).split(",")))
        ids = [each for each in ids if each]
        if not all(map(ID.fullmatch, ids)):
            raise BadIds
        if len(ids) > MAX_CHOSEN_FINDINGS:
            raise TooManyIds
        if ids:
            return cls(ids=",".join(ids), filters={})
        request = filters.to_request()
        found = {name: value for name in FILTERS if (value := getattr(request, name)) not in ("", None)}
        return cls(ids="", filters=found)

    def __bool__(self) -> bool:
        return bool(self.ids or self.filters)

    @property
    def only_id(self) -> str:
        """The id of the finding if the URL lists exactly one, else empty."""
        return "" if "," in self.ids else self.ids

    @property
    def fields(self) -> dict[str, Any]:
        """The members of a request that choose these findings."""
        return {"finding_ids": self.ids} if self.ids else {"filters": self.filters}

    @property
    def size(self) -> int:
        """The length of ``fields`` in the body of a request."""
        return len(msgspec.json.encode(self.fields))
