"""What may be asked and what is answered: the two halves of the contract, and its OpenAPI document."""

from dashboard_api.contract.answer import (
    ChartAnswer,
    CoverageAnswer,
    DashboardAnswer,
    EntitlementAnswer,
    FacetsAnswer,
    FacetValue,
    FiltersAnswer,
    NoteAnswer,
    PageAnswer,
    SeriesAnswer,
    SummaryAnswer,
    ThreatAnswer,
)
from dashboard_api.contract.envelope import Envelope, read_envelope
from dashboard_api.contract.question import DashboardQuestion, read_question

__all__ = [
    "ChartAnswer",
    "CoverageAnswer",
    "DashboardAnswer",
    "DashboardQuestion",
    "EntitlementAnswer",
    "Envelope",
    "FacetValue",
    "FacetsAnswer",
    "FiltersAnswer",
    "NoteAnswer",
    "PageAnswer",
    "SeriesAnswer",
    "SummaryAnswer",
    "ThreatAnswer",
    "read_envelope",
    "read_question",
]
