"""The page of an answer: the numbers of a preview, and the form."""

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.answering.chosen import Chosen
from portal.pages.answer_forms import AnswerForm
from portal.pages.view_models import SitePage
from portal.pages.view_models.saved_views import filters_in_words
from portal.texts import labels
from signed_api.answering import AnswerResponse, AnswerRulesResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Severity:
    """A severity, with the number of chosen findings that have it."""

    label: str
    tone: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPage:
    """The page of an answer; without a ``preview`` the service could not count the findings."""

    host: str
    url: str
    back_url: str
    form: AnswerForm
    preview: AnswerResponse | None
    severities: tuple[Severity, ...]
    filters: tuple[str, ...]
    rules: str
    selection: str
    key: str
    is_one: bool
    is_replacing: bool

    @property
    def may_confirm(self) -> bool:
        """Whether all chosen findings wait for a second person."""
        return self.preview is not None and self.preview.waiting == self.preview.total


def answer_page(
    site: SitePage,
    chosen: Chosen,
    form: AnswerForm,
    *,
    preview: AnswerResponse | None,
    rules: AnswerRulesResponse | None,
    problem: str,
    key: str,
) -> AnswerPage:
    """Return the page of an answer to the chosen findings; ``problem`` is the title of a chosen problem."""
    filters = replace(site.address.filters, sort="", view="", problem="")
    return AnswerPage(
        host=site.host,
        url=site.address.of_answer(chosen.ids),
        back_url=back_url(site, chosen),
        form=form,
        preview=preview,
        severities=_severities(preview),
        filters=() if chosen.ids else (*filter(None, [problem]), *filters_in_words(filters)),
        rules=_rules_text(rules),
        selection=preview.selection if preview else "",
        key=key,
        is_one=bool(chosen.only_id),
        is_replacing=preview is not None and preview.answered > 0,
    )


def back_url(site: SitePage, chosen: Chosen) -> str:
    """Return the URL of the finding if only one is chosen, else of the list."""
    return site.address.of_finding(chosen.only_id) if chosen.only_id else str(site.address)


def _severities(preview: AnswerResponse | None) -> tuple[Severity, ...]:
    counts = preview.by_severity if preview else {}
    return tuple(
        Severity(label=str(label), tone=labels.tone(name), count=counts[name])
        for name, label in labels.SEVERITIES.items()
        if counts.get(name)
    )


def _rules_text(rules: AnswerRulesResponse | None) -> str:
    """Return the account's days by severity, for an answer without a day; empty without rules."""
    if rules is None:
        return ""
    days = {
        "Critical": rules.critical_days,
        "High": rules.high_days,
        "Medium": rules.medium_days,
        "Low": rules.low_days,
    }
    parts = [
        ngettext("%(severity)s %(count)s day", "%(severity)s %(count)s days", count)
        % {"severity": labels.SEVERITIES[name], "count": count}
        for name, count in days.items()
        if count
    ]
    return _("Without a day: %(days)s from today.") % {"days": ", ".join(parts)} if parts else ""
