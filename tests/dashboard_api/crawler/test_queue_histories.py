"""Histories of the queue by chance: no scan is lost, none is stored twice, and an ended one never changes."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import settings as limits_of
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from dashboard_api.crawler import policy, queue
from dashboard_api.models import ScanJob
from tests import factories

WEBSITES, WORKERS = 3, 3
numbers = st.integers(0, 2)


class Workers(RuleBasedStateMachine):
    """Three workers share the scans of three websites; each may be paused past its lease and wake up late."""

    def __init__(self):
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        account = factories.make_account(f"acct_{timezone.now().timestamp()}", secrets=())
        hosts = [f"{number}.{account.pk}.example.com" for number in range(WEBSITES)]
        self.websites = [factories.make_scannable(host, account=account) for host in hosts]
        self.account = account
        self.working = {}  # by worker, its job as it was when it claimed it
        self.jobs, self.stored, self.ended = [], {}, {}

    @rule(number=numbers)
    def add(self, number):
        website = self.websites[number]
        if not ScanJob.objects.unended().filter(website=website).exists():
            job = ScanJob.objects.create(website=website, account=self.account, by="ada")
            self.jobs.append(job.pk)

    @rule(worker=numbers)
    def claim(self, worker):
        if worker in self.working:
            return
        running = ScanJob.objects.filter(state="running").count()
        waiting = ScanJob.objects.filter(state="queued").count()
        job = queue.claim(f"worker-{worker}")
        assert (job is not None) == (waiting > 0 and running < policy.MAX_RUNNING)
        if job is not None:
            self.working[worker] = job

    @rule(worker=numbers)
    def renew(self, worker):
        self.act(worker, queue.renew)

    @rule(worker=numbers)
    def store(self, worker):
        job = self.working.get(worker)
        if self.act(worker, lambda job: queue.end(job, "finished", outcome="complete")):
            self.stored[job.pk] = self.stored.get(job.pk, 0) + 1
            del self.working[worker]

    @rule(worker=numbers)
    def give_back(self, worker):
        if worker in self.working:
            queue.give_back(self.working.pop(worker))

    def act(self, worker, action):
        """Let a worker do this with its job; one that has lost it does nothing and works on nothing."""
        job = self.working.get(worker)
        if job is None:
            return False
        try:
            action(job)
        except queue.LostLease:
            del self.working[worker]
            return False
        owner = ScanJob.objects.values_list("worker", "attempt").get(pk=job.pk)
        assert owner == (job.worker, job.attempt), "only the worker that claimed it last may change it"
        return True

    @precondition(lambda self: self.jobs)
    @rule(number=st.integers(0, 20))
    def cancel(self, number):
        ScanJob.objects.get(pk=self.jobs[number % len(self.jobs)]).cancel(by="ada")

    @rule(worker=numbers)
    def pause_past_the_lease(self, worker):
        if worker in self.working:
            past = timezone.now() - timedelta(seconds=1)
            ScanJob.objects.filter(pk=self.working[worker].pk, state="running").update(lease_until=past)

    @rule()
    def release_lost(self):
        queue.release_lost()

    @invariant()
    def an_ended_scan_never_changes(self):
        rows = ScanJob.objects.filter(pk__in=self.jobs, ended_at__isnull=False)
        now = {row.pk: (row.state, row.outcome, row.reason, row.ended_at) for row in rows}
        assert now | self.ended == now
        self.ended = now

    @invariant()
    def none_is_stored_twice_and_each_stored_one_is_finished(self):
        assert set(self.stored.values()) <= {1}
        assert {pk for pk, row in self.ended.items() if row[0] == "finished"} == set(self.stored)

    @invariant()
    def a_website_and_an_account_have_no_more_than_they_may(self):
        running = ScanJob.objects.filter(state="running").values_list("website", flat=True)
        assert len(set(running)) == len(running) <= policy.MAX_RUNNING

    def teardown(self):
        """Let all workers die: a new one ends every scan that is left."""
        try:
            self.working.clear()
            for _ in self.jobs * policy.MAX_ATTEMPTS:
                past = timezone.now() - timedelta(seconds=1)
                ScanJob.objects.filter(state="running").update(lease_until=past)
                queue.release_lost()
                if job := queue.claim("the last worker"):
                    queue.end(job, "finished", outcome="complete")
            assert not ScanJob.objects.unended().filter(pk__in=self.jobs).exists()
            assert ScanJob.objects.filter(pk__in=self.jobs).count() == len(self.jobs)
        finally:
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)


@pytest.mark.slow
@pytest.mark.django_db
def test_any_history_of_workers_loses_no_scan_and_stores_none_twice():
    run_state_machine_as_test(
        Workers, settings=limits_of(max_examples=13, stateful_step_count=40, deadline=None)
    )
