"""The forms of questions and disputes: acts of analysts, with ready-made sentences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms

from dashboard_api.decisions import cases
from dashboard_api.models import Case
from signed_api import limits as contract_limits

_ALL_CUSTOMERS = (
    "Its findings become false positives for every customer with the website. Only this customer reads your "
    "words."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An act of an analyst; ``key`` opens its form, and ``sentences`` can be inserted into its text."""

    label: str
    done: str
    key: str
    decide: Callable[..., object]
    sentences: tuple[str, ...]
    consequence: str = ""


ACTS: Mapping[str, Act] = {
    "agree": Act(
        label="Agree",
        done="Agreed",
        key="a",
        decide=cases.agree,
        consequence=_ALL_CUSTOMERS,
        sentences=(
            "You are right: this is not a problem. Thank you for telling us.",
            "We checked it by hand: the scanner is mistaken.",
        ),
    ),
    "disagree": Act(
        label="Disagree",
        done="Disagreed",
        key="d",
        decide=cases.disagree,
        consequence="Its findings stay open. The customer can dispute once more with new evidence.",
        sentences=(
            "We checked it by hand and can reproduce the problem.",
            "What you sent does not show that an attack is impossible.",
            "If you do not want to fix it, you can accept the risk.",
        ),
    ),
    "ask": Act(
        label="Ask",
        done="Asked",
        key="q",
        decide=cases.ask,
        consequence="The dispute leaves the queue until the customer writes.",
        sentences=(
            "Please send us the server's response that shows this.",
            "Please tell us which version you use, and since when.",
            "Please tell us what prevents an attack, and where it is configured.",
        ),
    ),
    "reply": Act(
        label="Reply",
        done="Replied",
        key="r",
        decide=cases.reply,
        consequence="The question is answered. Another message of the customer opens a new one.",
        sentences=(
            "The page of the finding says how to fix it.",
            "We checked it by hand: the problem is still there.",
            "After your fix, say so on the page of the finding: the next scan decides.",
            "We are looking into it and will write again.",
        ),
    ),
}
_ACTS_OF_KIND = {Case.Kind.DISPUTE: ("agree", "disagree", "ask"), Case.Kind.QUESTION: ("reply",)}


class CaseForm(forms.Form):
    """A form for an act; decisions refuse an empty text, and a case that was closed meanwhile."""

    text = forms.CharField(
        required=False,
        label="What the customer reads",
        widget=forms.Textarea(attrs={"rows": 5, "maxlength": contract_limits.MAX_MESSAGE_LENGTH}),
    )

    def __init__(self, *args: Any, act: str, **kwargs: Any) -> None:
        # The page has several forms, so each needs ids of its own.
        super().__init__(*args, **kwargs | {"auto_id": f"{act}-%s"})
        self.act, self.name = ACTS[act], act
        # The sentences of a page have different numbers, which are keys.
        before = [name for names in _ACTS_OF_KIND.values() if act in names for name in names]
        first = 1 + sum(len(ACTS[name].sentences) for name in before[: before.index(act)])
        self.sentences = list(enumerate(self.act.sentences, first))

    def clean_text(self) -> str:
        """Return the text with the line breaks that its length counts."""
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")

    def with_sentence(self, sentence: str) -> "CaseForm":
        """Return the form with one of its sentences after the text, for browsers without scripts."""
        known = sentence if sentence in self.act.sentences else ""
        text = " ".join(filter(None, (self.data.get("text", "").strip(), known)))
        return CaseForm(initial={"text": text}, act=self.name)

    def apply(self, case: Case, *, by: str, person: str, now: datetime) -> None:
        """Do the act; raises ValidationError."""
        self.act.decide(case, by=by, person=person, text=self.cleaned_data["text"], now=now)


def acts_for(case: Case) -> tuple[str, ...]:
    """Return the acts that are possible about ``case`` now."""
    return _ACTS_OF_KIND[Case.Kind(case.kind)] if case.closed_at is None else ()
