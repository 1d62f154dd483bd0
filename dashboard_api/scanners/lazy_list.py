"""Lists that decode an item only when it is read, so a long report needs little memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard, TypeVar, overload

Encoded = TypeVar("Encoded")


class LazyList(Sequence[Any]):
    """List of ``decode(item)`` for each of ``items``, computed at every access."""

    def __init__(self, items: Sequence[Encoded], decode: Callable[[Encoded], Any]) -> None:
        self._items, self._decode = items, decode

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return map(self._decode, self._items)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> "LazyList": ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return LazyList(self._items[index], self._decode)
        return self._decode(self._items[index])


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether ``value`` is a list or a LazyList."""
    return isinstance(value, list | LazyList)
