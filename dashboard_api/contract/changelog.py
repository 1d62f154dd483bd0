"""The changelog that ``/v1/docs`` shows: number, day and changes of each version, newest first."""

VERSIONS = (
    (
        "1.27.0",
        "2026-11-29",
        (
            "GET /v1/clients/ has the Python client signed_api as a wheel, next to es1.",
            "The OpenAPI document has no null in requests; null and an empty string still mean: not given.",
            "Lists and numbers of responses have their bounds in the OpenAPI document.",
        ),
    ),
    (
        "1.26.0",
        "2026-11-29",
        (
            "Calls over the plan's day are all 429 rate_limited until midnight UTC; one in 5 s was answered.",
            "A filter by an unknown source is 400 invalid_request; it was an empty list.",
            "invalid_signature has the member mistake: the usual mistake with which the signature verifies.",
            "unknown_link has the member host, where the link is the account's own and the host is another.",
            "doc_url is an absolute address.",
            "The OpenAPI document has no constants and no defaults, and words in responses are open.",
            "The type of ok is any boolean: tell a refusal by its status or by its member error.",
            "summary and its history have no score; each day of history has fixes, as next_grade has.",
            "GET /v1/clients/ has the guide, the Python package es1 and the collection for Bruno.",
        ),
    ),
)
