"""An example request and response of each route, validated in tests.

The OpenAPI document shows them, and calls signed with a test secret get them.
"""

from typing import Any

LINK = {
    "host": "shop.example.com",
    "link_id": "6f1c2f0a-4f0e-4a37-9a0e-0d9b6d1f5a11",
    "portal_account_ref": "acct_0001",
}
_THREAT = {
    "id": "1042",
    "severity": "High",
    "source": "zap",
    "source_name": "ZAP",
    "kind": "confirmed",
    "status": "open",
    "title": "SQL injection",
    "description": "The parameter q is part of a database query.",
    "location": "https://shop.example.com/search",
    "locations_count": 1,
    "evidence": "GET /search?q=%27 HTTP/1.1",
    "remediation": "Use a query with parameters.",
    "references": ["https://owasp.org/www-community/attacks/SQL_Injection"],
    "cwe": [89],
    "cve": [],
    "rule": "40018",
    "first_seen": "2026-11-16T08:30:00Z",
    "last_seen": "2026-11-20T08:30:00Z",
    "evidence_truncated": False,
    "problem": "sql-injection",
    "topic": "sql-injection",
    "verified": True,
}
_PROBLEM = {
    "id": "sql-injection",
    "title": "SQL injection",
    "severity": "High",
    "sources": ["zap"],
    "source_names": ["ZAP"],
    "rule": "40018",
    "findings": 1,
    "worst_findings": 1,
    "confirmed": 1,
    "locations": 1,
    "hosts": ["shop.example.com"],
    "first_seen": "2026-11-16T08:30:00Z",
    "newest_first_seen": "2026-11-16T08:30:00Z",
    "fix": "Use a query with parameters.",
    "topic": "sql-injection",
}
_NOTE = {
    "id": "7",
    "finding_id": "1042",
    "author": "Robin",
    "body": "Please fix this one **first**.",
    "created_at": "2026-11-17T09:00:00Z",
    "updated_at": "2026-11-17T09:00:00Z",
    "problem": "sql-injection",
    "pinned": True,
}
_NO_SEVERITY = dict.fromkeys(("Critical", "High", "Medium", "Low", "Info"), 0)

REQUESTS: dict[str, dict[str, Any]] = {
    "DashboardRequest": {**LINK, "page": 1, "page_size": 20},
    "FindingRequest": {**LINK, "finding_id": "1042"},
    "ChangesRequest": {**LINK, "min_severity": "High"},
    "ClaimRequest": {"portal_account_ref": LINK["portal_account_ref"], "host": LINK["host"]},
    "ClaimCheckRequest": {"portal_account_ref": LINK["portal_account_ref"], "claim_id": "7"},
    "ClaimWithdrawRequest": {
        "portal_account_ref": LINK["portal_account_ref"],
        "claim_id": "7",
        "reason": "The website was sold.",
    },
    "ClaimsRequest": {"portal_account_ref": LINK["portal_account_ref"]},
    "SecretsRequest": {"portal_account_ref": LINK["portal_account_ref"], "issue": True},
    "PublicityRequest": {
        "portal_account_ref": LINK["portal_account_ref"],
        "host": LINK["host"],
        "publicity": "nothing",
    },
    "EntitlementRequest": {"portal_account_ref": LINK["portal_account_ref"]},
    "AccountChangesRequest": {"portal_account_ref": LINK["portal_account_ref"]},
    "WebsitesRequest": {"portal_account_ref": LINK["portal_account_ref"], "stay": LINK["host"]},
    "ScanRequest": {**LINK, "profile": "quick"},
    "ScanStatusRequest": {**LINK, "job_id": "31"},
    "ScanCancelRequest": {**LINK, "job_id": "31", "reason": "A release begins."},
    "ScansRequest": {**LINK, "page": 1},
    "ScanScheduleRequest": {
        **LINK,
        "frequency": "weekly",
        "profile": "standard",
        "start_hour": 2,
        "hours": 4,
        "time_zone": "Europe/Berlin",
    },
    "CallsRequest": {"portal_account_ref": LINK["portal_account_ref"], "outcome": "refused"},
}
_SCAN: dict[str, Any] = {
    "job_id": "31",
    "profile": "quick",
    "trigger": "hand",
    "finding_id": None,
    "state": "running",
    "position": None,
    "cancelling": False,
    "outcome": None,
    "reason": None,
    "explanation": "",
    "created_at": "2026-11-21T12:00:00Z",
    "started_at": "2026-11-21T12:00:02Z",
    "ended_at": None,
    "runs": [
        {
            "engine": "essentials",
            "state": "ok",
            "reason": None,
            "started_at": "2026-11-21T12:00:02Z",
            "ended_at": "2026-11-21T12:00:06Z",
            "usual_seconds": 4,
        },
        {
            "engine": "sslyze",
            "state": "running",
            "reason": None,
            "started_at": "2026-11-21T12:00:06Z",
            "ended_at": None,
            "usual_seconds": 9,
        },
    ],
    "new": None,
    "reopened": None,
    "fixed": None,
    "cancellable": True,
    "page_change": None,
}
_CLAIM: dict[str, Any] = {
    "claim_id": "7",
    "host": "shop.example.com",
    "state": "verified",
    "method": "file",
    "strength": "https",
    "token": "tdv1-mfrggzdfmztwq2lknnwg23tpobyxe43u",
    "instructions": {
        "dns": {
            "name": "_threat-dashboard-challenge.shop.example.com",
            "relative_name": "_threat-dashboard-challenge.shop",
            "value": "tdv1-mfrggzdfmztwq2lknnwg23tpobyxe43u",
        },
        "file": {
            "url": "https://shop.example.com/.well-known/threat-dashboard-challenge.txt",
            "content": "tdv1-mfrggzdfmztwq2lknnwg23tpobyxe43u",
        },
        "meta": '<meta name="threat-dashboard-verification" content="tdv1-mfrggzdfmztwq2lknnwg23tpobyxe43u">',
    },
    "checks": [
        {
            "method": "file",
            "at": "2026-11-21T12:00:00Z",
            "outcome": "found",
            "asked": ["https://shop.example.com/.well-known/threat-dashboard-challenge.txt (192.0.2.10)"],
            "expected": "tdv1-mfrggzdfmztwq2lknnwg23tpobyxe43u",
            "found": ["tdv1-mfrggzdfmztwq2lknnwg23tpobyxe43u"],
            "advice": "",
        }
    ],
    "created_at": "2026-11-21T11:50:00Z",
    "next_check_at": "2026-11-28T12:00:00Z",
    "check_allowed_at": "2026-11-21T12:00:15Z",
    "expires_at": None,
    "verified_at": "2026-11-21T12:00:00Z",
    "lapses_at": None,
    "ended_at": None,
    "ended_reason": None,
    "link_id": LINK["link_id"],
    "link_problem": None,
    "others": [
        {
            "claim_id": "9",
            "method": "dns",
            "token": "tdv1-obzg6zdsmfwxgzlqmfzgk43uojuw4zzb",
            "since": "2026-11-22T09:00:00Z",
        }
    ],
    "paused_schedule": None,
    "different_page": None,
}
RESPONSES: dict[str, dict[str, Any]] = {
    "ClaimResponse": {"ok": True, "claim": _CLAIM},
    "SecretsResponse": {
        "ok": True,
        "secrets": [
            {
                "id": "12",
                "hint": "es1_live_3fKq",
                "state": "active",
                "is_test": False,
                "for_portal": False,
                "created_at": "2026-11-20T08:30:00Z",
                "retires_at": None,
                "last_used_at": None,
            }
        ],
        "secret": "es1_live_3fKq...",
    },
    "PublicityResponse": {
        "ok": True,
        "publicity": "counted",
        "websites": [
            {"host": LINK["host"], "publicity": "nothing", "effective": "nothing", "region": "GB"},
        ],
        "total": 1,
    },
    "ClaimsResponse": {"ok": True, "claims": [_CLAIM], "total": 1},
    "ScanResponse": {"ok": True, "host": LINK["host"], "job": _SCAN, "already": False},
    "ScanStatusResponse": {"ok": True, "host": LINK["host"], "job": _SCAN},
    "ScansResponse": {"ok": True, "host": LINK["host"], "jobs": [_SCAN], "total": 1},
    "ScanScheduleResponse": {
        "ok": True,
        "host": LINK["host"],
        "schedule": {
            "frequency": "weekly",
            "profile": "standard",
            "start_hour": 2,
            "hours": 4,
            "time_zone": "Europe/Berlin",
            "paused_until": None,
            "pause_reason": None,
        },
        "frequencies": ["off", "weekly", "monthly"],
        "next_at": ["2026-11-28T02:13:00Z", "2026-12-05T02:13:00Z", "2026-12-12T02:13:00Z"],
        "allowance": [
            {
                "profile": "quick",
                "included": True,
                "allowed_at": "2026-11-21T12:05:00Z",
                "remaining_today": 19,
                "reason": None,
            }
        ],
        "month": {"used": 7, "limit": 100},
        "consent_until": None,
        "origin": {
            "addresses": ["192.0.2.200"],
            "user_agent": "ThreatDashboard/1",
        },
    },
    "DashboardResponse": {
        "ok": True,
        "host": "shop.example.com",
        "dashboard": {
            "generated_at": "2026-11-21T12:00:00Z",
            "grade": "D",
            "filters": {
                **dict.fromkeys(("severity", "source", "kind", "query", "problem", "hosts")),
                "sort": "worst",
                "since": None,
                "older_than": None,
                "fixed_since": None,
            },
            "page": 1,
            "page_size": 20,
            "page_count": 1,
            "total": 1,
            "total_relation": "exact",
            "facets": {
                "severity": [{"value": "High", "label": "High", "count": 1}],
                "source": [{"value": "zap", "label": "ZAP", "count": 1}],
                "kind": [{"value": "confirmed", "label": "confirmed", "count": 1}],
                "status": [{"value": "open", "label": "open", "count": 1}],
                "hosts": [{"value": "shop.example.com", "label": "shop.example.com", "count": 1}],
            },
            "revision": "12.3",
            "bounded_facets": [],
            "grade_provisional": False,
            "do_first": [_PROBLEM],
            "problems": [],
            "problem_total": None,
            "problem_total_relation": None,
        },
        "summary": {
            "open": 1,
            "by_severity": {**_NO_SEVERITY, "High": 1},
            "confirmed": 1,
            "new_7d": 1,
            "fixed_7d": 0,
            "oldest_open_days": 5,
            "last_scan_at": "2026-11-20T08:30:00Z",
            "newest_open_days": 5,
            "first_check_by": None,
            "next_grade": {"grade": "A", "fixes": 1},
            "history": [{"day": "2026-11-18", "grade": "D", "open": 1, "fixes": 1}],
        },
        "threats": [_THREAT],
        "charts": [
            {
                "id": "severity",
                "title": "Findings by severity",
                "type": "bar",
                "unit": "findings",
                "labels": ["Critical", "High", "Medium", "Low", "Info"],
                "series": [{"name": "open", "values": [0, 1, 0, 0, 0]}],
            }
        ],
        "coverage": [
            {
                "source": "zap",
                "source_name": "ZAP",
                "state": "ok",
                "last_run_at": "2026-11-20T08:30:00Z",
                "urls_checked": 131,
                "findings": 1,
                "version": "2.15.0",
                "detail": "",
                "next_due_on": "2026-11-27",
                "stale": False,
                "ours": False,
            }
        ],
        "analyst_notes": [_NOTE],
        "entitlement": {
            "plan": "standard",
            "status": "active",
            "starts_on": "2026-01-01",
            "ends_on": "2026-12-31",
            "days_left": 40,
            "sites_used": 1,
            "sites_limit": 5,
            "features": ["scans_daily"],
            "usable_until": "2026-12-31",
            "renews": False,
            "limits": [{"name": "websites", "limit": 5, "state": "ok", "resets_at": None}],
        },
    },
    "FindingResponse": {
        "ok": True,
        "host": "shop.example.com",
        "finding": {
            **_THREAT,
            "locations": [
                {
                    "location": "https://shop.example.com/search",
                    "evidence": "GET /search?q=%27 HTTP/1.1",
                    "evidence_truncated": False,
                    "first_seen": "2026-11-16T08:30:00Z",
                    "last_seen": "2026-11-20T08:30:00Z",
                    "gone_at": None,
                }
            ],
            "timeline": [{"at": "2026-11-16T08:30:00Z", "event": "first_seen", "reason": ""}],
            "decided_until": None,
        },
        "analyst_notes": [_NOTE],
        "can_retest": True,
        "also_found_by": ["ZAP"],
    },
    "ChangesResponse": {
        "ok": True,
        "host": "shop.example.com",
        "cursor": "1042.7.1763370000.",
        "findings": [
            {
                "event": "new",
                "at": "2026-11-16T08:30:00Z",
                "id": "1042",
                "severity": "High",
                "title": "SQL injection",
                "location": "https://shop.example.com/search",
                "problem": "5f0c6be1a2d34e78",
                "fix": "Use parameters.",
            }
        ],
        "total": 1,
        "total_relation": "exact",
        "by_severity": {**_NO_SEVERITY, "High": 1},
        "analyst_notes": [],
        "more": False,
        "first_seen_count": None,
    },
    "EntitlementResponse": {
        "ok": True,
        "entitlement": {
            "plan": "standard",
            "names": {"en": "Standard", "de": "Standard"},
            "revision": 1,
            "status": "active",
            "starts_on": "2026-01-01",
            "ends_on": "2026-12-31",
            "usable_until": "2026-12-31",
            "renews": False,
            "cancels": False,
            "past_due_since": None,
            "is_usable": True,
            "may_grow": True,
            "features": ["scans_daily"],
        },
        "limits": [
            {
                "name": "calls_per_day",
                "unit": "calls",
                "limit": 10_000,
                "used": 8_120,
                "state": "near",
                "resets_at": "2026-11-22T00:00:00Z",
                "is_override": False,
            }
        ],
        "calls_by_day": [{"day": "2026-11-21", "calls": 8_120}],
        "notices": [
            {
                "id": "31",
                "kind": "limit_near",
                "limit": "calls_per_day",
                "days": None,
                "at": "2026-11-21T11:58:00Z",
            }
        ],
        "plans": [
            {
                "slug": "standard",
                "revision": 2,
                "names": {"en": "Standard", "de": "Standard"},
                "prices": {"en": "29 EUR a month", "de": "29 EUR im Monat"},
                "limits": {
                    "websites": 5,
                    "calls_per_day": 10_000,
                    "scans_per_month": 30,
                    "seats": None,
                },
                "features": ["scans_daily"],
                "trial_days": 14,
            }
        ],
        "history": [
            {
                "at": "2026-11-20T09:00:00Z",
                "before": {"status": "past_due"},
                "after": {"status": "active"},
            }
        ],
        "billing_ref": "0b0c6d3e-5d0f-4b58-9c0a-2f5f5c7d8e90",
    },
    "WebsitesResponse": {
        "ok": True,
        "limit": 1,
        "pauses_at": "2026-12-05T09:00:00Z",
        "websites": [
            {
                "host": "blog.example.com",
                "link_id": "0c1d7f52-6a7e-4d58-9d0c-2f4a5b7c8d9e",
                "stays": False,
                "is_paused": False,
            },
            {"host": LINK["host"], "link_id": LINK["link_id"], "stays": True, "is_paused": False},
        ],
    },
    "AccountChangesResponse": {
        "ok": True,
        "websites": [
            {
                "host": LINK["host"],
                "link_id": LINK["link_id"],
                "version": "6f2a91c0d8e34b57",
            }
        ],
    },
    "CallsResponse": {
        "ok": True,
        "calls": [
            {
                "at": "2026-11-21T12:00:00.250000Z",
                "route": "site/dashboard",
                "host": "shop.example.com",
                "secret_id": "12",
                "secret_hint": "es1_live_Q4x2",
                "status": 429,
                "code": "rate_limited",
                "request_id": "9f2b6c0d1e4a5788",
                "address": "192.0.2.10",
            }
        ],
        "before": None,
    },
}
