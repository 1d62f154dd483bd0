"""The website whose domain is checked, and the records that the checks have asked for."""

import ssl
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from foundation.outbound.deadline import Deadline
from foundation.outbound.fetch import Fetched, fetch
from foundation.outbound.name_servers import Records, records_of, text_of
from foundation.outbound.names import NoAddress

_PAGE_BYTES = 64 * 1024  # of a policy or an error page; the rest is not read
_AT_ONCE = 6  # queries


class Lookups:
    """Records of one scan: each set is asked for once, even if that fails."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._known: dict[tuple[str, str], Records | NoAddress] = {}

    def records(self, name: str, kind: str) -> Records:
        """Return the records of a type; raise NoAddress."""
        key = name.lower().rstrip("."), kind
        if key not in self._known:
            self._known[key] = self._ask(*key)
        found = self._known[key]
        if isinstance(found, NoAddress):
            raise found
        return found

    def prepare(self, names: Iterable[str], kind: str) -> None:
        """Ask for the records of several names at once; failures are raised when they are read."""
        missing = [name for name in dict.fromkeys(names) if (name, kind) not in self._known]
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:
            found = threads.map(lambda name: self._ask(name, kind), missing)
            self._known |= {(name, kind): each for name, each in zip(missing, found, strict=True)}

    def texts(self, name: str) -> list[str]:
        """Return the TXT records of a name; raise NoAddress."""
        return [text_of(record) for record in self.records(name, "TXT").values]

    def has_address(self, name: str) -> bool:
        """Return whether a name has an address of either version; raise NoAddress."""
        return any(self.records(name, kind).values for kind in ("A", "AAAA"))

    def _ask(self, name: str, kind: str) -> Records | NoAddress:
        try:
            return records_of(name, kind, self._deadline)
        except NoAddress as error:
            return error


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The host of a website and its registrable domain, the deadline, User-Agent and opt-outs of the scan.

    ``tls`` trusts the certificates of tests.
    """

    host: str
    domain: str
    deadline: Deadline
    lookups: Lookups = field(init=False)
    agent: str = ""
    never: Sequence[str] = ()
    tls: ssl.SSLContext | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lookups", Lookups(self.deadline))

    def twin(self) -> str:
        """Return the other name of the website, with or without www; empty for other hosts."""
        twins = {self.domain: f"www.{self.domain}", f"www.{self.domain}": self.domain}
        return twins.get(self.host, "")

    def mail_servers(self) -> list[str]:
        """Return the names in the MX records; raise NoAddress."""
        records = self.lookups.records(self.domain, "MX").values
        names = (str(record.exchange).rstrip(".").lower() for record in records)
        return sorted({name for name in names if name})  # "." means that the domain accepts no mail

    def fetch(self, url: str, *, verify: bool) -> Fetched:
        """Return the response to a GET; raise FetchFailed."""
        return fetch(
            url,
            max_bytes=_PAGE_BYTES,
            deadline=self.deadline,
            verify=verify,
            agent=self.agent,
            never=self.never,
            tls=self.tls,
        )
