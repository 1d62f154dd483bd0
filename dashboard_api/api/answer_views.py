"""The signed endpoints by which accounts answer findings and write to analysts."""

import hashlib
from collections.abc import Callable
from datetime import datetime

import msgspec
from django.db import transaction

from audit.recording import record as audit
from dashboard_api import errors, limits
from dashboard_api.answers import acts, messages
from dashboard_api.answers.acts import Chosen
from dashboard_api.answers.records import WrongState, changed
from dashboard_api.api.authentication import Authenticated
from dashboard_api.api.authorization import authorize
from dashboard_api.api.request import Call
from dashboard_api.api.signed import signed
from dashboard_api.crawler.next_looks import look_again
from dashboard_api.models import Account, Answer, Finding, RememberedCall, SiteLink, Website
from dashboard_api.queries.credentials import AccountSite
from dashboard_api.reading.answer_list import build_answers
from dashboard_api.reading.conversation import answer_of, message_of
from dashboard_api.reading.selection import Selection, check_unchanged, chosen_ids
from dashboard_api.reading.snapshot import snapshot
from signed_api import answering as contract
from signed_api.answering import (
    ANSWER,
    ANSWER_LIST,
    ANSWER_RULES,
    MESSAGE,
    AnswerRequest,
    AnswerRulesRequest,
    AnswersRequest,
    MessageRequest,
)
from signed_api.answers import ACCEPTED, FIXED

_RULES = ("critical_days", "high_days", "medium_days", "low_days", "second_person", "time_zone")


@signed(ANSWER)
def site_answer(call: Call, caller: Authenticated, fields: AnswerRequest) -> bytes:
    """``POST /v1/site/answer``: answer findings, or show in a preview what would be answered."""
    link = authorize(caller.link, fields, call.moment)
    if fields.preview:
        with snapshot():
            ids = chosen_ids(link, fields, call.moment)
            chosen = Chosen.of(link.account_id, link.website_id, ids)
        return msgspec.json.encode(_response(link, fields, chosen))
    return _once(link, fields, call.moment, lambda: _answer(link, fields, call.moment))


def _answer(link: AccountSite, fields: AnswerRequest, now: datetime) -> bytes:
    """Do the act in the caller's transaction; return the encoded response."""
    account = Account.objects.get(pk=link.account_id)
    website = Website.objects.get(pk=link.website_id)
    ids = chosen_ids(link, fields, now)
    check_unchanged(fields.selection, ids)
    chosen = Chosen.of(account.pk, website.pk, ids)
    try:
        acts.act(account, website, chosen, fields, now)
    except WrongState as error:
        raise errors.WrongState(str(error)) from error
    except acts.AlreadyAnswered as error:
        raise errors.AlreadyAnswered from error
    except acts.TooManyDisputes as error:
        raise errors.TooManyOpen from error
    except acts.BadDay as error:
        raise errors.InvalidRequest([{"field": error.field, "message": str(error)}]) from error
    next_look = None
    if fields.act == FIXED:
        next_look = look_again(link, chosen.findings, account=account, website=website, now=now)
    return msgspec.json.encode(_response(link, fields, chosen, next_look))


def _response(
    link: AccountSite, fields: AnswerRequest, chosen: Chosen, next_look: contract.NextLook | None = None
) -> contract.AnswerResponse:
    ids = [finding.pk for finding in chosen.findings]
    own = Answer.objects.open().filter(account=link.account_id, website=link.website_id)
    only = own.filter(finding__in=ids).select_related("case").first() if len(ids) == 1 else None
    if fields.preview and fields.act == ACCEPTED:
        account = Account.objects.get(pk=link.account_id)
        waiting = {finding.pk for finding in chosen.findings if acts.must_wait(account, finding)}
    else:
        waiting = set(own.filter(answer=Answer.Kind.WAITING).values_list("finding", flat=True))
    return contract.AnswerResponse(
        ok=True,
        host=link.host,
        preview=fields.preview,
        total=len(ids),
        by_severity=chosen.by_severity(),
        answered=len(chosen.open),
        waiting=len(waiting.intersection(ids)),
        selection=str(Selection.of(ids)),
        answer=answer_of(only) if only else None,
        next_look=next_look,
    )


@signed(ANSWER_LIST)
def site_answers(call: Call, caller: Authenticated, fields: AnswersRequest) -> bytes:
    """``POST /v1/site/answers``: list the account's answers about the website."""
    link = authorize(caller.link, fields, call.moment)
    with snapshot():
        return msgspec.json.encode(build_answers(link, fields))


@signed(MESSAGE)
def site_message(call: Call, caller: Authenticated, fields: MessageRequest) -> bytes:
    """``POST /v1/site/message``: write to the analysts, or change a message."""
    link = authorize(caller.link, fields, call.moment)
    return _once(link, fields, call.moment, lambda: _write(link, fields, call.moment))


def _write(link: AccountSite, fields: MessageRequest, now: datetime) -> bytes:
    """Store the message in the caller's transaction; return the encoded response."""
    account = Account.objects.get(pk=link.account_id)
    finding = Finding.objects.filter(pk=int(fields.finding_id), website=link.website_id).first()
    if finding is None:
        raise errors.UnknownFinding
    try:
        change = messages.edit if fields.message_id else messages.write
        message = change(account, finding, fields, now)
    except WrongState as error:
        raise errors.WrongState(str(error)) from error
    except messages.TooManyMessages as error:
        text = "This account or person wrote many messages in the last hour. Write again after Retry-After."
        raise errors.RateLimited(text, seconds=error.seconds) from error
    case = messages.case_of(account.pk, finding.pk)
    return msgspec.json.encode(
        contract.MessageResponse(
            ok=True,
            host=link.host,
            message=message_of(message),
            promised_on=case.promised_on if case and not case.waits_for_customer else None,
        )
    )


@signed(ANSWER_RULES)
def account_answer_rules(_call: Call, caller: Authenticated, fields: AnswerRulesRequest) -> bytes:
    """``POST /v1/account/answer-rules``: return the account's rules about answers; fields set them."""
    with transaction.atomic():
        # Answers and their messages, which refer to the account, need not wait: they lock links first.
        account = Account.objects.select_for_update(no_key=True).get(pk=caller.account_id)
        given = {name: getattr(fields, name) for name in _RULES}
        before = {name: getattr(account, name) for name in _RULES}
        after = {
            name: value for name, value in given.items() if value not in (None, "") and value != before[name]
        }
        if after:
            Account.objects.filter(pk=account.pk).update(**after)
            for website_id in SiteLink.objects.filter(account=account).values_list("website", flat=True):
                changed(account.pk, website_id)
            audit(
                "answer_rules.changed",
                account,
                by=fields.by or account.ref,
                before={name: before[name] for name in after},
                after=after,
            )
    return msgspec.json.encode(contract.AnswerRulesResponse(ok=True, **before | after))


def _once(
    link: AccountSite, fields: AnswerRequest | MessageRequest, now: datetime, change: Callable[[], bytes]
) -> bytes:
    """Lock the website, and return the response of ``change``, or the same as before for a repeated key."""
    with transaction.atomic():
        Website.wait_for_imports([link.website_id])
        if not fields.request_key:
            return change()
        # So that two calls about different websites cannot use the same key.
        Account.objects.select_for_update().get(pk=link.account_id)
        digest = hashlib.sha256(msgspec.json.encode(fields)).hexdigest()
        remembered = RememberedCall.objects.filter(account=link.account_id, key=fields.request_key)
        remembered.filter(at__lt=now - limits.REMEMBERED_CALL_LIFETIME).delete()
        known = remembered.first()
        if known is not None:
            if known.digest != digest:
                raise errors.ReusedKey("This request_key was used for another request. Use a new one.")
            return bytes(known.response)
        response = change()
        RememberedCall.objects.create(
            account_id=link.account_id, key=fields.request_key, at=now, digest=digest, response=response
        )
        return response
