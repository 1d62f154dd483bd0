"""Computations of an attacker from published statistics."""

from datetime import UTC, date, datetime
from random import Random

from dashboard_api.public.cells import LEAST, OTHER, shortfall
from dashboard_api.public.sample import sample_websites
from dashboard_api.public.statistics import statistics

NOW = datetime(2026, 11, 23, 3, tzinfo=UTC)


def numbers_of(document):
    """Return every number of a document by its cell."""
    numbers = {"websites": document["websites"]}
    numbers |= {f"grade {name}": number for name, number in document["grades"].items()}
    numbers |= {f"open {name}": number for name, number in document["open"].items()}
    numbers |= {f"region {row['region']}": row["websites"] for row in document["regions"]}
    for row in document["weeks"]:
        numbers |= {
            f"{name} {row['week']}": row[name] for name in ("found", "fixed") if row[name] is not None
        }
    return numbers


def check_population(seed):
    """Raise AssertionError if the document of a generated population breaks a rule."""
    dice = Random(seed)
    size = dice.choice((5, 15, 20, 40, 80, 150, 300))
    websites = sample_websites(websites=size, accounts=dice.choice((3, 6, 20, 100)), seed=seed)
    document, table = statistics(
        websites, day=date(2026, 11, 22), made_at=NOW, key=bytes([seed % 256]), weeks=[]
    )
    numbers = numbers_of(document)
    if shortfall(websites):
        assert set(numbers.values()) == {"<15"}
        return
    assert min(numbers.values()) >= LEAST
    assert numbers.keys() == {name for name in table.published if not name.startswith("categories")}
    for members in table.published.values():
        assert shortfall(members) is None
    for family in ("grade ", "region "):
        parts = [members for name, members in table.published.items() if name.startswith(family)]
        _check_parts(websites, parts, has_others=f"{family}{OTHER}" in table.published)
    for name, members in table.published.items():
        if name.startswith(("open", "found", "fixed", "categories")):
            own = {website.number for website in members}
            assert shortfall([website for website in websites if website.number not in own]) is None
    for row in document["categories"]:
        assert 0 < row["share"] <= 100


def _check_parts(websites, parts, *, has_others):
    """Parts of all websites are all of them: what is subtracted from the total is large enough."""
    numbers = [website.number for part in parts for website in part]
    assert sorted(numbers) == sorted(website.number for website in websites)
    assert len(parts) > 1 or has_others
