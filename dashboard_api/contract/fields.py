"""Fields of each signed request: how a value is read, and its schema in OpenAPI."""

from typing import Any

from dashboard_api import limits
from dashboard_api.contract import values
from dashboard_api.contract.cursor import CALL_PATTERN, PATTERN
from dashboard_api.contract.values import Field
from dashboard_api.models import Finding, Kind, Publicity, ScanJob, ScanSchedule, Severity

ALL = "all"
NEXT_IMPORT = "next_import"
PROBLEM = "problem"
LOCATIONS = "locations"
SORTS = ("worst", "newest", "oldest", LOCATIONS, "priority")
ANSWERED, REFUSED = OUTCOMES = ("answered", "refused")
PROOFS = ("dns", "file", "meta")
PROFILES = tuple(ScanJob.Profile.values)
FREQUENCIES = tuple(ScanSchedule.Frequency.values)
STATUSES = (*Finding.Status.values, ALL)


def _lists(allowed: list[str]) -> dict[str, Any]:
    """Return the schema of values with commas between them."""
    value = "|".join(allowed)
    return {"type": ["string", "null"], "pattern": f"^$|^({value})(,({value}))*$"}


def _strings(allowed: list[str] | tuple[str, ...]) -> dict[str, Any]:
    return {"type": ["string", "null"], "enum": [*allowed, "", None]}


_SOME_TEXT = {"type": "string", "minLength": 1}
WHOSE: dict[str, Field] = {
    "host": Field(
        read=values.host,
        required=True,
        schema=_SOME_TEXT
        | {"description": "The website's domain name; case and one trailing dot do not matter."},
    ),
    "link_id": Field(
        read=values.text,
        required=True,
        schema=_SOME_TEXT
        | {"description": "The UUID that linking the website returned, exactly as returned."},
    ),
    "portal_account_ref": Field(
        read=values.text,
        required=True,
        schema=_SOME_TEXT
        | {
            "maxLength": limits.MAX_ACCOUNT_REF_LENGTH,
            "description": "The account whose secret signs the call.",
        },
    ),
}

DASHBOARD_FIELDS: dict[str, Field] = WHOSE | {
    "severity": Field(
        read=values.severities,
        schema=_lists(Severity.labels)
        | {
            "description": f"{', '.join(Severity.labels)}, or several with commas (Critical,High); case does "
            "not matter."
        },
    ),
    "source": Field(
        read=values.sources,
        schema={
            "type": ["string", "null"],
            "description": "A scanner by its slug, or several with commas (nuclei,zap). An unknown one is "
            "refused.",
        },
    ),
    "kind": Field(
        read=values.kinds,
        schema=_lists(Kind.values)
        | {
            "description": f"A certainty: {', '.join(Kind.values)}, or several with commas; case does not "
            "matter."
        },
    ),
    "query": Field(
        read=values.query,
        schema={
            "type": ["string", "null"],
            "maxLength": limits.MAX_QUERY_LENGTH,
            "description": "Words that must all occur in title, description, location, rule or CVE; "
            "the last one also as the beginning of a word. Case and accents do not matter.",
        },
    ),
    "page": Field(
        read=values.whole_number(),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "description": f"The default is 1. page times page_size is at most {limits.MAX_PAGE_DEPTH:,}.",
        },
    ),
    "page_size": Field(
        read=values.whole_number(at_most=limits.MAX_PAGE_SIZE),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_PAGE_SIZE,
            "description": f"The default is {limits.DEFAULT_PAGE_SIZE}.",
        },
    ),
    "status": Field(
        read=values.one_of(STATUSES),
        schema=_strings(STATUSES)
        | {"description": f"The default is {Finding.Status.OPEN}. An addition to the specification."},
    ),
    "group_by": Field(
        read=values.one_of([PROBLEM]),
        schema=_strings([PROBLEM])
        | {
            "description": "problem: pages list the problems in dashboard.problems, and threats is empty. "
            "Not together with problem."
        },
    ),
    "problem": Field(
        read=values.problem,
        schema={
            "type": ["string", "null"],
            "maxLength": limits.MAX_PROBLEM_ID_LENGTH,
            "pattern": f"^$|^{values.PROBLEM_ID.pattern}$",
            "description": "Only the findings of this problem, by the id that dashboard.problems or "
            "dashboard.do_first answered.",
        },
    ),
    "sort": Field(
        read=values.one_of(SORTS),
        schema=_strings(SORTS)
        | {
            "description": f"The order of the list. The default is {SORTS[0]}: the worst first; newest and "
            "oldest begin with what was stored last or first. priority is worst, with confirmed findings "
            "before suspected ones of the same severity. locations only with group_by: the problems with "
            "most locations.",
        },
    ),
    "since": Field(
        read=values.whole_number(at_most=limits.MAX_SINCE_DAYS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_SINCE_DAYS,
            "description": "Only findings first seen in the last so many days of UTC, today included; "
            "counted as a search is.",
        },
    ),
    "older_than": Field(
        read=values.whole_number(at_most=limits.MAX_SINCE_DAYS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_SINCE_DAYS,
            "description": "Only findings first seen before the last so many days of UTC, today included; "
            "together with since, between the two. The newest by first_seen come first, within a severity "
            "too. Counted as a search is; not together with query.",
        },
    ),
    "fixed_since": Field(
        read=values.whole_number(at_most=limits.MAX_SINCE_DAYS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_SINCE_DAYS,
            "description": "Only findings fixed in the last so many days of UTC, today included, the last "
            "fixed first, within a severity too. Only with status fixed; counted as a search is; not "
            "together with query, since or older_than.",
        },
    ),
    "hosts": Field(
        read=values.hosts,
        schema={
            "type": ["string", "null"],
            "description": "Only findings whose location, the first of several, is on this host of the "
            "website, or on one of several with commas. Together with problem or group_by, counted as a "
            "search is.",
        },
    ),
}

FINDING_FIELDS: dict[str, Field] = WHOSE | {
    "finding_id": Field(
        read=values.text,
        required=True,
        schema=_SOME_TEXT | {"description": "The id of a finding, exactly as in a response."},
    ),
}

CHANGES_FIELDS: dict[str, Field] = WHOSE | {
    "since": Field(
        read=values.cursor,
        schema={
            "type": ["string", "null"],
            "maxLength": limits.MAX_CURSOR_LENGTH,
            "pattern": f"^$|{PATTERN}",
            "description": "The cursor of the last response; without it, only a new cursor is returned. In "
            "the first day after the website was linked, that one is before its first check, unless the "
            "website was checked before the link.",
        },
    ),
    "min_severity": Field(
        read=values.severity,
        schema=_strings(Severity.labels)
        | {"description": "Only findings of this severity and worse. The default is all."},
    ),
    "until": Field(
        read=values.one_of([NEXT_IMPORT]),
        schema=_strings([NEXT_IMPORT])
        | {"description": "Only the changes by the first import since the cursor; more: others follow."},
    ),
    "days": Field(
        read=values.whole_number(at_most=limits.MAX_CHANGES_DAYS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_CHANGES_DAYS,
            "description": "Instead of since: changes of this many days in UTC, today included.",
        },
    ),
}


CALLS_FIELDS: dict[str, Field] = {
    "portal_account_ref": WHOSE["portal_account_ref"],
    "day": Field(
        read=values.day,
        schema={
            "type": ["string", "null"],
            "pattern": f"^$|^{values.DAY.pattern}$",
            "description": "Only the calls of this day, in UTC.",
        },
    ),
    "outcome": Field(
        read=values.one_of(OUTCOMES),
        schema=_strings(OUTCOMES)
        | {"description": "answered: only calls with status 200; refused: only those with another."},
    ),
    "before": Field(
        read=values.call_position,
        schema={
            "type": ["string", "null"],
            "pattern": f"^$|{CALL_PATTERN}",
            "description": "before of the last response: the calls that are older.",
        },
    ),
    "page_size": Field(
        read=values.whole_number(at_most=limits.MAX_CALLS),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": limits.MAX_CALLS,
            "description": f"The default is {limits.DEFAULT_CALLS}.",
        },
    ),
}


ACCOUNT_FIELDS: dict[str, Field] = {"portal_account_ref": WHOSE["portal_account_ref"]}
WEBSITES_FIELDS: dict[str, Field] = ACCOUNT_FIELDS | {
    "stay": Field(
        read=values.websites,
        schema={
            "type": ["string", "null"],
            "description": "Hosts with commas between them: the websites that stay while the plan includes "
            "fewer than the account has. The others are paused at pauses_at.",
        },
    ),
}


_CLAIM_ID = Field(
    read=values.id_of("claim_id of a claim"),
    required=True,
    schema={"type": "string", "pattern": r"^[1-9][0-9]{0,17}$", "description": "claim_id of a claim."},
)
_REASON = Field(
    read=values.reason,
    required=True,
    schema={
        "type": "string",
        "minLength": 1,
        "maxLength": limits.MAX_REASON_LENGTH,
        "description": "Why.",
    },
)
CLAIM_FIELDS: dict[str, Field] = {
    "portal_account_ref": WHOSE["portal_account_ref"],
    "host": WHOSE["host"],
}
CLAIM_CHECK_FIELDS: dict[str, Field] = {
    "portal_account_ref": WHOSE["portal_account_ref"],
    "claim_id": _CLAIM_ID,
    "method": Field(
        read=values.one_of(PROOFS),
        schema=_strings(PROOFS)
        | {
            "description": "Look in this place and in that of the last proof; such a check counts only if it "
            "finds the token. The default is everywhere."
        },
    ),
}
CLAIM_WITHDRAW_FIELDS: dict[str, Field] = {
    "portal_account_ref": WHOSE["portal_account_ref"],
    "claim_id": _CLAIM_ID,
    "reason": _REASON,
}
CLAIMS_FIELDS: dict[str, Field] = {
    "portal_account_ref": WHOSE["portal_account_ref"],
    "host": Field(
        read=values.host,
        schema={"type": ["string", "null"], "description": "Only the claim to this host."},
    ),
    "claim_id": Field(
        read=values.id_of("claim_id of a claim"),
        schema={
            "type": ["string", "null"],
            "pattern": r"^([1-9][0-9]{0,17})?$",
            "description": "Only this claim, also if it ended long ago.",
        },
    ),
    "page": DASHBOARD_FIELDS["page"],
    "page_size": DASHBOARD_FIELDS["page_size"],
}


SECRETS_FIELDS: dict[str, Field] = {
    "portal_account_ref": WHOSE["portal_account_ref"],
    "issue": Field(
        read=values.true_or_false,
        schema={"type": ["boolean", "null"], "description": "true: issue another secret."},
    ),
    "retire": Field(
        read=values.id_of("id of a secret"),
        schema={
            "type": ["string", "null"],
            "pattern": r"^([1-9][0-9]{0,17})?$",
            "description": "The id of a secret, which then works for one more day.",
        },
    ),
}


AS_ACCOUNT = "as_account"
PUBLICITY_FIELDS: dict[str, Field] = {
    "portal_account_ref": WHOSE["portal_account_ref"],
    "host": Field(
        read=WHOSE["host"].read,
        schema=WHOSE["host"].schema | {"description": "Change this website; the default is the account."},
    ),
    "publicity": Field(
        read=values.one_of((*Publicity.values, AS_ACCOUNT)),
        schema=_strings((*Publicity.values, AS_ACCOUNT))
        | {"description": "counted, named or nothing; for a website also as_account."},
    ),
    "region": Field(
        read=values.region,
        schema={
            "type": "string",
            "pattern": "^([A-Z]{2}|[0-9]{3})$",
            "description": "Of the website: a country (DE), a continent of UN M49 (150), or 001.",
        },
    ),
    "page": DASHBOARD_FIELDS["page"],
    "page_size": DASHBOARD_FIELDS["page_size"],
}
_JOB_ID = Field(
    read=values.id_of("job_id of a scan"),
    required=True,
    schema={"type": "string", "pattern": r"^[1-9][0-9]{0,17}$", "description": "job_id of a scan."},
)
_PROFILE = Field(
    read=values.one_of(PROFILES),
    schema=_strings(PROFILES)
    | {
        "description": "quick: under a minute. standard: some minutes, with more scanners. deep: up to an "
        f"hour, with attacks; it needs a proof by DNS and consent. The default is {PROFILES[0]}.",
    },
)
_CONSENT = Field(
    read=values.true_or_false,
    schema={
        "type": ["boolean", "null"],
        "description": "true: the owner agrees to deep scans of the website for a year. Recorded, if DNS "
        "proves the website.",
    },
)
SCAN_FIELDS: dict[str, Field] = WHOSE | {
    "profile": _PROFILE,
    "consent": _CONSENT,
    "finding_id": Field(
        read=values.text,
        schema={
            "type": ["string", "null"],
            "description": "A retest: only the scanner of this finding runs. Not together with profile.",
        },
    ),
    "confirmed_page": Field(
        read=values.id_of("job_id of a scan"),
        schema={
            "type": ["string", "null"],
            "pattern": r"^([1-9][0-9]{0,17})?$",
            "description": "The job_id of a scan with a page_change: the owner confirms that this page is "
            "the website's own. Recorded, also where no scan can begin now.",
        },
    ),
}
SCAN_STATUS_FIELDS: dict[str, Field] = WHOSE | {"job_id": _JOB_ID}
SCAN_CANCEL_FIELDS: dict[str, Field] = WHOSE | {
    "job_id": _JOB_ID,
    "reason": Field(
        read=values.reason,
        schema={"type": ["string", "null"], "maxLength": limits.MAX_REASON_LENGTH, "description": "Why."},
    ),
}
SCANS_FIELDS: dict[str, Field] = WHOSE | {
    "finding_id": Field(
        read=values.id_of("the id of a finding"),
        schema={
            "type": ["string", "null"],
            "pattern": r"^([1-9][0-9]{0,17})?$",
            "description": "Only the retests of this finding.",
        },
    ),
    "page": DASHBOARD_FIELDS["page"],
    "page_size": DASHBOARD_FIELDS["page_size"],
}
SCAN_SCHEDULE_FIELDS: dict[str, Field] = WHOSE | {
    "frequency": Field(
        read=values.one_of(FREQUENCIES),
        schema=_strings(FREQUENCIES)
        | {"description": "Sets the whole schedule; other fields that are left out get their default."},
    ),
    "profile": _PROFILE,
    "start_hour": Field(
        read=values.whole_number(at_least=0, at_most=23),
        schema={
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": 23,
            "description": f"The hour at which the window begins. The default is {limits.SCAN_START_HOUR}.",
        },
    ),
    "hours": Field(
        read=values.whole_number(at_most=24),
        schema={
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 24,
            "description": "The length of the window; the scan begins somewhere in it. The default is "
            f"{limits.SCAN_HOURS}.",
        },
    ),
    "time_zone": Field(
        read=values.time_zone,
        schema={
            "type": ["string", "null"],
            "description": "The zone of start_hour, such as Europe/Berlin. The default is UTC.",
        },
    ),
    "paused_until": Field(
        read=values.day,
        schema={
            "type": ["string", "null"],
            "pattern": f"^$|^{values.DAY.pattern}$",
            "description": "No scan begins by itself before this day.",
        },
    ),
    "consent": _CONSENT,
}
