"""The response to a report that a program sent with a token."""

from typing import Annotated

from signed_api.values import REOPENED, Count, Member, Moment, Ok, Some, about


class ReportRow(Member, frozen=True, kw_only=True):
    """A row of a report, with the reason why it is listed."""

    row: Annotated[Count, about("The number of the row in the report.")]
    reason: Annotated[str, about('The reason, worded to follow "Row 7".')]


class ImportedReport(Member, frozen=True, kw_only=True):
    """The import of one scanner's report. findings, occurrences, coverage and rejected add up to rows."""

    host: Annotated[str, about("The website, as in the request.")]
    source: Annotated[str, about("The scanner's short name.")]
    source_name: Annotated[str, about("The scanner's name as people read it.")]
    scanned_at: Annotated[Moment, about("When the scan ended.")]
    state: Annotated[str, about("The state of the scan: ok, partial or failed.")]
    detail: Annotated[str, about("What was left out or failed, as text.")]
    rows: Annotated[Count, about("Rows of the report.")]
    findings: Annotated[Count, about("Findings in the report: new, updated or reopened.")]
    occurrences: Annotated[Count, about("Further rows of the same findings.")]
    coverage: Annotated[Count, about("Rows about what was checked.")]
    rejected: Annotated[Count, about("Rows that were not stored.")]
    failed: Annotated[Count, about("Rows of coverage with a failed check.")]
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
            "New and reopened findings by severity, after suppression rules; findings that a decision "
            "accepts are left out."
        ),
    ]
    unclear_severities: Annotated[
        dict[str, int],
        about(
            "Rejected findings by severity that may be on the website, because their location was not "
            "understood; known and accepted findings are included."
        ),
    ]
    category: Annotated[str, about("The name of this scan, if the website has several.")]
    targets: Annotated[Some[str], about("The scanned targets: findings missing there count as fixed.")]
    more_targets: Annotated[Count, about("The number of further targets that targets leaves out.")]
    note: Annotated[str, about("A remark on what this report can prove fixed.")]
    unknown_severities: Annotated[
        Count, about("Rows that cannot be read: they may be findings of any severity.")
    ]
    dry_run: Annotated[bool, about("Whether nothing was stored.")]


class ReportResponse(Member, frozen=True, kw_only=True):
    """The outcome of a report; the status is 202 while state is waiting."""

    ok: Ok
    id: Annotated[str, about("The id of the report: fetch its outcome from /v1/reports/ID.")]
    state: Annotated[str, about("waiting or done. Whether the report is imported.")]
    passed: Annotated[
        bool | None,
        about(
            "With fail_on, false if new_severities or unclear_severities has findings at least as bad, or if "
            "unknown_severities is not 0; null: waiting."
        ),
    ]
    reports: Annotated[Some[ImportedReport], about("One for each scanner in the file.")]
