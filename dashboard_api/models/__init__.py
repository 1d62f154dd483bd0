"""Django models of the service, one module for each subject."""

from dashboard_api.models.accounts import Account, Publicity, Secret
from dashboard_api.models.answers import Answer, Case, Message, RememberedCall
from dashboard_api.models.callbacks import BillingCustomer, CallbackEvent, PlanPrice, Subscription
from dashboard_api.models.calls import CallLimit, CallOutcome, CallRecord, Usage
from dashboard_api.models.entitlements import Entitlement
from dashboard_api.models.findings import Coverage, Finding, Kind, Occurrence, Severity, Source
from dashboard_api.models.forgotten import ForgottenAccount
from dashboard_api.models.history import OpenCount
from dashboard_api.models.hosts import host_of
from dashboard_api.models.imports import ImportChange, ImportRun, Upload
from dashboard_api.models.inventory import RegisteredDomain, ScriptInventory, SeenCertificate, SeenScript
from dashboard_api.models.nonces import CallFacts, Nonce, NonceClaim, SecretUse
from dashboard_api.models.notes import AnalystNote
from dashboard_api.models.notices import BillingNotice
from dashboard_api.models.ownership import OwnershipClaim
from dashboard_api.models.plans import Limits, Override, Plan
from dashboard_api.models.problems import problem_key
from dashboard_api.models.published import Published
from dashboard_api.models.reports import ReportJob, ReportToken
from dashboard_api.models.revisions import Revision
from dashboard_api.models.scan_job import EngineRun, ScanJob
from dashboard_api.models.scan_rules import CrawlerStop, ScanConsent, ScanOptOut
from dashboard_api.models.scan_schedule import ScanSchedule
from dashboard_api.models.scopes import CoverageScope
from dashboard_api.models.sites import LinkEvent, SiteLink, Website
from dashboard_api.models.standing import StandingDecision
from dashboard_api.models.timeline import FindingEvent
from dashboard_api.models.words import searched_words

__all__ = [
    "Account",
    "AnalystNote",
    "Answer",
    "BillingCustomer",
    "BillingNotice",
    "CallFacts",
    "CallLimit",
    "CallOutcome",
    "CallRecord",
    "CallbackEvent",
    "Case",
    "Coverage",
    "CoverageScope",
    "CrawlerStop",
    "EngineRun",
    "Entitlement",
    "Finding",
    "FindingEvent",
    "ForgottenAccount",
    "ImportChange",
    "ImportRun",
    "Kind",
    "Limits",
    "LinkEvent",
    "Message",
    "Nonce",
    "NonceClaim",
    "Occurrence",
    "OpenCount",
    "Override",
    "OwnershipClaim",
    "Plan",
    "PlanPrice",
    "Publicity",
    "Published",
    "RegisteredDomain",
    "RememberedCall",
    "ReportJob",
    "ReportToken",
    "Revision",
    "ScanConsent",
    "ScanJob",
    "ScanOptOut",
    "ScanSchedule",
    "ScriptInventory",
    "Secret",
    "SecretUse",
    "SeenCertificate",
    "SeenScript",
    "Severity",
    "SiteLink",
    "Source",
    "StandingDecision",
    "Subscription",
    "Upload",
    "Usage",
    "Website",
    "host_of",
    "problem_key",
    "searched_words",
]
