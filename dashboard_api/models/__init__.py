"""Django models of the service, one module for each subject."""

from dashboard_api.models.accounts import Account, Secret
from dashboard_api.models.bulk import BulkLoad
from dashboard_api.models.counts import BucketCount, DayCount, WeekCount
from dashboard_api.models.entitlements import Entitlement
from dashboard_api.models.findings import Coverage, Finding, Kind, Occurrence, Severity, Source
from dashboard_api.models.history import OpenCount
from dashboard_api.models.imports import ImportRun, Upload
from dashboard_api.models.nonces import Nonce, SecretUse
from dashboard_api.models.notes import AnalystNote
from dashboard_api.models.revisions import Revision
from dashboard_api.models.scopes import CoverageScope
from dashboard_api.models.sites import LinkEvent, SiteLink, Website
from dashboard_api.models.timeline import FindingEvent

__all__ = [
    "Account",
    "AnalystNote",
    "BucketCount",
    "BulkLoad",
    "Coverage",
    "CoverageScope",
    "DayCount",
    "Entitlement",
    "Finding",
    "FindingEvent",
    "ImportRun",
    "Kind",
    "LinkEvent",
    "Nonce",
    "Occurrence",
    "OpenCount",
    "Revision",
    "Secret",
    "SecretUse",
    "Severity",
    "SiteLink",
    "Source",
    "Upload",
    "Website",
    "WeekCount",
]
