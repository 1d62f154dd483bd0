"""Messages about an answer: its effect, or the reason why the service refused it."""

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.pages.error_pages import logged_error_page
from portal.pages.urls import Address
from portal.texts import labels
from signed_api.answering import CONFIRM, DECLINE, WITHDRAW, AnswerResponse, NextLook
from signed_api.answers import DISPUTED, FIXED
from signed_api.errors import (
    AlreadyAnswered,
    CallError,
    InvalidRequest,
    RateLimited,
    ReusedKey,
    SelectionChanged,
    TooManyDisputes,
    WrongState,
)
from signed_api.limits import MAX_ANSWERED_AT_ONCE, MAX_OPEN_DISPUTES

_MINUTE = 60


def what_happened(act: str, done: AnswerResponse, address: Address) -> str:
    """Return what the call did; ``address`` is the website's list."""
    if act == WITHDRAW:
        return _("Your answer is withdrawn.")
    if act == CONFIRM:
        return _("You confirmed that the risk is accepted.")
    if act == DECLINE:
        return _("You declined to accept the risk, so the finding has no answer.")
    text = ngettext(
        "Your answer is saved.",
        "Your answer to %(count)s findings is saved.",
        done.total,
    ) % {"count": done.total}
    if done.waiting:
        text += " " + ngettext(
            "%(count)s of them waits for a second person.",
            "%(count)s of them wait for a second person.",
            done.waiting,
        ) % {"count": done.waiting}
    if act == DISPUTED:
        text += " " + _promise(done)
    if act == FIXED and done.next_look:
        return _next_look(text, done.next_look, address)
    return text


def _promise(done: AnswerResponse) -> str:
    if done.answer and done.answer.promised_on:
        return _("An analyst answers by %(day)s.") % {"day": labels.day(done.answer.promised_on)}
    return _("An analyst answers; each finding shows by when.")


def _next_look(text: str, look: NextLook, address: Address) -> SafeString:
    """Return the text with the scan that decides, and a link to it."""
    if look.by in ("retest", "scan"):
        decides = _("A scan that begins now decides whether it is gone.")
        url, label = address.of_scans(), _("See the scan")
    elif look.by == "scanner":
        decides = _("The next complete scan by %(scanner)s decides whether it is gone.") % {
            "scanner": look.source_name
        }
        if look.on:
            decides += " " + _("It is expected by %(day)s.") % {"day": labels.day(look.on)}
        url, label = f"{address.path}#coverage", _("Next scans")
    else:
        return format_html("{} {}", text, _("No scanner looks at it again, so our analysts do."))
    return format_html('{} {} <a href="{}">{}</a>', text, decides, url, label)


def why_not(error: CallError, act: str, host: str) -> str:
    """Return why the service did not take the answer, and what to do; it is logged unless it is usual."""
    match error:
        case SelectionChanged():
            return _changed(error)
        case AlreadyAnswered():
            return _("Someone answered meanwhile. If you send it again, your answer replaces theirs.")
        case TooManyDisputes():
            return _("Your organization has %(count)s open disputes. Wait until analysts answer some.") % {
                "count": MAX_OPEN_DISPUTES
            }
        case ReusedKey():
            return _("This form was sent before, with other words. Send it again if you mean it.")
        case WrongState():
            return _wrong_state(act)
        case InvalidRequest():
            return _invalid(error)
        case _:
            return failure(error, host)


def failure(error: CallError, host: str) -> str:
    """Return why the call failed, for a form that keeps what was typed."""
    if isinstance(error, RateLimited) and error.retry_after > _MINUTE:
        minutes = -(-error.retry_after // _MINUTE)
        text = ngettext(
            "This is too much at once. Try again in %(count)s minute.",
            "This is too much at once. Try again in %(count)s minutes.",
            minutes,
        )
        return text % {"count": minutes}
    error_page = logged_error_page(error, host)
    return f"{error_page.title}. {error_page.advice}"


def _changed(error: SelectionChanged) -> str:
    added, removed = error.detail.added, error.detail.removed
    parts = [_("Other findings match now than when you opened this page.")]
    if added:
        text = ngettext("%(count)s finding was added.", "%(count)s findings were added.", added)
        parts.append(text % {"count": added})
    if removed:
        text = ngettext("%(count)s finding is gone.", "%(count)s findings are gone.", removed)
        parts.append(text % {"count": removed})
    parts.append(_("Check the numbers, then send it again."))
    return " ".join(parts)


def _wrong_state(act: str) -> str:
    if act == WITHDRAW:
        return _("There is no answer any more that could be withdrawn.")
    if act in (CONFIRM, DECLINE):
        return _("It does not wait for you: another person than the first must confirm or decline it.")
    if act == DISPUTED:
        return _(
            "Not all of these findings can be disputed: one is no longer open, or an analyst disagreed "
            "before. Then a second dispute needs new evidence, and there is no third."
        )
    return _("Only open findings can be answered, and not all of these are open now.")


def _invalid(error: InvalidRequest) -> str:
    fields = {each.field for each in error.detail.errors}
    if "until" in fields or "due" in fields:
        return _("The day has passed in the time zone of your organization's rules, or it is too late.")
    if "source" in fields:
        return _("The address has a filter by a scanner that this website does not have.")
    return _("No open finding matches, or more than %(count)s do. Choose others, then try again.") % {
        "count": f"{MAX_ANSWERED_AT_ONCE:,}"
    }
