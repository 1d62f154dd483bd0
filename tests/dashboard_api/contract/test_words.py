"""The words of the contract are those of the models."""

from dashboard_api.models import Finding, Kind, Publicity, ScanJob, ScanSchedule, Severity
from signed_api import account, findings, scans, values


def test_the_words_of_requests_are_those_that_the_service_stores():
    assert tuple(Severity.labels) == values.SEVERITIES
    assert tuple(Kind.values) == values.KINDS
    assert (*Finding.Status.values, findings.ALL) == findings.STATUSES
    assert tuple(Publicity.values) == account.PUBLICITIES
    assert tuple(ScanJob.Profile.values) == scans.PROFILES
    assert tuple(ScanSchedule.Frequency.values) == scans.FREQUENCIES
