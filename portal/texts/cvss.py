"""CVSS score and vector of a finding, parsed from its scanner's texts."""

import re
from dataclasses import dataclass

_METRIC = r"/[A-Za-z]{1,3}:[A-Za-z]{1,2}"
_VECTOR = re.compile(rf"\b(?:CVSS:(?P<version>[34]\.[01])(?:{_METRIC})+|AV:[NAL](?:{_METRIC})+)")
# A line such as "CVSS score: 7.5" or "CVSS: CVSS:3.1/AV:N 7.5"
_SCORE = re.compile(r"^CVSS(?: score)?: *(?:CVSS\S* )?(10(?:\.0)?|\d(?:\.\d)?)\b", re.MULTILINE)

# CVSS 3.1, section 7.4: weights of the metrics; "PR" has other weights if the scope changes.
_WEIGHTS = {
    "AV": {"N": 0.85, "A": 0.62, "L": 0.55, "P": 0.2},
    "AC": {"L": 0.77, "H": 0.44},
    "PR": {"N": 0.85, "L": 0.62, "H": 0.27},
    "UI": {"N": 0.85, "R": 0.62},
    "C": {"H": 0.56, "L": 0.22, "N": 0.0},
    "I": {"H": 0.56, "L": 0.22, "N": 0.0},
    "A": {"H": 0.56, "L": 0.22, "N": 0.0},
}
_CHANGED_PR = {"N": 0.85, "L": 0.68, "H": 0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cvss:
    """A score from 0.0 to 10.0 and a vector; one of them may be empty. ``url`` explains the vector."""

    score: str
    vector: str
    url: str


def find_cvss(text: str) -> Cvss | None:
    """Return the first score and vector in ``text``, if any; a missing score of CVSS 3 is computed."""
    vector, score = _VECTOR.search(text), _SCORE.search(text)
    if not vector and not score:
        return None
    version = (vector["version"] or "") if vector else ""
    number = f"{float(score[1]):.1f}" if score else ""
    if vector and not number and version.startswith("3"):
        number = _base_score(vector[0])
    return Cvss(
        score=number,
        vector=vector[0] if vector else "",
        url=f"https://www.first.org/cvss/calculator/{version}#{vector[0]}" if vector and version else "",
    )


def _base_score(vector: str) -> str:
    """Return the base score (CVSS 3.1, section 7.1); empty for an incomplete vector."""
    metrics = dict(part.split(":", 1) for part in vector.split("/")[1:])
    is_changed = metrics.get("S") == "C"
    weights = _WEIGHTS | ({"PR": _CHANGED_PR} if is_changed else {})
    try:
        value = {name: weights[name][metrics[name]] for name in _WEIGHTS}
    except KeyError:
        return ""
    loss = 1 - (1 - value["C"]) * (1 - value["I"]) * (1 - value["A"])
    impact = 7.52 * (loss - 0.029) - 3.25 * (loss - 0.02) ** 15 if is_changed else 6.42 * loss
    if impact <= 0:
        return "0.0"
    ease = 8.22 * value["AV"] * value["AC"] * value["PR"] * value["UI"]
    return f"{_rounded_up(min((impact + ease) * (1.08 if is_changed else 1), 10)):.1f}"


def _rounded_up(value: float) -> float:
    """Round up to one decimal, as "Roundup" of CVSS 3.1, appendix A, does without errors of floats."""
    hundred_thousandths = round(value * 100_000)
    tenths, rest = divmod(hundred_thousandths, 10_000)
    return (tenths + bool(rest)) / 10
