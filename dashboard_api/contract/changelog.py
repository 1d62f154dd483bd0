"""Versions of the API for people who call it, newest first: number, day and changes."""

VERSIONS = (
    (
        "1.2.0",
        "2026-11-29",
        (
            "POST /v1/site/answer, /v1/site/answers and /v1/account/answer-rules: an account says what it will "
            "do about findings, and lists it.",
            "POST /v1/site/message: members write to analysts; siteFinding has answers and messages, and "
            "siteChanges has messages of analysts and what happened to answers.",
            "siteDashboard: answer, assignee and due are filters, facets and members of findings; summary has "
            "answers, overdue, due_this_week and fix_times.",
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
