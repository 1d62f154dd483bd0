"""The errors of signing and verifying a request.

ES1Error
    MalformedHeaders    a header is absent or has the wrong shape
    InvalidSignature    no secret produces this signature
    StaleTimestamp      the timestamp is outside the window
"""

from typing import Literal

_CERTAINLY_MILLISECONDS = 10**11  # seconds ahead, about 3,000 years


class ES1Error(Exception):
    """The base of this package's errors. Messages never contain a secret or the expected signature."""


class MalformedHeaders(ES1Error):
    """A header is missing or has the wrong shape; ``header`` is its lower-case name."""

    def __init__(
        self, header: str, reason: Literal["missing_header", "malformed_header"], *, expected: str
    ) -> None:
        self.header = header
        self.reason = reason
        self.expected = expected
        problem = "missing" if reason == "missing_header" else "malformed"
        super().__init__(f"{header} is {problem}: it has {expected}")


class InvalidSignature(ES1Error):
    """The signature was made with another secret or over other bytes."""

    def __init__(self) -> None:
        super().__init__("the signature does not verify")


class StaleTimestamp(ES1Error):
    """The timestamp is ``skew`` seconds behind the verifier's clock, or ahead if ``skew`` is negative."""

    def __init__(self, *, skew: int, window: int) -> None:
        self.skew = skew
        self.window = window
        super().__init__(f"the timestamp is {abs(skew)} s off; {window} s are accepted")

    @property
    def looks_like_milliseconds(self) -> bool:
        """Whether the timestamp is so far ahead that it probably counts milliseconds."""
        return self.skew < -_CERTAINLY_MILLISECONDS
