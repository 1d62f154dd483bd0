"""Customers who dispute findings, ask about them, or say that they are fixed."""

from django.db import transaction
from django.utils import timezone

from dashboard_api.answers import acts, messages
from dashboard_api.models import Case, Website
from signed_api.answering import AnswerRequest, MessageRequest

REASON = "This is our staging server, which nobody else can reach."


def answer(link, *findings, act="disputed", now=None, **fields):
    """Answer findings as a member of the account of ``link``."""
    defaults = {"act": act, "reason": REASON, "by": "user-900"}
    request = AnswerRequest(**_whose(link), **(defaults | fields))
    with transaction.atomic():
        Website.wait_for_imports([link.website_id])
        chosen = acts.Chosen.of(link.account_id, link.website_id, [finding.pk for finding in findings])
        acts.act(link.account, link.website, chosen, request, now or timezone.now())


def dispute(link, *findings, now=None, **fields):
    """Dispute findings as a member of the account of ``link``, and return the case."""
    answer(link, *findings, now=now, **fields)
    return Case.objects.filter(kind="dispute").latest("pk")


def ask(link, finding, *, text="How can we fix it?", by="user-900", now=None):
    """Write a message as a member of the account of ``link``, and return the question that it opens."""
    request = MessageRequest(**_whose(link), finding_id=str(finding.pk), text=text, by=by)
    with transaction.atomic():
        Website.wait_for_imports([link.website_id])
        message = messages.write(link.account, finding, request, now or timezone.now())
    return message.case


def _whose(link):
    return {"host": link.website.host, "link_id": link.link_id, "portal_account_ref": link.account.ref}
