"""Responses of the service for tests: plain functions with keyword overrides."""

from datetime import UTC, date, datetime, timedelta

from signed_api.account import CallsResponse, SignedCall
from signed_api.claims import ClaimCheck, ProofFile, ProofInstructions, ProofRecord, WebsiteClaim
from signed_api.findings import (
    Change,
    ChangesResponse,
    Chart,
    CoverageEntry,
    DashboardResponse,
    Entitlement,
    Facets,
    FacetValue,
    FindingDetail,
    FindingResponse,
    MessageChange,
    Note,
    NoteChange,
    Page,
    Problem,
    Series,
    Summary,
    Threat,
)
from tests.structs import build

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SEVERITIES = ("Critical", "High", "Medium", "Low", "Info")


def make_threat(number=1, **fields):
    return build(Threat, **_threat_fields(number) | fields)


def make_finding(number=1, **fields):
    return build(FindingDetail, **_threat_fields(number) | fields)


def make_finding_response(**fields):
    defaults = {"ok": True, "host": "shop.example.com", "finding": make_finding(), "analyst_notes": []}
    return build(FindingResponse, **(defaults | fields))


def _threat_fields(number):
    return {
        "id": str(number),
        "severity": "High",
        "status": "open",
        "kind": "confirmed",
        "source": "nuclei",
        "source_name": "Nuclei",
        "title": f"Finding {number}",
        "location": f"https://shop.example.com/page/{number}",
        "locations_count": 1,
        "rule": "http/missing-header",
        "first_seen": datetime(2026, 11, 1, 8, 0, tzinfo=UTC),
        "last_seen": datetime(2026, 11, 19, 22, 15, tzinfo=UTC),
    }


def make_facets(**counts):
    """Return counts by value, such as ``severity={"High": 2}``."""
    labels = {"nuclei": "Nuclei", "zap": "ZAP"}
    counts_by_name = {
        "severity": dict.fromkeys(SEVERITIES, 0) | {"High": 2},
        "source": {"nuclei": 2, "zap": 0},
        "kind": {"confirmed": 2, "suspected": 0, "informational": 0},
    } | counts
    return build(
        Facets,
        **{
            name: [
                build(FacetValue, value, labels.get(value, value.capitalize()), count)
                for value, count in values.items()
            ]
            for name, values in counts_by_name.items()
        },
    )


def make_page(**fields):
    defaults = {"generated_at": NOW, "grade": "D", "total": 2, "page_count": 1, "facets": make_facets()}
    return build(Page, **(defaults | fields))


def make_problem(number=1, **fields):
    defaults = {"id": f"{number:016x}", "title": f"Problem {number}", "severity": "Critical"}
    defaults |= {"findings": 10, "worst_findings": 10, "confirmed": 10, "locations": 30}
    return build(Problem, **(defaults | {"source_names": ["ZAP"], "hosts": ["shop.example.com"]} | fields))


def make_summary(**fields):
    defaults = {
        "open": 2,
        "by_severity": dict.fromkeys(SEVERITIES, 0) | {"High": 2},
        "confirmed": 2,
        "new_7d": 1,
        "fixed_7d": 3,
        "oldest_open_days": 19,
        "last_scan_at": datetime(2026, 11, 19, 22, 15, tzinfo=UTC),
    }
    return build(Summary, **(defaults | fields))


def make_charts():
    weeks = ["2026-11-02", "2026-11-09", "2026-11-16"]
    return [
        build(
            Chart,
            id="severity",
            title="Findings by severity",
            type="bar",
            labels=list(SEVERITIES),
            series=[build(Series, "Findings", [0, 2, 0, 0, 0])],
        ),
        build(
            Chart,
            id="trend",
            title="New and fixed findings per week",
            type="line",
            labels=weeks,
            series=[build(Series, "New", [1, 0, 1]), build(Series, "Fixed", [0, 2, 1])],
        ),
        build(
            Chart,
            id="open",
            title="Open findings at the end of each week",
            type="line",
            labels=weeks,
            series=[
                build(Series, severity, [3, 1, 2] if severity == "High" else [0] * 3)
                for severity in SEVERITIES
            ],
        ),
        build(
            Chart,
            id="age",
            title="Age of open findings",
            type="bar",
            labels=["Up to 7 days", "8 to 30 days"],
            series=[build(Series, "Findings", [1, 1])],
        ),
    ]


def make_coverage(state="ok", **fields):
    defaults = {"source": "nuclei", "source_name": "Nuclei", "state": state}
    if state != "never":
        defaults |= {
            "last_run_at": datetime(2026, 11, 19, 22, 15, tzinfo=UTC),
            "urls_checked": 1204,
            "findings": 2,
        }
    return build(CoverageEntry, **(defaults | fields))


def make_note(**fields):
    defaults = {"id": "1", "author": "Ada", "body": "Please **update**.", "created_at": NOW}
    return build(Note, **(defaults | fields))


def make_entitlement(**fields):
    defaults = {
        "plan": "standard",
        "status": "active",
        "starts_on": date(2026, 1, 1),
        "ends_on": date(2027, 12, 31),
        "days_left": 406,
        "sites_used": 2,
        "sites_limit": 5,
        "features": ["scans_daily", "deep_scans"],
    } | fields
    defaults.setdefault("usable_until", defaults["ends_on"])
    return build(Entitlement, **defaults)


def make_dashboard(**fields):
    defaults = {
        "ok": True,
        "host": "shop.example.com",
        "dashboard": make_page(),
        "summary": make_summary(),
        "threats": [make_threat(1), make_threat(2)],
        "charts": make_charts(),
        "coverage": [make_coverage()],
        "analyst_notes": [],
        "entitlement": make_entitlement(),
    }
    return build(DashboardResponse, **(defaults | fields))


def make_clean_dashboard(**fields):
    """Return a dashboard of a checked website without findings."""
    nothing = dict.fromkeys(SEVERITIES, 0)
    defaults = {
        "dashboard": make_page(
            total=0,
            page_count=0,
            grade="A",
            facets=make_facets(severity=nothing, source={"nuclei": 0}, kind={"confirmed": 0}),
        ),
        "summary": make_summary(open=0, by_severity=nothing, oldest_open_days=None),
        "threats": [],
        "charts": [],
    }
    return make_dashboard(**(defaults | fields))


def make_change(number=1, severity="High", **fields):
    defaults = {"id": str(number), "event": "new", "severity": severity, "title": f"Finding {number}"}
    return build(Change, **(defaults | {"location": f"https://shop.example.com/page/{number}"} | fields))


def make_note_change(number=1, **fields):
    return build(NoteChange, **({"id": str(number), "author": "Ada"} | fields))


def make_message_change(number=1, **fields):
    defaults = {"id": str(number), "side": "analyst", "event": "message", "by": "Robin", "findings": 1}
    return build(MessageChange, **(defaults | {"finding_id": "7", "finding_title": "Finding 7"} | fields))


def make_changes(*findings, **fields):
    """Return changes, with the counts of the service by default."""
    counts = dict.fromkeys(SEVERITIES, 0)
    for finding in findings:
        counts[finding.severity] += 1
    defaults = {"ok": True, "host": "shop.example.com", "cursor": "2.0.0.", "findings": list(findings)}
    return build(ChangesResponse, **(defaults | {"total": len(findings), "by_severity": counts} | fields))


def make_call(number=1, **fields):
    defaults = {
        "at": NOW,
        "route": "site/dashboard",
        "host": "shop.example.com",
        "secret_id": "7",
        "secret_hint": "es1_live_Ab12",
        "status": 200,
        "request_id": f"req-{number}",
        "address": "192.0.2.7",
    }
    return build(SignedCall, **(defaults | fields))


def make_calls(*calls, before=None):
    return build(CallsResponse, ok=True, calls=list(calls), before=before)


def make_claim(number=1, **fields):
    """Return a claim that waits for its proof."""
    token = "tdv1-abcdefghijklmnopqrstuvwxyz234567"
    url = "https://shop.example.com/.well-known/threat-dashboard-challenge.txt"
    defaults = {
        "claim_id": str(number),
        "host": "shop.example.com",
        "state": "pending",
        "token": token,
        "instructions": build(
            ProofInstructions,
            dns=build(
                ProofRecord,
                name="_threat-dashboard-challenge.shop.example.com",
                relative_name="_threat-dashboard-challenge.shop",
                value=token,
            ),
            file=build(ProofFile, url=url, content=token),
            meta=f'<meta name="threat-dashboard-verification" content="{token}">',
        ),
        "created_at": NOW,
        "next_check_at": NOW + timedelta(hours=1),
        "expires_at": NOW + timedelta(days=30),
    }
    return build(WebsiteClaim, **(defaults | fields))


def make_claim_check(method="file", outcome="not_found", **fields):
    return build(
        ClaimCheck, **({"method": method, "at": NOW, "outcome": outcome, "expected": "tdv1-abc"} | fields)
    )
