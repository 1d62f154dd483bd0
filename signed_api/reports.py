"""Reports that programs send with a token."""

from typing import Annotated

from signed_api.values import REOPENED, Count, Member, Moment, Ok, Some, about


class ReportRow(Member, frozen=True, kw_only=True):
    """A row of a report, by its number, and a reason."""

    row: Annotated[Count, about("The number of the row in the report.")]
    reason: Annotated[str, about('The reason, worded to follow "Row 7".')]


class ImportedReport(Member, frozen=True, kw_only=True):
    """A report of one scanner. findings, occurrences, coverage and rejected add up to rows."""

    host: Annotated[str, about("The website, as in the request.")]
    source: Annotated[str, about("The scanner's short name.")]
    source_name: Annotated[str, about("The scanner's name as people read it.")]
    scanned_at: Annotated[Moment, about("When the scan ended.")]
    state: Annotated[str, about("The state of the scan: ok, partial or failed.")]
    detail: Annotated[str, about("What was left out or failed, as text.")]
    rows: Annotated[Count, about("Rows of the report.")]
    findings: Annotated[Count, about("Rows that are the first of a finding: new, updated or reopened.")]
    occurrences: Annotated[Count, about("Further rows of the same findings.")]
    coverage: Annotated[Count, about("Rows about what was checked.")]
    rejected: Annotated[Count, about("Rows that are not stored.")]
    failed: Annotated[Count, about("Rows of the coverage whose check failed.")]
    rejects: Annotated[Some[ReportRow], about("The first rejected rows.")]
    failures: Annotated[Some[ReportRow], about("The first failed checks.")]
    suppressed: Annotated[Count, about("Rows that the report itself suppresses.")]
    suppressions: Annotated[Some[ReportRow], about("The first suppressed rows.")]
    new: Annotated[Count, about("Findings that were not known before.")]
    updated: Annotated[Count, about("Findings that were open already.")]
    reopened: Annotated[Count, about(REOPENED)]
    fixed: Annotated[Count, about("Findings that a complete scan no longer reports.")]
    new_severities: Annotated[
        dict[str, int],
        about(
            "How many new and reopened findings have each severity, after standing decisions; those "
            "accepted by one are left out."
        ),
    ]
    unclear_severities: Annotated[
        dict[str, int],
        about(
            "How many rejected rows are findings of each severity whose location is not understood, and "
            "may be on the website; known findings and accepted ones are included."
        ),
    ]
    category: Annotated[str, about("The name of this scan, if the website has several.")]
    targets: Annotated[Some[str], about("Where a missing finding counts as fixed.")]
    more_targets: Annotated[Count, about("Further targets, which targets leaves out.")]
    note: Annotated[str, about("A remark on what this report can prove fixed.")]
    unknown_severities: Annotated[
        Count, about("Rejected rows that cannot be read, and may be findings of any severity.")
    ]
    dry_run: Annotated[bool, about("Whether nothing was stored.")]


class ReportResponse(Member, frozen=True, kw_only=True):
    """The outcome of a report that was sent; 202 while state is waiting."""

    ok: Ok
    id: Annotated[str, about("Fetch the outcome from /v1/reports/ID.")]
    state: Annotated[str, about("waiting or done. Whether the report is imported.")]
    passed: Annotated[
        bool | None,
        about(
            "With fail_on, false if new_severities or unclear_severities has any at least as bad, or if "
            "there are unknown_severities; null: waiting."
        ),
    ]
    reports: Annotated[Some[ImportedReport], about("One for each scanner in the file.")]
