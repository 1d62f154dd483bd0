"""Store what the demo's customer answered to findings, wrote to analysts, and was answered."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User

from config.demo.accounts import DemoAnswer, DemoMessage, FixDays
from dashboard_api import models as api
from dashboard_api.answers import acts, messages
from dashboard_api.decisions import cases
from foundation.texts.people import reference_of
from signed_api.answering import AnswerRequest, MessageRequest

_ANALYST = "Robin Analyst"


def set_fix_days(rules: list[FixDays]) -> None:
    """Set the days in which findings must be fixed."""
    for rule in rules:
        api.Account.objects.filter(ref=rule.account).update(
            critical_days=rule.critical, high_days=rule.high, medium_days=rule.medium, low_days=rule.low
        )


def store_answers(answers: list[DemoAnswer], now: datetime) -> None:
    """Store each answer as its account gave it, and the analyst's decision about a dispute."""
    for answer in answers:
        account, website = _account_and_website(answer.account, answer.host)
        findings = website.findings.with_status(api.Finding.Status.OPEN).filter(rule=answer.rule)
        answered = api.Answer.objects.open().filter(account=account).values("finding")
        ids = findings.exclude(pk__in=answered).worst_first()[: answer.findings].values_list("pk", flat=True)
        at = now - timedelta(days=answer.days_ago)
        request = AnswerRequest(
            act=answer.act,
            reason=answer.reason,
            evidence=answer.evidence,
            due=at.date() + timedelta(days=answer.due_in) if answer.due_in is not None else None,
            until=at.date() + timedelta(days=answer.until_in) if answer.until_in is not None else None,
            assignee=_reference(answer.assignee),
            by=_reference(answer.by),
        )
        acts.act(account, website, acts.Chosen.of(account.pk, website.pk, ids), request, at)
        if answer.decision:
            case = api.Case.objects.filter(account=account).latest("pk")
            decide = cases.agree if answer.decision == "agree" else cases.disagree
            decide(case, by=_ANALYST, person="", text=answer.decided, now=at + timedelta(days=1))


def store_messages(conversations: list[DemoMessage], now: datetime) -> None:
    """Store each message of a member, and the analyst's reply to it."""
    for each in conversations:
        account, website = _account_and_website(each.account, each.host)
        findings = website.findings.with_status(api.Finding.Status.OPEN).filter(rule=each.rule)
        finding = findings.worst_first()[:1].get()
        at = now - timedelta(days=each.days_ago)
        messages.write(account, finding, MessageRequest(text=each.text, by=_reference(each.by)), at)
        if each.reply:
            case = api.Case.objects.filter(account=account).latest("pk")
            cases.reply(case, by=_ANALYST, person="", text=each.reply, now=at + timedelta(hours=20))


def _account_and_website(ref: str, host: str) -> tuple[api.Account, api.Website]:
    return api.Account.objects.get(ref=ref), api.Website.objects.get(host=host)


def _reference(username: str) -> str:
    return reference_of(User.objects.get(username=username).pk) if username else ""
