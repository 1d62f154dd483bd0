"""Whether searches find what findings say, however the findings were written."""

from dashboard_api.models import Finding
from dashboard_api.models.words import words_of_finding


def words_are_true():
    """Return whether each finding is stored with the words of its texts."""
    return all(finding.words == words_of_finding(finding) for finding in Finding.objects.all())
