"""Places of a process for requests that last long, so that its other threads stay free for the rest."""

from collections import Counter
from threading import Lock


class Places:
    """A number of places for all accounts, of which no account holds the last one.

    So the slow requests of one customer do not keep others out.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._held: Counter[int] = Counter()
        self._lock = Lock()

    def take(self, account_id: int) -> bool:
        """Take a place for the account, if there is one for it; ``give_back`` must follow."""
        with self._lock:
            has_room = self._held.total() < self._number and self._held[account_id] + 1 < self._number
            self._held[account_id] += has_room
        return has_room

    def give_back(self, account_id: int) -> None:
        """Give a place of the account back."""
        with self._lock:
            self._held[account_id] -= 1
            self._held += Counter()  # drops accounts without a place
