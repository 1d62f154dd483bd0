"""The identity of a SARIF result, and older forms that the same problem may be stored under.

An upgraded tool may begin to write fingerprints, or write more of them. The older forms are aliases of the
identity, so that the upgrade neither closes nor opens findings.
"""

import itertools
import json
from collections.abc import Iterator

from dashboard_api.scanners.members import Row, object_of

_LINE_HASH = "primaryLocationLineHash"  # the one that GitHub relies on
_NO_FINGERPRINT = "requires login"  # Semgrep writes this in place of one
_MAX_OWN = 10
_MAX_COMBINED = 4  # partial fingerprints, of which every selection may be an older form


def identities_of(result: Row, otherwise: str) -> list[str]:
    """Return the identity of ``result`` within its rule, then the older forms that it may have had.

    Of the tool's own fingerprints the oldest version wins, which a newer tool still writes; ``otherwise`` is
    the identity of a result without any.
    """
    own = _fingerprints(object_of(result, "fingerprints"))
    partial = _fingerprints(object_of(result, "partialFingerprints"))
    forms = [*(own[name] for name in sorted(own)[:_MAX_OWN]), *_partial_forms(partial), otherwise]
    return list(dict.fromkeys(forms))


def _partial_forms(partial: dict[str, str]) -> Iterator[str]:
    """Yield the hash of the line, then all fingerprints combined, then every smaller combination."""
    if _LINE_HASH in partial:
        yield partial[_LINE_HASH]
    named = [f"{name}={partial[name]}" for name in sorted(partial)]
    smaller = range(len(named) - 1, 0, -1) if len(named) <= _MAX_COMBINED else (1,)
    for size in (len(named), *smaller):
        if size:
            yield from (" ".join(selection) for selection in itertools.combinations(named, size))


def _fingerprints(members: Row) -> dict[str, str]:
    values = {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in members.items()
    }
    return {name: value for name, value in values.items() if value.strip() and value != _NO_FINGERPRINT}
