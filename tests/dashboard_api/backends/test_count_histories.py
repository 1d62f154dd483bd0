"""Whatever happens to findings, by whichever path, their counts say the same as they do."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from dashboard_api.backends import verify
from dashboard_api.importing import bulk_insert
from dashboard_api.models import Finding, Kind, OpenCount, Severity, Source, Website
from tests.factories import make_new_finding

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=UTC)

severities = st.integers(0, 4)
kinds = st.sampled_from(Kind.values)
statuses = st.sampled_from(Finding.Status.values)
days = st.integers(0, 20)
sites = st.sampled_from(["a.example.com", "b.example.com"])
sources = st.sampled_from(["nuclei", "zap"])
rules = st.sampled_from(["", "xss", "csp"])
locations = st.integers(0, 3)
fates = st.fixed_dictionaries(
    {
        "severity": severities,
        "kind": kinds,
        "status": statuses,
        "found": days,
        "fixed": days,
        "rule": rules,
        "locations": locations,
    }
)


class Histories(RuleBasedStateMachine):
    findings = Bundle("findings")

    @initialize()
    def begin(self):
        self.savepoint = transaction.savepoint()
        self.number = 0
        for host in ("a.example.com", "b.example.com"):
            Website.objects.create(host=host)
        for slug in ("nuclei", "zap"):
            Source.objects.create(slug=slug, name=slug)

    def teardown(self):
        transaction.savepoint_rollback(self.savepoint)

    def made(self, site, source, fate):
        self.number += 1
        return Finding(
            website=Website.objects.get(host=site),
            source=Source.objects.get(slug=source),
            fingerprint=f"{self.number}",
            **self.fields(fate),
        )

    def fields(self, fate):
        found = START + timedelta(days=fate["found"])
        is_fixed = fate["status"] == "fixed"
        return {
            "severity": fate["severity"],
            "kind": fate["kind"],
            "status": fate["status"],
            "rule": fate["rule"],
            "locations_count": fate["locations"],
            "first_seen": found,
            "last_seen": START + timedelta(days=30),
            "fixed_at": START + timedelta(days=fate["fixed"]) if is_fixed else None,
        }

    @rule(target=findings, site=sites, source=sources, fate=fates)
    def save(self, site, source, fate):
        finding = self.made(site, source, fate)
        finding.save()
        return finding.pk

    @rule(target=findings, site=sites, source=sources, several=st.lists(fates, max_size=5))
    def bulk_create(self, site, source, several):
        made = Finding.objects.bulk_create([self.made(site, source, fate) for fate in several])
        return multiple(*(finding.pk for finding in made))

    @rule(target=findings, site=sites, source=sources, several=st.lists(fates, max_size=5))
    def add_in_bulk(self, site, source, several):
        """Insert many open findings together, as imports do."""
        several = [fate | {"status": "open"} for fate in several]
        made = [self.made(site, source, fate) for fate in several]
        bulk_insert.add_findings(
            [
                make_new_finding(
                    finding.website,
                    source=finding.source,
                    fingerprint=finding.fingerprint,
                    severity=finding.severity,
                    kind=finding.kind,
                    rule=finding.rule,
                    locations=[f"https://{site}/{number}" for number in range(finding.locations_count)],
                    seen=finding.first_seen,
                )
                for finding in made
            ]
        )
        numbers = [finding.fingerprint for finding in made]
        return multiple(*Finding.objects.filter(fingerprint__in=numbers).values_list("pk", flat=True))

    @rule(target=findings, known=findings, site=sites, source=sources, fate=fates)
    def upsert(self, known, site, source, fate):
        """One statement that creates one and changes another, as imports do."""
        new = self.made(site, source, fate)
        rows = [new]
        if (old := Finding.objects.filter(pk=known).first()) is not None:
            for name, value in self.fields(fate).items():
                setattr(old, name, value)
            old.pk = None
            rows.append(old)
        Finding.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["website", "source", "fingerprint"],
            update_fields=[*self.fields(fate), "problem"],
        )
        return Finding.objects.get(fingerprint=new.fingerprint).pk

    @rule(known=findings, fate=fates)
    def change(self, known, fate):
        if (finding := Finding.objects.filter(pk=known).first()) is not None:
            for name, value in self.fields(fate).items():
                setattr(finding, name, value)
            finding.save()

    @rule(known=findings, site=sites, source=sources)
    def move(self, known, site, source):
        Finding.objects.filter(pk=known).update(
            website=Website.objects.get(host=site), source=Source.objects.get(slug=source)
        )

    @rule(severity=severities, worse=severities)
    def change_many(self, severity, worse):
        Finding.objects.filter(severity=severity).update(severity=worse)

    @rule(kind=kinds, day=days)
    def fix_many(self, kind, day):
        at = START + timedelta(days=day)
        Finding.objects.filter(kind=kind).update(status="fixed", fixed_at=at)

    @rule(severity=severities, locations=locations)
    def move_many(self, severity, locations):
        """As a scan does that finds fewer locations of a known finding."""
        Finding.objects.filter(severity=severity).update(locations_count=locations)

    @rule()
    def touch_all(self):
        Finding.objects.update(last_seen=START + timedelta(days=31))

    @rule(known=findings, fate=fates)
    def bulk_update(self, known, fate):
        some = list(Finding.objects.filter(pk__lte=known))
        for finding in some:
            finding.kind, finding.severity = fate["kind"], fate["severity"]
        Finding.objects.bulk_update(some, ["kind", "severity"])

    @rule(known=consumes(findings))
    def delete(self, known):
        Finding.objects.filter(pk=known).delete()

    @rule(site=sites)
    def delete_all_of_a_website(self, site):
        Website.objects.get(host=site).delete()
        Website.objects.create(host=site)

    @rule(known=findings, far=st.integers(1, 5))
    def renumber_by_hand(self, known, far):
        with connection.cursor() as cursor:
            cursor.execute("SELECT MAX(id) FROM dashboard_api_finding")
            above = (cursor.fetchone()[0] or 0) + (far << 14)
            cursor.execute("UPDATE dashboard_api_finding SET id = %s WHERE id = %s", [above, known])

    @rule(severity=severities)
    def delete_by_hand(self, severity):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM dashboard_api_finding WHERE severity = %s", [severity])

    @rule(severity=severities)
    def undo(self, severity):
        with transaction.atomic():
            Finding.objects.update(severity=severity)
            transaction.set_rollback(True)

    @invariant()
    def counts_are_true(self):
        assert verify.wrong_counts(connection) == {}

    @invariant()
    def the_history_of_today_is_true(self):
        for website in Website.objects.all():
            today = OpenCount.objects.filter(website_id=website.pk).order_by("day").last()
            is_open = website.findings.filter(status="open")
            counts = Counter(is_open.values_list("severity", flat=True))
            suspected = Counter(is_open.filter(kind="suspected").values_list("severity", flat=True))
            for severity in Severity:
                name = severity.name.lower()
                assert (getattr(today, name) if today else 0) == counts[severity]
                if severity != Severity.INFO:
                    assert (getattr(today, f"suspected_{name}") if today else 0) == suspected[severity]


def test_no_history_makes_counts_differ_from_findings():
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
