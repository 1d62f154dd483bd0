"""Pages of answers: to one finding or to many, with a preview; and messages to analysts."""

import re
from dataclasses import replace
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_http_methods

from audit.recording import record as audit
from foundation.texts.people import reference_of
from portal.answering.chosen import ID, BadIds, Chosen, TooManyIds
from portal.answering.texts import failure, what_happened, why_not
from portal.answering.view_models import answer_page, back_url
from portal.answers import service
from portal.models import Website
from portal.notifications.conversations import notify_mentions, notify_second_person
from portal.pages.access import current_user, get_website, may_answer, members_only
from portal.pages.answer_forms import AnswerForm, MessageForm
from portal.pages.error_pages import render_with_error, website_error_page
from portal.pages.forms import Filters
from portal.pages.htmx import HtmxHttpRequest
from portal.pages.view_models import SitePage, problem_heading, site_page
from portal.pages.view_models.answers import form_about, request_key
from portal.pages.view_models.people import People
from portal.texts import labels, topics
from signed_api.answering import (
    CONFIRM,
    DECLINE,
    WITHDRAW,
    AnswerRequest,
    AnswerResponse,
    AnswerRulesRequest,
    AnswerRulesResponse,
    MessageRequest,
)
from signed_api.answers import ACCEPTED, WILL_FIX
from signed_api.errors import CallError, InvalidRequest, ReusedKey, UnknownFinding, WrongState
from signed_api.findings import DashboardRequest
from signed_api.limits import MAX_CHOSEN_FINDINGS

_ACTS_WITHOUT_FORM = (WITHDRAW, CONFIRM, DECLINE)
_KEY = re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII)
_SELECTION = re.compile(r"[0-9a-f.]{1,100}", re.ASCII)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
@gzip_page
def answer(request: HtmxHttpRequest, host: str) -> HttpResponse:
    """Preview an answer to the findings that the URL chooses; the form gives it.

    ``ids`` of the URL, or the filters of a list, choose them. A refused form is shown with the reason and the
    present numbers, and loses nothing.
    """
    website, site = _site(request, host)
    try:
        chosen = Chosen.of(request.GET, site.address.filters)
    except BadIds as error:
        raise Http404 from error
    except TooManyIds:
        text = _("Choose at most %(count)s findings, or filter the list and answer every match.")
        messages.warning(request, text % {"count": MAX_CHOSEN_FINDINGS})
        return redirect(str(site.address))
    if not chosen:
        messages.info(request, _("Choose findings first, or filter the list."))
        return redirect(str(site.address))
    if request.method != "POST":
        return _ask(request, website, site, chosen)
    act = request.POST.get("act", "")
    if act in _ACTS_WITHOUT_FORM:
        try:
            return _act(request, website, site, chosen, {"act": act})
        except CallError as error:
            messages.warning(request, why_not(error, act, host))
            return redirect(back_url(site, chosen))
    return _answer(request, website, site, chosen)


def _answer(request: HtmxHttpRequest, website: Website, site: SitePage, chosen: Chosen) -> HttpResponse:
    """Send the form of an answer, or show it again."""
    people = People.of(website.account_id)
    form = AnswerForm(request.POST, assignees=people.names.items(), extra_bytes=chosen.size)
    key = _key(request)
    if form.is_valid():
        values = form.cleaned_data
        only_unanswered = request.POST.get("unanswered") == "1"
        try:
            return _act(request, website, site, chosen, values | {"only_unanswered": only_unanswered})
        except CallError as error:
            form.add_error(None, why_not(error, values["act"], website.host))
            key = request_key() if isinstance(error, ReusedKey) else key
    return _ask_again(request, website, site, chosen, form, key=key)


def _act(
    request: HtmxHttpRequest, website: Website, site: SitePage, chosen: Chosen, values: dict[str, Any]
) -> HttpResponse:
    """Call the service, and redirect to the finding or the list; raises CallError, and Http404."""
    try:
        done = service.answer(
            website,
            AnswerRequest(
                **chosen.fields,
                **values,
                selection=_selection(request),
                by=reference_of(current_user(request).pk),
                request_key=_key(request),
            ),
        )
    except UnknownFinding as error:
        raise Http404 from error
    act = values["act"]
    audit("website.findings_answered", website, after={"answer": act, "findings": str(done.total)})
    messages.success(request, what_happened(act, done, replace(site.address, filters=Filters())))
    if act == ACCEPTED and done.waiting:
        title = _title(website, chosen.only_id) if chosen.only_id else _problem_if_reached(website, chosen)
        notify_second_person(website, title=title, count=done.waiting, by=current_user(request))
    return redirect(back_url(site, chosen))


def _ask(request: HtmxHttpRequest, website: Website, site: SitePage, chosen: Chosen) -> HttpResponse:
    """Show a new form with the numbers of a preview."""
    try:
        preview, rules = _preview(website, chosen)
        form = _new_form(website, chosen)
        problem = _problem(website, chosen)
    except UnknownFinding as error:
        raise Http404 from error
    except InvalidRequest as error:
        messages.warning(request, why_not(error, WILL_FIX, website.host))
        return redirect(str(site.address))
    except CallError as error:
        error_page = website_error_page(error, website, request.user)
        own_url = {"url": request.get_full_path()}
        return render_with_error(request, "portal/answering/answer.html", error_page, page=own_url)
    page = answer_page(site, chosen, form, preview=preview, rules=rules, problem=problem, key=request_key())
    return render(request, "portal/answering/answer.html", {"page": page})


def _ask_again(
    request: HtmxHttpRequest, website: Website, site: SitePage, chosen: Chosen, form: AnswerForm, *, key: str
) -> HttpResponse:
    """Show a refused form with the present numbers, or without them while the service is away."""
    preview, rules, problem = None, None, ""
    try:
        preview, rules = _preview(website, chosen)
        problem = _problem(website, chosen)
    except UnknownFinding as error:
        raise Http404 from error
    except CallError:  # the form says why
        pass
    page = answer_page(
        site, chosen, form, preview=preview, rules=rules, problem=problem, key=key or request_key()
    )
    if preview is None:
        is_replacing = request.POST.get("unanswered") != "1"
        page = replace(page, selection=_selection(request), is_replacing=is_replacing)
    return render(request, "portal/answering/answer.html", {"page": page})


def _preview(website: Website, chosen: Chosen) -> tuple[AnswerResponse, AnswerRulesResponse]:
    """Return the numbers of the chosen findings, and the account's rules; raises CallError."""
    preview = service.answer(website, AnswerRequest(act=WILL_FIX, preview=True, **chosen.fields))
    return preview, service.answer_rules_of(website.account, AnswerRulesRequest())


def _problem(website: Website, chosen: Chosen) -> str:
    """Return the title of the problem that the filters choose, if they choose one; raises CallError."""
    problem = chosen.filters.get("problem", "")
    if not problem or topics.title_of(problem):
        return topics.title_of(problem)
    request = DashboardRequest(problem=problem, page_size=1)
    return problem_heading(service.get_dashboard(website, request, stores_summary=False), problem)


def _problem_if_reached(website: Website, chosen: Chosen) -> str:
    """Return the title of the chosen problem; empty while the service is away."""
    try:
        return _problem(website, chosen)
    except CallError:
        return ""


def _title(website: Website, finding_id: str) -> str:
    """Return the title of a finding for an e-mail; empty while the service is away."""
    try:
        return service.get_finding(website, finding_id).finding.title
    except CallError:
        return ""


def _new_form(website: Website, chosen: Chosen) -> AnswerForm:
    """Return the form to fill in; about one finding it begins with the open answer. Raises CallError."""
    people = People.of(website.account_id)
    if not chosen.only_id:
        return AnswerForm(assignees=people.names.items())
    return form_about(service.get_finding(website, chosen.only_id), people)


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def write_message(request: HtmxHttpRequest, host: str, finding_id: str) -> HttpResponse:
    """Write to the analysts about a finding, or change the person's own message.

    The form is on the finding's page. A refused form is shown at this URL, so a GET of it redirects there.
    """
    website, site = _site(request, host, finding_id=finding_id)
    if not ID.fullmatch(finding_id):
        raise Http404
    if request.method != "POST":
        return redirect(site.url)
    form, key = MessageForm(request.POST, auto_id="message-%s"), _key(request)
    message_id = request.POST.get("message_id", "")
    message_id = message_id if ID.fullmatch(message_id) else ""
    if form.is_valid():
        try:
            sent = service.write_message(
                website,
                MessageRequest(
                    finding_id=finding_id,
                    text=form.cleaned_data["text"],
                    message_id=message_id,
                    by=reference_of(current_user(request).pk),
                    request_key=key,
                ),
            )
        except UnknownFinding as error:
            raise Http404 from error
        except CallError as error:
            form.add_error(None, _why_not_sent(error, host))
            key = request_key() if isinstance(error, ReusedKey) else key
        else:
            audit("website.message_written", website, after={"finding": finding_id})
            text = form.cleaned_data["text"]
            if "@" in text and not message_id:
                title = _title(website, finding_id)
                author = current_user(request)
                notify_mentions(website, finding_id=finding_id, title=title, text=text, author=author)
            messages.success(request, _what_was_sent(sent.promised_on, is_changed=bool(message_id)))
            return redirect(site.url)
    page = {
        "site": site,
        "message_url": site.address.of_message(finding_id),
        "form": form,
        "message_key": key,
        "message_id": message_id,
    }
    return render(request, "portal/answering/message.html", {"page": page})


def _what_was_sent(promised_on: date | None, *, is_changed: bool) -> str:
    if is_changed:
        return _("Your message is changed.")
    if promised_on is None:
        return _("Your message is sent.")
    return _("Your message is sent. We answer by %(day)s.") % {"day": labels.day(promised_on)}


def _why_not_sent(error: CallError, host: str) -> str:
    if isinstance(error, WrongState):
        return _("A message can be changed by its author for an hour. Write another one.")
    if isinstance(error, ReusedKey):
        return _("This form was sent before, with other words. Send it again if you mean it.")
    return failure(error, host)


def _site(request: HtmxHttpRequest, host: str, *, finding_id: str = "") -> tuple[Website, SitePage]:
    """Return a website whose findings the person may answer, and its page; raises Http404."""
    website, candidates = get_website(request, host)
    if not may_answer(request, website):
        raise Http404
    return website, site_page(website, candidates, Filters.from_query(request.GET), finding_id=finding_id)


def _key(request: HtmxHttpRequest) -> str:
    """Return the key of the form, so that the service acts once if it is sent twice."""
    key = request.POST.get("key", "")
    return key if _KEY.fullmatch(key) else ""


def _selection(request: HtmxHttpRequest) -> str:
    """Return what the preview's page sent, so that the service refuses the call if other findings match."""
    selection = request.POST.get("selection", "")
    return selection if _SELECTION.fullmatch(selection) else ""
