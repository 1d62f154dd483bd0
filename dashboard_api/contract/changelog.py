"""Versions of the API for people who call it, newest first: number, day and changes."""

VERSIONS = (
    (
        "1.3.0",
        "2026-11-29",
        (
            "POST /v1/site/inventory lists certificates, domain and scripts that scans saw.",
            "POST /v1/site/script pins a script of the home page, or accepts its host.",
            "POST /v1/account/last-days lists the last days of certificates and domains of all websites.",
            "A scan has protection, what seems to have blocked it; each of its scanners has a title.",
            "A schedule has by_default: proven websites are scanned weekly until somebody sets a schedule.",
            "next_due_on of coverage is also known for a planned first run.",
        ),
    ),
    (
        "1.2.0",
        "2026-11-29",
        (
            "POST /v1/site/answer, /v1/site/answers and /v1/account/answer-rules record answers to findings.",
            "POST /v1/site/message writes to analysts; siteFinding and siteChanges have the messages.",
            "siteDashboard has answer, assignee and due as filters, facets and members; summary counts them.",
        ),
    ),
    (
        "1.1.0",
        "2026-11-29",
        ("POST /v1/site/compare compares two runs of one scanner.",),
    ),
    (
        "1.0.0",
        "2026-11-29",
        ("The first version. From here on, /v1 is only added to.",),
    ),
)
