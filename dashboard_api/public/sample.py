"""Made-up websites, for the demo and for tests of what is published."""

from random import Random

from dashboard_api.public.categories import ANY
from dashboard_api.public.population import SEVERITIES, CountedWebsite
from foundation.categories import TITLES

_REGIONS = ("DE", "AT", "GB", "FR", "US", "150", "001", "JP")
_SUFFIXES = {"DE": "de", "AT": "at", "GB": "co.uk", "FR": "fr", "JP": "co.jp"}


def sample_websites(*, websites: int = 420, accounts: int = 130, seed: int = 2026) -> list[CountedWebsite]:
    """Return made-up websites, the same for the same ``seed``; some regions and categories are small."""
    dice = Random(seed)  # noqa: S311 - made up
    categories = [name for name in TITLES if name != ANY]
    made = []
    for number in range(1, websites + 1):
        region = dice.choices(_REGIONS, weights=(30, 4, 14, 8, 20, 10, 12, 2))[0]
        severities = frozenset(name for name in SEVERITIES if dice.random() < 0.5)
        name = "".join(dice.choices("abcdefghijklmnoprstuvw", k=dice.randint(3, 12)))
        made.append(
            CountedWebsite(
                number=number,
                host=f"{name}.{_SUFFIXES.get(region, 'com')}",
                accounts=frozenset({1 + int(accounts * dice.random() ** 1.5)}),
                region=region,
                is_named=dice.random() < 0.4,
                grade=dice.choices("ABCDF", weights=(12, 22, 30, 26, 10))[0],
                open=severities,
                categories=frozenset(dice.choices(categories, range(len(categories), 0, -1), k=4)),
                days_to_fix={severity: dice.randint(1, 60) for severity in severities},
                engines=dice.randint(2, 6),
                found=dice.random() < 0.6,
                fixed=dice.random() < 0.4,
            )
        )
    return made
