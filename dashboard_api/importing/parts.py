"""The part of a source's scans to which a report without a category belongs. Decision record 0035."""

from collections import Counter
from collections.abc import Collection

from dashboard_api.models import Occurrence, Source, Website


def part_of(problems: Collection[tuple[str, str]], website: Website, source: Source) -> str | None:
    """Return the category of the earlier reports with at least half of ``problems`` (rule, location).

    Otherwise it is a new part. A report without problems continues the only part there is; None where there
    are several.
    """
    shared: Counter[str] = Counter()
    categories = set()
    places = Occurrence.objects.filter(finding__website=website, finding__source=source)
    wanted = {(rule, location[:2000]) for rule, location in problems}
    known = places.order_by().values_list("category", "finding__rule", "location").distinct()
    for category, rule, location in known.iterator():
        categories.add(category)
        shared[category] += (rule, location) in wanted
    if not categories:
        return ""
    if not wanted:
        return categories.pop() if len(categories) == 1 else None
    best = max(sorted(shared), key=lambda category: shared[category])
    return best if 2 * shared[best] >= len(wanted) else _new_part(categories)


def _new_part(categories: Collection[str]) -> str:
    number = len(categories) + 1
    while f"part {number}" in categories:
        number += 1
    return f"part {number}"
