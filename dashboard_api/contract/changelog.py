"""Versions of the API for people who call it, newest first: number, day and changes."""

VERSIONS = (
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
