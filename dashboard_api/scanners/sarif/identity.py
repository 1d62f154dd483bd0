"""Identity of a SARIF result, and older identities of the same problem.

After an upgrade, a tool may write new or more fingerprints. The older identities are aliases, so an upgrade
neither closes nor opens findings.
"""

import itertools
import json
from collections.abc import Iterator

from dashboard_api.scanners.members import JsonObject, object_at

_LINE_HASH = "primaryLocationLineHash"  # GitHub uses this fingerprint
_NO_FINGERPRINT = "requires login"  # Semgrep writes this in place of a fingerprint
_MAX_OWN = 10  # fingerprints of the tool itself
_MAX_COMBINED = 4  # partial fingerprints; up to this many, every combination is an older identity
_MAX_SELECTIONS = 20  # combinations of each size


def identities_of(result: JsonObject, default: str) -> list[str]:
    """Return the identity of ``result`` within its rule, then its possible older identities.

    The oldest version of the tool's own fingerprint comes first, because newer tools still write it.
    ``default`` is for results without fingerprints.
    """
    own = _fingerprints(object_at(result, "fingerprints"))
    partial = _fingerprints(object_at(result, "partialFingerprints"))
    matchers = [*(own[name] for name in sorted(own)[:_MAX_OWN]), *_combinations(partial), default]
    return list(dict.fromkeys(matchers))


def _combinations(partial: dict[str, str]) -> Iterator[str]:
    """Yield the hash of the line, then all fingerprints combined, then every smaller combination."""
    if _LINE_HASH in partial:
        yield partial[_LINE_HASH]
    named = [f"{name}={partial[name]}" for name in sorted(partial)]
    # With many fingerprints, only single ones.
    smaller_sizes = range(len(named) - 1, 0, -1) if len(named) <= _MAX_COMBINED else (1,)
    for size in (len(named), *smaller_sizes):
        if size:  # 0 without fingerprints
            selections = itertools.islice(itertools.combinations(named, size), _MAX_SELECTIONS)
            yield from (" ".join(selection) for selection in selections)


def _fingerprints(members: JsonObject) -> dict[str, str]:
    values = {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in members.items()
    }
    return {name: value for name, value in values.items() if value.strip() and value != _NO_FINGERPRINT}
