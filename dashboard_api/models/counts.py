"""Counts of findings, maintained by triggers, so that no response counts rows.

Nothing else writes here (decision record 0013). No foreign keys: counts go with the findings they count.
Migration 0002 creates the tables, which SQLite has without a rowid.
"""

from django.db import models


class BucketCount(models.Model):
    """Findings of a website by status, severity, source and kind: for totals, facets, charts and pages."""

    pk = models.CompositePrimaryKey("website_id", "status", "source_id", "severity", "kind")
    website_id = models.BigIntegerField()
    status = models.CharField(max_length=14)
    source_id = models.BigIntegerField()
    severity = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=13)
    findings = models.IntegerField()

    class Meta:
        managed = False

    def __str__(self) -> str:
        return f"{self.pk}: {self.findings}"


class HostCount(models.Model):
    """Findings of a website by status, host, severity, source and kind: for the filter by host."""

    pk = models.CompositePrimaryKey("website_id", "status", "host", "severity", "source_id", "kind")
    website_id = models.BigIntegerField()
    status = models.CharField(max_length=14)
    host = models.CharField(max_length=253)
    severity = models.PositiveSmallIntegerField()
    source_id = models.BigIntegerField()
    kind = models.CharField(max_length=13)
    findings = models.IntegerField()

    class Meta:
        managed = False

    def __str__(self) -> str:
        return f"{self.pk}: {self.findings}"


class WeekCount(models.Model):
    """Findings first seen, and findings fixed, in a week, by severity, source and kind, of any status."""

    pk = models.CompositePrimaryKey("website_id", "week", "source_id", "severity", "kind")
    website_id = models.BigIntegerField()
    week = models.DateField(help_text="Its Monday, in UTC.")
    source_id = models.BigIntegerField()
    severity = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=13)
    found = models.IntegerField()
    fixed = models.IntegerField()

    class Meta:
        managed = False

    def __str__(self) -> str:
        return f"{self.pk}: {self.found} found, {self.fixed} fixed"


class DayCount(models.Model):
    """Findings first seen on a day (UTC), how many of them are open, and findings fixed on that day."""

    pk = models.CompositePrimaryKey("website_id", "day")
    website_id = models.BigIntegerField()
    day = models.DateField()
    found = models.IntegerField()
    fixed = models.IntegerField()
    still_open = models.IntegerField()

    class Meta:
        managed = False

    def __str__(self) -> str:
        return f"{self.pk}: {self.found} found, {self.fixed} fixed, {self.still_open} still open"


class ProblemCount(models.Model):
    """Findings of a problem by kind, and their locations, by website, status, severity and source."""

    pk = models.CompositePrimaryKey("website_id", "status", "severity", "problem", "source_id")
    website_id = models.BigIntegerField()
    status = models.CharField(max_length=14)
    severity = models.PositiveSmallIntegerField()
    problem = models.CharField(max_length=16)
    source_id = models.BigIntegerField()
    confirmed = models.IntegerField()
    suspected = models.IntegerField()
    informational = models.IntegerField()
    locations = models.IntegerField()

    class Meta:
        managed = False

    def __str__(self) -> str:
        findings = self.confirmed + self.suspected + self.informational
        return f"{self.pk}: {findings} at {self.locations} locations"
