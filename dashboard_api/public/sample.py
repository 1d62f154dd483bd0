"""Made-up websites and feed entries, for the demo and for tests."""

from datetime import date, timedelta
from random import Random

from dashboard_api.public.counting import SEVERITIES, CountedWebsite, Population
from dashboard_api.public.feed import DAYS, entry, masks_of
from foundation.texts.categories import TITLES

_ENTRIES = 30  # of the sample feed
_REGIONS = ("DE", "AT", "GB", "FR", "US", "150", "001", "JP")
_SUFFIXES = {"DE": "de", "AT": "at", "GB": "co.uk", "FR": "fr", "JP": "co.jp"}
# Severity and category of sample entries
_FOUND = (
    *(("High", name) for name in ("sql-injection", "cross-site-scripting", "outdated-software")),
    *(("Medium", name) for name in ("outdated-tls", "exposed-data", "request-forgery")),
    *(("Low", name) for name in ("security-header", "cookie", "error-details")),
)


def sample_websites(*, websites: int = 420, accounts: int = 130, seed: int = 2026) -> list[CountedWebsite]:
    """Return made-up websites, equal for equal ``seed``; some regions and categories are too small."""
    dice = Random(seed)  # noqa: S311 - made up
    made = []
    for number in range(1, websites + 1):
        region = dice.choices(_REGIONS, weights=(30, 4, 14, 8, 20, 10, 12, 2))[0]
        name = "".join(dice.choices("abcdefghijklmnoprstuvw", k=dice.randint(3, 12)))
        made.append(
            CountedWebsite(
                number=number,
                host=f"{name}.{_SUFFIXES.get(region, 'com')}",
                # The exponent gives some accounts many websites.
                accounts=frozenset({1 + int(accounts * dice.random() ** 1.5)}),
                region=region,
                is_shown=dice.random() < 0.5,
                grade=dice.choices("ABCDF", weights=(12, 22, 30, 26, 10))[0],
                open=frozenset(name for name in SEVERITIES if dice.random() < 0.5),
                categories=frozenset(dice.choices(list(TITLES), range(len(TITLES), 0, -1), k=4)),
            )
        )
    return made


def sample_entries(websites: Population, today: date) -> list[tuple[str, dict[str, str]]]:
    """Return made-up feed entries with their hosts; they change once a day."""
    masks = masks_of(websites)
    dice = Random(today.toordinal())  # noqa: S311 - made up
    chosen = dice.sample([website for website in websites if website.number in masks], _ENTRIES)
    entries = []
    for number, website in enumerate(chosen):
        severity, category = dice.choice(_FOUND)
        day = today - timedelta(days=number * DAYS // _ENTRIES)
        entries.append(
            (website.host, entry(masks[website.number], severity=severity, category=category, day=day))
        )
    return entries
