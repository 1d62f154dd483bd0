"""The people, accounts and websites of the demo, in every state that the portal can show."""

from dataclasses import dataclass

from dashboard_api.models import Coverage, Website

OK, PARTIAL, FAILED = Coverage.State.OK, Coverage.State.PARTIAL, Coverage.State.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user, and what they can see."""

    username: str
    sees: str
    is_staff: bool = False
    is_superuser: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAccount:
    """An account of the service and the portal, with its owner and viewer."""

    ref: str
    name: str
    owner: str
    viewer: str = ""
    plan: str = "standard"
    ends_in_days: int = 165


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The last run of a source; ``completed`` is the number of hours since the last complete one."""

    source: str
    hours_ago: int
    completed: int
    state: str = OK
    urls_checked: int | None = None
    version: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSite:
    """A website, the account that links it, its runs and its number of findings."""

    host: str
    account: str
    method: str = Website.Method.DNS
    findings: int = 0
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An analyst's note about a website, or about its worst open finding of a rule."""

    host: str
    body: str
    days_ago: int
    rule: str = ""
    account: str = ""
    is_internal: bool = False


PEOPLE = (
    Person(username="owner", sees="the portal: six websites of two accounts, in every state there is"),
    Person(username="colleague", sees="the portal: five of these websites, as a viewer"),
    Person(username="neighbour", sees="the portal: one website of an account of their own"),
    Person(username="analyst", sees="the admin: findings, and notes to write about them", is_staff=True),
    Person(username="admin", sees="the admin: everything", is_staff=True, is_superuser=True),
)

ACCOUNTS = (
    DemoAccount(ref="acct_0001", name="Example Shop", owner="owner", viewer="colleague", plan="professional"),
    DemoAccount(ref="acct_0002", name="Example Press", owner="owner", ends_in_days=-12),
    DemoAccount(ref="acct_0003", name="Corner Bakery", owner="neighbour"),
)

ALL_COMPLETE = (
    Run(source="nuclei", hours_ago=5, completed=5, urls_checked=214, version="3.4.2"),
    Run(source="zap", hours_ago=7, completed=7, urls_checked=388, version="2.16.1"),
    Run(source="wapiti", hours_ago=9, completed=9, urls_checked=341, version="3.2.4"),
    Run(source="testssl", hours_ago=3, completed=3, urls_checked=2, version="3.2.1"),
    Run(source="observatory", hours_ago=2, completed=2, urls_checked=1, version="1.4.0"),
    Run(source="retirejs", hours_ago=4, completed=4, urls_checked=57, version="5.2.7"),
)
# Every state of coverage on one website; Retire.js has never checked it.
MIXED = (
    Run(source="nuclei", hours_ago=5, completed=5, urls_checked=6120, version="3.4.2"),
    Run(
        source="zap",
        hours_ago=6,
        completed=54,
        state=PARTIAL,
        urls_checked=2480,
        version="2.16.1",
        detail="Stopped after two hours with 310 addresses left to check.",
    ),
    Run(source="wapiti", hours_ago=9, completed=9, urls_checked=1975, version="3.2.4"),
    Run(
        source="testssl",
        hours_ago=3,
        completed=9 * 24,
        state=FAILED,
        version="3.2.1",
        detail="The server closed the connection before a handshake was complete.",
    ),
    Run(source="observatory", hours_ago=2, completed=2, urls_checked=20, version="1.4.0"),
)

SITES = (
    DemoSite(host="shop.example.com", account="acct_0001", findings=1250, runs=MIXED),
    DemoSite(host="blog.example.org", account="acct_0001", runs=ALL_COMPLETE),
    DemoSite(host="launch.example.net", account="acct_0001", method=Website.Method.FILE),
    DemoSite(host="outlet.example.com", account="acct_0001", findings=40, runs=ALL_COMPLETE),
    DemoSite(host="moved.example.net", account="acct_0001", findings=15, runs=ALL_COMPLETE),
    DemoSite(host="press.example.org", account="acct_0002", findings=60, runs=ALL_COMPLETE),
    DemoSite(
        host="bakery.example.net",
        account="acct_0003",
        method=Website.Method.META,
        findings=35,
        runs=ALL_COMPLETE,
    ),
)
# The link of this one was revoked, and for that one the portal holds an id that the service never gave.
REVOKED, UNPAIRED = "outlet.example.com", "moved.example.net"
UNPAIRED_LINK_ID = "00000000-0000-4000-8000-000000000000"

NOTES = (
    Note(
        host="shop.example.com",
        days_ago=2,
        body="""\
**Where to begin.** Most of what is open comes down to three causes:

1. Values from the address reach pages and statements without being escaped or bound.
2. Headers are set on some hosts and missing on others; set them once, at the load balancer.
3. `legacy.` and `staging.` are public, and nobody keeps them up to date.

Fixing the first takes care of nearly everything *Critical* and *High*. See the
[OWASP Top Ten](https://owasp.org/www-project-top-ten/) for background.""",
    ),
    Note(
        host="shop.example.com",
        days_ago=1,
        rule="sql",
        body="""\
We repeated this by hand and it is real: one request lists other customers' orders.
**Please treat it as urgent**, and tell us when a fix is out so that we check it the same day.""",
    ),
    Note(
        host="shop.example.com",
        days_ago=6,
        rule="git-config",
        body="""\
The history holds two passwords. Removing the folder is not enough:

- change both passwords,
- look for `/.git/` in the access log of the last ninety days.""",
    ),
    Note(
        host="shop.example.com",
        days_ago=4,
        account="acct_0001",
        body="For *Example Shop* only: as agreed, we leave the payment pages alone until Monday.",
    ),
    Note(
        host="shop.example.com",
        days_ago=3,
        is_internal=True,
        body="They asked twice about the failed TLS runs. Their firewall seems to block us.",
    ),
    Note(
        host="shop.example.com",
        days_ago=5,
        rule="10202",
        is_internal=True,
        body="Probably a false positive, the framework checks `Origin`. Look at it before the next report.",
    ),
    Note(
        host="blog.example.org",
        days_ago=8,
        body="Nothing open, and every scanner has looked. Thank you for the quick work on the old theme!",
    ),
    Note(host="press.example.org", days_ago=20, is_internal=True, body="Renewal offered on the telephone."),
    Note(host="bakery.example.net", days_ago=10, body="The online form is new: we look at it this week."),
)
