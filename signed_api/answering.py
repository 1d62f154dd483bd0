"""Routes by which members of an account answer findings, and write to analysts."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any

from signed_api import limits
from signed_api.answers import (
    ACCEPTED,
    ANSWERS,
    DISPUTED,
    FIXED,
    WILL_FIX,
    Answer,
    Message,
    is_reference,
)
from signed_api.findings import ALL, FILTERS, OPEN, DashboardRequest
from signed_api.reading import rules_of
from signed_api.routes import NO_LINK, Route
from signed_api.values import (
    DAY,
    TRUE_OR_FALSE,
    AccountRequest,
    BrokenRule,
    Count,
    Member,
    NumericId,
    Ok,
    PageField,
    PageSize,
    Rule,
    SeverityCounts,
    SiteRequest,
    Some,
    about,
    any_text,
    id_of,
    matching,
    one_of,
    required,
    several_of,
    short_text,
    text,
    whole_number,
)

WITHDRAW, CONFIRM, DECLINE = "withdraw", "confirm", "decline"
ACTS = (WILL_FIX, ACCEPTED, DISPUTED, FIXED, WITHDRAW, CONFIRM, DECLINE)
ENDED = "ended"


def _read_filters(value: object) -> dict[str, Any]:
    """Read an object with filters by the rules of a dashboard request; raises BrokenRule."""
    if not isinstance(value, dict):
        raise BrokenRule("must be an object with filters of a dashboard request")
    rules = rules_of(DashboardRequest)
    filters: dict[str, Any] = {}
    for name, given in value.items():
        if name not in FILTERS:
            raise BrokenRule(f"has {name[:64]}, which is not a filter; the filters are {', '.join(FILTERS)}")
        if given is None or given == "":
            continue
        try:
            filters[name] = rules[name].read(given)
        except BrokenRule as error:
            raise BrokenRule(f"has {name}, which {error}") from error
    if filters.get("query") and filters.get("older_than"):
        raise BrokenRule("must not have older_than with query")
    return filters


def _read_ids(value: object) -> str:
    ids = [each.strip() for each in text(value).split(",")]
    if len(ids) > limits.MAX_CHOSEN_FINDINGS:
        raise BrokenRule(f"must have at most {limits.MAX_CHOSEN_FINDINGS} ids")
    if not all(each.isascii() and each.isdigit() and each[0] != "0" and len(each) <= 18 for each in ids):
        raise BrokenRule("must have ids of findings, exactly as answered, with commas")
    return ",".join(sorted(set(ids), key=int))


def _read_person(value: object) -> str:
    given = text(value)
    if not is_reference(given):
        raise BrokenRule(
            f"must be a reference of a person: 1 to {limits.MAX_PERSON_LENGTH} printable ASCII characters, "
            "without spaces and commas"
        )
    return given


_PERSON = Rule(
    read=_read_person,
    schema={
        "type": "string",
        "minLength": 1,
        "maxLength": limits.MAX_PERSON_LENGTH,
        "pattern": "^[!-+.-~-]+$",
    },
)
_FILTERS_OF_FINDINGS = Rule(
    read=_read_filters,
    check="finding_filters",
    schema={
        "type": "object",
        "properties": {
            name: rule.schema for name, rule in rules_of(DashboardRequest).items() if name in FILTERS
        },
        "additionalProperties": False,
    },
)
By = Annotated[
    str,
    _PERSON,
    about(
        "Your reference of the person, such as a number: it means nothing to this service, and no other "
        "account sees it. Without it, the answer shows as given through the API."
    ),
]
RequestKey = Annotated[
    str,
    matching(
        f"[A-Za-z0-9._-]{{1,{limits.MAX_REQUEST_KEY_LENGTH}}}",
        f"must be 1 to {limits.MAX_REQUEST_KEY_LENGTH} letters, digits, dots, underscores or hyphens",
    ),
    about("A text of yours: repeating the call with it within 7 days changes nothing and returns the same."),
]


class AnswerRequest(SiteRequest, frozen=True, kw_only=True):
    """A request to answer findings, or to change the open answer.

    One of finding_ids and filters chooses the findings. Only open findings can be answered.
    """

    act: Annotated[
        str,
        required(one_of(ACTS)),
        about(
            "will_fix, accepted (accept the risk), disputed (it is not a problem), fixed (we fixed it), "
            "withdraw (the open answer), or confirm or decline (as the second person, an accepted risk)."
        ),
    ] = ""
    finding_ids: Annotated[
        str,
        Rule(read=_read_ids, schema={"type": "string", "pattern": "^[1-9][0-9]{0,17}(,[1-9][0-9]{0,17})*$"}),
        about(f"The id of a finding, or at most {limits.MAX_CHOSEN_FINDINGS} with commas."),
    ] = ""
    filters: Annotated[
        dict[str, Any],
        _FILTERS_OF_FINDINGS,
        about(
            "All open findings that match these filters of a dashboard request, at most "
            f'{limits.MAX_ANSWERED_AT_ONCE:,}: for example {{"problem": "hsts-missing"}}.'
        ),
    ] = {}
    preview: Annotated[
        bool, TRUE_OR_FALSE, about("true: change nothing; return what the call would answer, and selection.")
    ] = False
    selection: Annotated[
        str,
        any_text(maxLength=100),
        about("selection of a preview: the call is refused if other findings match now."),
    ] = ""
    reason: Annotated[
        str,
        short_text(limits.MAX_ANSWER_TEXT, may_be_empty=True),
        about(
            f"Why. Required to accept a risk, and to dispute: then at least {limits.MIN_DISPUTE_REASON} "
            "characters."
        ),
    ] = ""
    evidence: Annotated[
        str,
        short_text(limits.MAX_ANSWER_TEXT, may_be_empty=True),
        about("disputed: what shows it, as text. Required to dispute a second time."),
    ] = ""
    due: Annotated[
        date | None,
        DAY,
        about("will_fix: the day; without it, by the account's rules for the severity, if it has any."),
    ] = None
    until: Annotated[
        date | None,
        DAY,
        about(f"accepted, and required for it: the last day, at most {limits.MAX_ACCEPTED_DAYS} days ahead."),
    ] = None
    assignee: Annotated[str, _PERSON, about("will_fix: who fixes it, as your reference of the person.")] = ""
    by: By = ""
    name: Annotated[
        str,
        short_text(limits.MAX_NAME_LENGTH, may_be_empty=True),
        about("A name that was typed and not verified, such as on a shared page; only without by."),
    ] = ""
    only_unanswered: Annotated[
        bool, TRUE_OR_FALSE, about("true: refuse to replace an open answer (already_answered).")
    ] = False
    request_key: RequestKey = ""


class AnswersRequest(SiteRequest, frozen=True, kw_only=True):
    """A request to list the answers of the account to findings of a website."""

    state: Annotated[str, one_of((OPEN, ENDED, ALL)), about("open, ended or all. The default is open.")] = (
        OPEN
    )
    answer: Annotated[str, several_of(ANSWERS), about("Only such answers; several with commas.")] = ""
    page: PageField = 1
    page_size: PageSize = limits.DEFAULT_PAGE_SIZE


class MessageRequest(SiteRequest, frozen=True, kw_only=True):
    """A request to write to the analysts about a finding, or to change a message within an hour."""

    finding_id: Annotated[str, required(id_of("the id of a finding")), about("The finding.")] = ""
    text: Annotated[
        str, required(short_text(limits.MAX_MESSAGE_LENGTH)), about("The text, as Markdown like notes.")
    ] = ""
    message_id: Annotated[
        str,
        id_of("the id of a message"),
        about("Replace the text of this message; only its author can (the same by), for an hour."),
    ] = ""
    by: By = ""
    request_key: RequestKey = ""


class AnswerRulesRequest(AccountRequest, frozen=True, kw_only=True):
    """A request for the account's rules about answers; each given field is set first."""

    critical_days: Annotated[
        int | None,
        whole_number(0, limits.MAX_FIX_DAYS),
        about(
            "Days in which Critical findings must be fixed, from the day when they were found. 0: no rule."
        ),
    ] = None
    high_days: Annotated[int | None, whole_number(0, limits.MAX_FIX_DAYS), about("Likewise for High.")] = None
    medium_days: Annotated[
        int | None, whole_number(0, limits.MAX_FIX_DAYS), about("Likewise for Medium.")
    ] = None
    low_days: Annotated[int | None, whole_number(0, limits.MAX_FIX_DAYS), about("Likewise for Low.")] = None
    second_person: Annotated[
        bool | None,
        TRUE_OR_FALSE,
        about("true: a second person must confirm accepted risks of Critical and High findings."),
    ] = None
    time_zone: Annotated[
        str, any_text("time_zone"), about("The zone of all days of answers, such as Europe/Berlin.")
    ] = ""
    by: By = ""


class NextLook(Member, frozen=True, kw_only=True):
    """The scan that decides whether findings that were said to be fixed are gone."""

    by: Annotated[
        str,
        about(
            "retest or scan: this service scans now, see job_id. scanner: the next report of the scanner "
            "decides. analyst: nobody scans it again, so analysts look at it."
        ),
    ]
    job_id: Annotated[NumericId | None, about("retest and scan: the scan, for siteScanStatus.")] = None
    source_name: Annotated[str, about("scanner: its name.")] = ""
    on: Annotated[date | None, about("scanner: the day of its next report, in UTC; null: unknown.")] = None
    reason: Annotated[
        str,
        about("Why this service does not scan at once: a code of an error of siteScan, or not_scanned_here."),
    ] = ""


class AnswerResponse(Member, frozen=True, kw_only=True):
    """What was answered, or with preview what would be."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    preview: Annotated[bool, about("Whether this was a preview: nothing changed.")]
    total: Annotated[Count, about("How many findings were chosen; each gets the answer.")]
    by_severity: SeverityCounts
    answered: Annotated[Count, about("How many of them had an open answer, which is replaced.")]
    waiting: Annotated[Count, about("How many accepted risks wait for a second person.")]
    selection: Annotated[str, about("Send it with the call after a preview.")]
    answer: Annotated[Answer | None, about("The answer, if exactly one finding was chosen.")] = None
    next_look: Annotated[NextLook | None, about("fixed: what decides; else null.")] = None


class AnsweredFinding(Member, frozen=True, kw_only=True):
    """An answer with its finding."""

    finding_id: Annotated[NumericId, about("The finding.")]
    title: Annotated[str, about("Its title.")]
    severity: Annotated[str, about("Critical, High, Medium, Low or Info.")]
    status: Annotated[str, about("open, fixed, accepted_risk or false_positive.")]
    location: Annotated[str, about("Where it is: the worst of its locations.")]
    problem: Annotated[str, about("The id of its problem.")]
    answer: Answer


class AnswersResponse(Member, frozen=True, kw_only=True):
    """Answers of the account, newest first."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    answers: Some[AnsweredFinding]
    total: Annotated[Count, about("How many answers match, on all pages.")]
    open: Annotated[
        dict[str, Count], about("All open answers by answer; always has all of them.", max_length=16)
    ]


class MessageResponse(Member, frozen=True, kw_only=True):
    """The stored message."""

    ok: Ok
    host: Annotated[str, about("The website, as in the request.")]
    message: Message
    promised_on: Annotated[date | None, about("The day by which an analyst answers, in UTC.")]


class AnswerRulesResponse(Member, frozen=True, kw_only=True):
    """The account's rules about answers."""

    ok: Ok
    critical_days: Annotated[Count, about("Days in which Critical findings must be fixed; 0: no rule.")]
    high_days: Annotated[Count, about("Likewise for High.")]
    medium_days: Annotated[Count, about("Likewise for Medium.")]
    low_days: Annotated[Count, about("Likewise for Low.")]
    second_person: Annotated[bool, about("Whether a second person must confirm accepted risks.")]
    time_zone: Annotated[str, about("The zone of all days of answers.")]


_NEEDED = {ACCEPTED: ("reason", "until"), DISPUTED: ("reason",)}
_FIELDS_OF = {
    "reason": (WILL_FIX, ACCEPTED, DISPUTED, FIXED, DECLINE),
    "evidence": (DISPUTED,),
    "due": (WILL_FIX,),
    "until": (ACCEPTED,),
    "assignee": (WILL_FIX,),
    "only_unanswered": (WILL_FIX, ACCEPTED, DISPUTED, FIXED),
}


def _between_answer(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if given.get("finding_ids") and given.get("filters"):
        yield "finding_ids", "must not be given with filters"
    act = given.get("act", "")
    for name in _NEEDED.get(act, ()):
        if name not in given and not given.get("preview"):
            yield name, f"is required for {act}"
    for name, acts in _FIELDS_OF.items():
        if given.get(name) and act and act not in acts:
            yield name, f"must not be given with {act}"
    reason = given.get("reason", "")
    if act == DISPUTED and reason and len(reason) < limits.MIN_DISPUTE_REASON:
        yield "reason", f"must have at least {limits.MIN_DISPUTE_REASON} characters to dispute"
    if act in (CONFIRM, DECLINE) and not given.get("by"):
        yield "by", f"is required to {act}: it must be another person than the first"
    if given.get("by") and given.get("name"):
        yield "name", "must not be given with by"


ANSWER = Route(
    path="/v1/site/answer",
    name="siteAnswer",
    summary="Answer findings of a linked website",
    description="An addition to the specification: says what your account will do about findings. No other "
    "account sees an answer, and it changes neither status nor grade: only a scan or an analyst does. A "
    "finding has at most one open answer of an account; a new one replaces it.",
    request=AnswerRequest,
    response=AnswerResponse,
    own_codes=(
        *("unknown_finding", "wrong_state", "already_answered", "selection_changed", "too_many_open"),
        "idempotency_key_reused",
    ),
    between_fields=_between_answer,
    changes=True,
    is_repeatable=False,
)
ANSWER_LIST = Route(
    path="/v1/site/answers",
    name="siteAnswers",
    summary="List the answers of your account",
    description="An addition to the specification: open answers, or those that ended, with their findings.",
    request=AnswersRequest,
    response=AnswersResponse,
)
MESSAGE = Route(
    path="/v1/site/message",
    name="siteMessage",
    summary="Write to the analysts about a finding",
    description="An addition to the specification: an analyst answers by the day in promised_on. Request the "
    "finding to read the conversation; siteChanges has new messages of analysts.",
    request=MessageRequest,
    response=MessageResponse,
    own_codes=("unknown_finding", "wrong_state", "idempotency_key_reused"),
    changes=True,
    is_repeatable=False,
)
ANSWER_RULES = Route(
    path="/v1/account/answer-rules",
    name="accountAnswerRules",
    summary="Days to fix and who confirms",
    description="An addition to the specification: returns the account's rules about answers; fields set "
    "them.",
    request=AnswerRulesRequest,
    response=AnswerRulesResponse,
    absent_codes=NO_LINK,
    changes=True,
)
ROUTES: tuple[Route[Any, Any], ...] = (ANSWER, ANSWER_LIST, MESSAGE, ANSWER_RULES)
__all__ = ["ACTS", "ANSWER", "ANSWER_LIST", "ANSWER_RULES", "MESSAGE", "ROUTES"]
