"""Types of the contract: rules that read the fields of requests, and bounds of the members of responses.

An annotation gives a field its rule, such as ``Annotated[str, one_of(("worst", "newest"))]``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from signed_api import limits

SEVERITIES = ("Critical", "High", "Medium", "Low", "Info")
KINDS = ("confirmed", "suspected", "informational")

# Cursors in changes and in calls: opaque, only the service reads them.
CURSOR_PATTERN = r"^[0-9]{1,19}\.[0-9]{1,19}\.[0-9]{1,11}\.([0-9]{1,19}(-[0-9]{1,19})*)?(\.[0-9]{1,19})?$"
CALL_PATTERN = r"^[0-9]{1,17}\.[A-Za-z0-9._-]{0,64}$"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def exactly(pattern: str) -> Meta:
    """Return a bound that requires ``pattern`` to match the whole text; a final line break breaks it."""
    return Meta(pattern=rf"\A{pattern}\Z")


T = TypeVar("T")
# Bounds of lists, numbers and texts in responses: the client refuses a response beyond them.
Few = Annotated[list[T], Meta(max_length=16)]
Some = Annotated[list[T], Meta(max_length=200)]
Many = Annotated[list[T], Meta(max_length=1_000)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Number = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Moment = Annotated[datetime, Meta(tz=True)]
NumericId = Annotated[str, exactly("[1-9][0-9]{0,17}")]
HostName = Annotated[str, exactly("[a-z0-9.:-]{1,253}")]
Uuid = Annotated[str, exactly("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")]


class BrokenRule(ValueError):
    """A value breaks the rule of its field; the message continues "<field> ..."."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """The rule of a field of a request: a function that reads it, and its JSON Schema.

    ``check`` names a check that only the service can make: it gives its function to ``reading.read``.
    """

    read: Callable[[Any], Any]
    schema: dict[str, Any] = field(default_factory=dict)
    check: str = ""
    is_required: bool = False


def about(description: str, **bounds: Any) -> Meta:
    """Return an annotation with a description of a field or member, and msgspec's ``bounds``."""
    return Meta(description=description, **bounds)


def required(rule: Rule) -> Rule:
    """Make ``rule`` the rule of a required field."""
    return replace(rule, is_required=True)


def text(value: object) -> str:
    """Check that ``value`` is a string without NUL, and return it; raises BrokenRule."""
    if not isinstance(value, str):
        raise BrokenRule("must be a string")
    if "\0" in value:
        raise BrokenRule("must not contain the NUL character")
    return value


def any_text(check: str = "", **schema: Any) -> Rule:
    """Return a rule for any string; the service makes the ``check``, and ``schema`` only describes it."""
    return Rule(read=text, schema={"type": "string", **schema}, check=check)


def one_of(words: Sequence[str]) -> Rule:
    """Return a rule for one of ``words`` in any case; the result has the spelling in ``words``."""
    return Rule(read=_reader_of_words(words), schema={"type": "string", "enum": list(words)})


def several_of(words: Sequence[str]) -> Rule:
    """Return a rule for some of ``words``, separated by commas; the result has the order of ``words``."""
    read_word = _reader_of_words(words)
    word = "|".join(words)  # in the schema

    def read(value: object) -> str:
        chosen = {read_word(each) for each in split_list(value)}
        return ",".join(each for each in words if each in chosen)

    return Rule(read=read, schema={"type": "string", "pattern": f"^({word})(,({word}))*$"})


def several_texts(check: str = "") -> Rule:
    """Return a rule for texts, separated by commas; the result is sorted, without duplicates."""
    return Rule(
        read=lambda value: ",".join(sorted(set(split_list(value)))), schema={"type": "string"}, check=check
    )


def matching(pattern: str, message: str, check: str = "", **schema: Any) -> Rule:
    """Return a rule for a string that matches the whole ``pattern``; ``message`` is the error."""
    compiled = re.compile(pattern, re.ASCII)

    def read(value: object) -> str:
        given = text(value)
        if not compiled.fullmatch(given):
            raise BrokenRule(message)
        return given

    return Rule(read=read, schema={"type": "string", "pattern": f"^{pattern}$", **schema}, check=check)


def id_of(what: str) -> Rule:
    """Return a rule for a numeric id from an earlier response; ``what`` names it in the error."""
    return matching("[1-9][0-9]{0,17}", f"must be {what}, exactly as answered")


def whole_number(at_least: int = 1, at_most: int | None = None) -> Rule:
    """Return a rule for an integer; it refuses ``true``, ``1.0`` and ``"1"``."""
    bounds = f"an integer from {at_least}" + (f" to {at_most:,}" if at_most else "")

    def read(value: object) -> int:
        if type(value) is not int or value < at_least or (at_most and value > at_most):
            raise BrokenRule(f"must be {bounds}")
        return value

    maximum = {"maximum": at_most} if at_most else {}
    return Rule(read=read, schema={"type": "integer", "minimum": at_least, **maximum})


def short_text(max_length: int, *, may_be_empty: bool = False) -> Rule:
    """Return a rule for a short text; it strips surrounding spaces."""
    bounds = f"at most {max_length}" if may_be_empty else f"1 to {max_length}"

    def read(value: object) -> str:
        given = text(value).strip()
        if len(given) > max_length or not (given or may_be_empty):
            raise BrokenRule(f"must have {bounds} characters")
        return given

    shortest = {} if may_be_empty else {"minLength": 1}
    return Rule(read=read, schema={"type": "string", "maxLength": max_length, **shortest})


def _true_or_false(value: object) -> bool:
    if not isinstance(value, bool):
        raise BrokenRule("must be true or false")
    return value


def _day(value: object) -> date:
    given = text(value)
    try:
        if _DAY.fullmatch(given):
            return date.fromisoformat(given)
    except ValueError:  # not in the calendar, such as 2026-02-30
        pass
    raise BrokenRule("must be a day, such as 2026-11-23")


TRUE_OR_FALSE = Rule(read=_true_or_false, schema={"type": "boolean"})
DAY = Rule(read=_day, schema={"type": "string", "pattern": f"^{_DAY.pattern}$"})


def split_list(value: object) -> list[str]:
    """Split a comma-separated list, and strip its values; raises BrokenRule."""
    given = [each.strip() for each in text(value).split(",")]
    if len(given) > limits.MAX_FILTER_VALUES:
        raise BrokenRule(f"must have at most {limits.MAX_FILTER_VALUES} values")
    return given


def _reader_of_words(words: Sequence[str]) -> Callable[[object], str]:
    spellings = {word.lower(): word for word in words}

    def read(value: object) -> str:
        word = spellings.get(text(value).lower())
        if word is None:
            raise BrokenRule(f"must be one of {', '.join(words)}")
        return word

    return read


REOPENED = "Fixed findings that came back, and false positives found at further locations."


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """An object of a response; its times can be converted to UTC."""

    def __post_init__(self) -> None:
        """Check all times; raises ValueError, which makes the decoder refuse the response."""
        check_times({name: getattr(self, name) for name in self.__struct_fields__})


def check_times(values: Mapping[str, Any]) -> None:
    """Raise ValueError for a time that is outside the calendar in UTC."""
    for name, value in values.items():
        # Only in the first and the last year can a time zone lead out of the calendar.
        if type(value) is datetime and not MINYEAR < value.year < MAXYEAR:
            try:
                value.astimezone(UTC)
            except OverflowError as error:
                raise ValueError(f"{name} is a time beyond the calendar") from error


Ok = Annotated[bool, about("Always true; false in a refusal.")]
SeverityCounts = Annotated[
    dict[str, Count],
    Meta(
        max_length=16,
        description="The number of findings by severity; always has all five.",
        extra_json_schema={
            "properties": {key: {"type": "integer", "minimum": 0} for key in SEVERITIES},
            "required": list(SEVERITIES),
        },
    ),
]
_Ref = Annotated[
    str,
    required(any_text(minLength=1, maxLength=limits.MAX_ACCOUNT_REF_LENGTH)),
    about("The account that signs the call."),
]
HostField = Annotated[
    str,
    required(any_text("host", minLength=1)),
    about("The website's domain name; case and one trailing dot do not matter."),
]


class AccountRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request about an account; the client fills in ``portal_account_ref``."""

    portal_account_ref: _Ref = ""


class SiteRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request about a linked website; the client fills in ``portal_account_ref``."""

    host: HostField = ""
    link_id: Annotated[
        str,
        required(any_text(minLength=1)),
        about("The link_id of the website, exactly as returned when it was linked."),
    ] = ""
    portal_account_ref: _Ref = ""


PageField = Annotated[
    int,
    whole_number(),
    about(f"The default is 1. page times page_size is at most {limits.MAX_PAGE_DEPTH:,}."),
]
PageSize = Annotated[
    int, whole_number(at_most=limits.MAX_PAGE_SIZE), about(f"The default is {limits.DEFAULT_PAGE_SIZE}.")
]
Reason = Annotated[str, required(short_text(limits.MAX_REASON_LENGTH)), about("Why.")]
