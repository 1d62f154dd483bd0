"""Factories for the models of both apps, with keyword overrides."""

import hashlib
import itertools
import json
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.utils import timezone

from dashboard_api import models as api
from dashboard_api.billing import plans
from dashboard_api.importing.plan import NewFinding, NewOccurrence
from portal import models as portal

SECRET = "es1_test_0123456789abcdef0123456789abcdef"
_numbers = itertools.count(1)


def number_again():
    """Restart the numbers of new objects at 1, so that no test depends on earlier ones."""
    global _numbers
    _numbers = itertools.count(1)


def make_account(ref="acct_0001", *, secrets=(SECRET,), entitled=True, **fields):
    account = api.Account.objects.create(ref=ref, **fields)
    for secret in secrets:
        api.Secret.objects.issue(account, by="tests", secret=secret)
    if entitled:
        make_entitlement(account)
    return account


def make_nonce(nonce="nonce-0001", *, account_id=1, expires_at=None, limit=None, **facts):
    """Spend a nonce of a call with these facts, and return the claim."""
    now = timezone.now()
    defaults = {"at": now, "secret_id": 1, "link_id": None, "route": "site/dashboard", "address": "192.0.2.1"}
    return api.Nonce.objects.claim(
        account_id,
        nonce,
        expires_at=expires_at or now + timedelta(minutes=6),
        facts=api.CallFacts(**({"request_id": f"{next(_numbers):016x}"} | defaults | facts)),
        limit=limit,
    )


def make_call_record(**fields):
    defaults = {"at": timezone.now(), "secret_id": 1, "route": "site/dashboard", "status": 200}
    return api.CallRecord.objects.create(**(defaults | fields))


def make_entitlement(account, **fields):
    today = timezone.now().date()
    defaults = {"starts_on": today - timedelta(days=30), "ends_on": today + timedelta(days=335)}
    return api.Entitlement.objects.create(account=account, **(defaults | fields))


def make_plan(slug="team", **fields):
    defaults = {
        "name": {"en": slug.title()},
        "limits": {"websites": 20, "seats": 3},
        "features": ["scans_daily"],
    }
    return plans.save(api.Plan(slug=slug, **(defaults | fields)), by="tests")


def make_website(host="shop.example.com", *, verified=True, **fields):
    website = api.Website.objects.create(host=host, **fields)
    if verified:
        website.verify(method=api.Website.Method.DNS, by="tests", at=timezone.now())
    return website


def make_scannable(host="shop.example.com", *, account=None, **fields):
    """Return a website that ``account`` has proven, or an account that no test asks for."""
    website = make_website(host, **fields)
    if account is None:
        account, _ = api.Account.objects.get_or_create(ref="acct_holder")
    api.OwnershipClaim.objects.confirm_by_hand(account, host, by="tests", now=timezone.now())
    return website


def make_link(account=None, website=None, **fields):
    account = account or make_account()
    website = website or make_website()
    link = api.SiteLink.objects.link(account, website, by="tests")
    for name, value in fields.items():
        setattr(link, name, value)
    link.save()
    return link


def make_source(slug="nuclei", **fields):
    source, _ = api.Source.objects.get_or_create(slug=slug, defaults={"name": slug.title(), **fields})
    return source


def make_finding(website, *, source=None, **fields):
    number = next(_numbers)
    now = timezone.now()
    defaults = {
        "source": source or make_source(),
        "fingerprint": hashlib.sha256(str(number).encode()).hexdigest(),
        "severity": api.Severity.MEDIUM,
        "kind": api.Kind.CONFIRMED,
        "title": f"Finding {number}",
        "location": f"https://{website.host}/page/{number}",
        "locations_count": 1,
        "first_seen": now - timedelta(days=3),
        "last_seen": now,
    }
    return api.Finding.objects.create(website=website, **(defaults | fields))


def make_new_finding(website, *, source=None, locations=(), **fields):
    """Return what ``bulk_insert.add_findings`` takes: a finding with its occurrences."""
    number = next(_numbers)
    seen = fields.pop("seen", timezone.now())
    source = source or make_source()
    defaults = {
        "website_id": website.pk,
        "source_id": source.pk,
        "fingerprint": hashlib.sha256(str(number).encode()).hexdigest(),
        "severity": int(api.Severity.MEDIUM),
        "severity_raw": "",
        "kind": "confirmed",
        "status": "open",
        "title": f"Finding {number}",
        "description": "",
        "remediation": "",
        "references": "[]",
        "cwe": "[]",
        "cve": "[]",
        "rule": "",
        "location": locations[0] if locations else "",
        "other_locations": "\n".join(locations[1:]),
        "locations_count": len(locations),
        "evidence": "",
        "first_seen": seen,
        "last_seen": seen,
    }
    digests = [hashlib.sha256(location.encode()).hexdigest() for location in locations]
    occurrences = [
        NewOccurrence(location, digest, "", seen, seen)
        for location, digest in zip(locations, digests, strict=True)
    ]
    fields = defaults | fields
    problem = api.problem_key(source.slug, fields["rule"], fields["title"])
    host = api.host_of(fields["location"])
    cve, others = json.loads(fields["cve"]), fields["other_locations"]
    words = api.searched_words(
        fields["title"], fields["location"], fields["rule"], cve, fields["description"], others
    )
    return NewFinding(problem=problem, host=host, words=words, **fields), occurrences


def make_occurrence(finding, location=None, **fields):
    location = location or f"https://{finding.website.host}/place/{next(_numbers)}"
    defaults = {
        "location_digest": hashlib.sha256(location.encode()).hexdigest(),
        "first_seen": finding.first_seen,
        "last_seen": finding.last_seen,
    }
    return api.Occurrence.objects.create(finding=finding, location=location, **(defaults | fields))


def make_event(finding, event="regressed", **fields):
    return api.FindingEvent.objects.create(
        finding=finding, website_id=finding.website_id, event=event, **fields
    )


def make_standing_decision(website=None, *, source=None, **fields):
    defaults = {"severity": api.Severity.LOW, "reason": "Behind a VPN", "by": "ada"}
    source = source or make_source()
    return api.StandingDecision.objects.create(source=source, website=website, **(defaults | fields))


def make_import_run(website, *, source=None, **fields):
    counts = dict.fromkeys(("findings", "occurrences", "coverage", "new", "updated", "reopened", "fixed"), 0)
    defaults = counts | {"state": "ok", "scanned_at": timezone.now(), "rows": 1, "rejected": 1}
    defaults["rejects"] = [{"row": 1, "reason": "has no rule"}]
    source = source or make_source()
    return api.ImportRun.objects.create(website=website, source=source, **(defaults | fields))


def make_engine_run(job, **fields):
    now = timezone.now()
    defaults = {
        "engine": "essentials",
        "address": "192.0.2.1",
        "state": "ok",
        "started_at": now,
        "ended_at": now,
    }
    return api.EngineRun.objects.create(job=job, **(defaults | fields))


def make_schedule(link, **fields):
    defaults = {"frequency": "weekly", "anchor": timezone.now().date()}
    return api.ScanSchedule.objects.create(link=link, **(defaults | fields))


def make_upload(website, content=b"", **fields):
    defaults = {"by": "ada", "file_name": "report.jsonl", "options": {}}
    return api.Upload.objects.create(website=website, content=content, **(defaults | fields))


def make_coverage(website, *, source=None, **fields):
    now = timezone.now()
    defaults = {"state": api.Coverage.State.OK, "last_run_at": now, "completed_at": now}
    return api.Coverage.objects.create(website=website, source=source or make_source(), **(defaults | fields))


def make_note(website, **fields):
    defaults = {"author": "Ada", "body": "Please **update**.", "is_internal": False}
    return api.AnalystNote.objects.create(website=website, **(defaults | fields))


def make_user(username="owner", **fields):
    fields.setdefault("email", f"{username}@example.com")
    password = fields.pop("password", "correct horse battery")
    return get_user_model().objects.create_user(username, password=password, **fields)


def make_portal_account(ref="acct_0001", *, secret=SECRET, **fields):
    account = portal.Account(ref=ref, **fields)
    account.set_secret(secret)
    account.save()
    return account


def make_portal_website(
    account=None, host="shop.example.com", link_id="6f1c2f0e-8f7e-4f57-9a3b-0d4a5b6c7d8e"
):
    account = account or make_portal_account()
    return portal.Website.objects.create(account=account, host=host, link_id=link_id)


def make_membership(user, account, role="owner"):
    return portal.Membership.objects.create(user=user, account=account, role=role)
