"""Lazy lists for long reports: each item is decoded when it is used, so only one is in memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard, TypeVar, overload

Stored = TypeVar("Stored")


class Items(Sequence[Any]):
    """A sequence of ``make(each)`` for each of ``stored``, computed at every access."""

    def __init__(self, stored: Sequence[Stored], make: Callable[[Stored], Any]) -> None:
        self._stored, self._make = stored, make

    def __len__(self) -> int:
        return len(self._stored)

    def __iter__(self) -> Iterator[Any]:
        return map(self._make, self._stored)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> "Items": ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Items(self._stored[index], self._make)
        return self._make(self._stored[index])


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a member of a report is a list, in memory or not."""
    return isinstance(value, list | Items)
