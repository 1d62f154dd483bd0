"""The address of the service, and the website and account of a call."""

from dataclasses import dataclass, field

from portal.gateway.direct import WsgiApplication
from portal.gateway.errors import Misconfigured
from signed_api.client import TIMEOUT_SECONDS, check_address

MIN_TIMEOUT_SECONDS = 1
MAX_TIMEOUT_SECONDS = TIMEOUT_SECONDS

IN_PROCESS = "https://localhost"  # the address of requests within this process
MAX_CONCURRENT_CALLS = 3  # one less than the threads of a web process


def check_base_url(url: str) -> None:
    """Raise Misconfigured unless ``url`` is https, or http to loopback, with only host and optional port."""
    try:
        check_address(url)
    except ValueError as error:
        raise Misconfigured(str(error)) from error


def check_timeout(seconds: float) -> None:
    """Raise Misconfigured unless ``seconds`` is in the range that a page may wait."""
    if not MIN_TIMEOUT_SECONDS <= seconds <= MAX_TIMEOUT_SECONDS:
        raise Misconfigured(f"The timeout must be {MIN_TIMEOUT_SECONDS} to {MAX_TIMEOUT_SECONDS} seconds.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The dashboard service: ``base_url`` has no path, and ``timeout_seconds`` limits a whole call.

    At most ``max_concurrent_calls`` run in this process. While the service works, a further call waits for
    its turn up to ``patience_seconds``. ``application`` is a service in this process, called directly.
    """

    base_url: str = IN_PROCESS
    timeout_seconds: float
    max_concurrent_calls: int = MAX_CONCURRENT_CALLS
    patience_seconds: float = 0
    ca_file: str = ""  # certificates of the authorities to trust
    application: WsgiApplication | None = None

    def __post_init__(self) -> None:
        check_base_url(self.base_url)
        check_timeout(self.timeout_seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningAccount:
    """An account with the secret that signs its calls, and a linked website if the call is about one."""

    account_ref: str
    secret: str = field(repr=False)
    host: str = ""
    link_id: str = ""

    @property
    def name(self) -> str:
        """The subject of a call in log lines."""
        return self.host or self.account_ref

    @property
    def fields(self) -> dict[str, str]:
        """The first fields of each request, in the order of the specification."""
        site = {"host": self.host, "link_id": self.link_id} if self.host else {}
        return {**site, "portal_account_ref": self.account_ref}
