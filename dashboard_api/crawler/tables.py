"""Tables of facts that grow old: when each was checked, and what is wrong with the operator's own file."""

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from django.conf import settings

from dashboard_api.crawler.essentials import end_of_life, exposed
from dashboard_api.crawler.essentials.domain import platforms
from dashboard_api.crawler.essentials.scripts import libraries, retirejs

OLD_AFTER = timedelta(days=183)
# What scans may miss, and what they may say, once a table is old
_TABLES = {
    "JavaScript libraries": libraries.TABLE.reviewed,
    "ends of support": end_of_life.TABLE.reviewed,
    "platforms that others can take over": platforms.REVIEWED,
    "exposed files": exposed.REVIEWED,
}


def problems(today: date) -> Iterator[str]:
    """Yield a line for each table that is older than six months, and one for a wrong RETIREJS_FILE."""
    old = [f"{name} ({day})" for name, day in _TABLES.items() if today - day > OLD_AFTER]
    if old:
        yield (
            f"Scans know too little of what became known lately, because tables were last checked more than "
            f"six months ago: {', '.join(old)}. Install a newer release, or set RETIREJS_FILE for libraries."
        )
    if settings.RETIREJS_FILE:
        try:
            retirejs.read(Path(settings.RETIREJS_FILE))
        except retirejs.WrongFile as error:
            yield f"RETIREJS_FILE is not used, and scans know only our own table of libraries: {error}"
