"""Filters of the lists, parsed from the URL, and shared parts of forms."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext_lazy as _

from foundation.addresses.hosts import InvalidHost, normalise_dns_name
from foundation.addresses.mail_addresses import mail_address
from foundation.texts.time_zones import offered_time_zones, time_zones
from portal.texts import labels
from signed_api.answers import ACCEPTED, ANSWERS, DUE, UNANSWERED
from signed_api.findings import DashboardRequest
from signed_api.limits import MAX_FILTER_VALUES, MAX_PAGE_DEPTH, MAX_QUERY_LENGTH

if TYPE_CHECKING:  # config uses this module without the portal's tables
    from portal.models import Account

PAGE_SIZES = (20, 50, 100)
FINDING_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,127}", re.ASCII)  # ids that are safe in a URL
SITE_SORTS = ("worst", "name", "checked")
NO_GRADE = "none"
SHARE_DAYS = {7: _("7 days"), 30: _("30 days")}
PROBLEM_ID = re.compile(r"[a-z0-9-]{1,64}", re.ASCII)
FILTER_NAMES = (
    *("status", "severity", "kind", "source", "answer", "due", "assignee", "hosts", "since", "fixed"),
    *("problem", "query"),
)
ME = "me"  # as assignee: the person who reads the list
SEVERAL_VALUES = ("severity", "kind", "source", "answer", "due", "assignee", "hosts")
ALL_ANSWERS = (UNANSWERED, *ANSWERS)
NOT_ACCEPTED = ",".join(answer for answer in ALL_ANSWERS if answer != ACCEPTED)
PERSON = r"[!-+.-~-]{1,64}"  # a reference of a person, ``me`` or ``none``
SOURCES = re.compile(r"^[-a-zA-Z0-9_]{1,50}(,[-a-zA-Z0-9_]{1,50}){0,19}\Z")  # slugs
PRIORITY = "priority"  # the default order: worst first, confirmed findings before suspected ones
MAX_DAYS = 366  # the service's limit for filters by time
# "7", "8-30" or "366-"; 0 only begins a range with an end, such as "0-7".
PERIOD = re.compile(r"^([1-9]\d{0,2}|0(?=-\d))(-([1-9]\d{0,2})?)?\Z", re.ASCII)
PROBLEMS = "problems"  # the view of the list that shows problems
PASSWORD_LABELS = {
    "oldpassword": _("Current password"),
    "password1": _("New password"),
    "password2": _("New password (again)"),
}
PASSWORD_RULES = _("At least 12 characters; not a common one, and not similar to your name or address.")


def page_number(request: HttpRequest, *, page_size: int) -> int:
    """Return the page number of the URL, limited to the service's last page; 1 if it is not a number."""
    text = request.GET.get("page", "1")
    is_number = text.isascii() and text.isdecimal() and len(text) < 6
    return min(max(1, int(text)), MAX_PAGE_DEPTH // page_size) if is_number else 1


class MailAddressField(forms.EmailField):
    """A field for an e-mail address; it returns the normalised address."""

    def clean(self, value: Any) -> str:
        """Return the normalised address."""
        return mail_address(super().clean(value))


class CommaJoinedInput(forms.TextInput):
    """Widget that joins repeated query fields: ``a=1&a=2`` and ``a=1,2`` mean the same."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        """Return the distinct values, joined by commas."""
        if not isinstance(data, QueryDict):
            return super().value_from_datadict(data, files, name)
        return ",".join(dict.fromkeys(filter(None, data.getlist(name))))


class WordField(forms.CharField):
    """A field for one of ``words``, ignoring case."""

    def __init__(self, words: Iterable[str], **kwargs: Any) -> None:
        self.spellings = {word.casefold(): word for word in words}
        super().__init__(**kwargs)

    def clean(self, value: Any) -> str:
        """Return the word as the service writes it."""
        word = super().clean(value).casefold()
        if word and word not in self.spellings:
            raise forms.ValidationError("This is not one of the words.")
        return self.spellings.get(word, "")


class WordsField(WordField):
    """A field for several of ``words``, joined by commas; it drops other words."""

    widget = CommaJoinedInput

    def clean(self, value: Any) -> str:
        """Return the distinct chosen words as the service writes them, in the order of ``words``."""
        chosen = {word.strip().casefold() for word in forms.CharField.clean(self, value).split(",")}
        return ",".join(spelling for word, spelling in self.spellings.items() if word in chosen)


class HostsField(forms.CharField):
    """A field for host names, joined by commas; it rejects names that the service refuses."""

    widget = CommaJoinedInput

    def clean(self, value: Any) -> str:
        """Return the normalised names."""
        text = super().clean(value)
        names = text.split(",") if text else []
        if len(names) > MAX_FILTER_VALUES:
            raise forms.ValidationError("These are too many hosts.")
        try:
            return ",".join(map(normalise_dns_name, names))
        except InvalidHost as error:
            raise forms.ValidationError(str(error)) from error


class PeriodField(forms.RegexField):
    """A field for a period in days: the last days, such as "7", or an age, such as "8-30" (today is 0)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(PERIOD, **kwargs)

    def clean(self, value: Any) -> str:
        """Return the period; raise ValidationError for a period that the service refuses."""
        text: str = super().clean(value)
        first, dash, last = text.partition("-")
        max_last = MAX_DAYS - 1 if last else MAX_DAYS  # the request for "8-30" has 31 days
        if (text and not int(first) <= int(last or first) <= max_last) or f"{first}{dash}" == "1-":
            raise forms.ValidationError("These days are out of range.")
        return text


class OneAccount(forms.BaseForm):
    """Mixin that fills the field ``account`` with ``accounts`` (at least one), and hides a single choice."""

    def __init__(self, *args: Any, accounts: Sequence["Account"], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._accounts = {account.ref: account for account in accounts}
        choices = [(account.ref, str(account)) for account in accounts]
        self.fields["account"].choices = choices  # type: ignore[attr-defined]
        if len(choices) == 1:
            self.fields["account"].widget = forms.HiddenInput()

    @property
    def chosen_account(self) -> "Account":
        """The chosen account, or the first."""
        chosen = self.cleaned_data["account"]
        return self._accounts[chosen] if chosen else next(iter(self._accounts.values()))


class FilterForm(forms.Form):
    """Form for the query string of a list of findings; callers ignore invalid fields."""

    status = WordField(labels.STATUSES.keys() - {labels.OPEN}, required=False)  # open is the default
    severity = WordsField(labels.SEVERITIES, required=False)
    kind = WordsField(labels.KINDS, required=False)
    source = forms.RegexField(SOURCES, max_length=500, required=False, widget=CommaJoinedInput)
    answer = WordsField(ALL_ANSWERS, required=False)
    due = WordsField(DUE, required=False)
    assignee = forms.RegexField(rf"^{PERSON}(,{PERSON}){{0,19}}\Z", required=False, widget=CommaJoinedInput)
    hosts = HostsField(required=False)
    since = PeriodField(required=False)
    fixed = WordField(labels.PERIODS, required=False)
    problem = forms.RegexField(rf"^{PROBLEM_ID.pattern}\Z", required=False)
    sort = WordField(labels.PROBLEM_SORTS.keys() - {labels.WORST}, required=False)  # worst is the default
    view = WordField([PROBLEMS], required=False)
    query = forms.CharField(max_length=MAX_QUERY_LENGTH, required=False)
    page_size = forms.TypedChoiceField(
        choices=[(size, size) for size in PAGE_SIZES], coerce=int, required=False
    )
    page = forms.IntegerField(min_value=1, required=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Filters and page of a list of findings; an empty status means open.

    The filters in SEVERAL_VALUES may have several, joined by commas. The assignee ``me`` is the person who
    reads the list: ``of_person`` replaces it before a call.
    """

    status: str = ""
    severity: str = ""
    kind: str = ""
    source: str = ""
    answer: str = ""
    due: str = ""
    assignee: str = ""
    hosts: str = ""
    since: str = ""
    fixed: str = ""
    problem: str = ""
    query: str = ""
    sort: str = ""
    view: str = ""
    page_size: int = PAGE_SIZES[0]
    page: int = 1

    @classmethod
    def from_query(cls, data: Mapping[str, Any]) -> Self:
        """Return the filters of a query string; invalid values are dropped."""
        form = FilterForm(data)
        form.is_valid()
        filters = cls(**{name: value for name, value in form.cleaned_data.items() if value}).compatible
        return replace(filters, page=1) if filters.page * filters.page_size > MAX_PAGE_DEPTH else filters

    @property
    def compatible(self) -> Self:
        """The filters in a combination that the service accepts.

        One problem excludes the list of problems. A search excludes an age. The time of the fix needs the
        status fixed, without a search or another time.
        """
        filters = replace(self, view="") if self.problem else self
        if filters.query and "-" in filters.since:
            filters = replace(filters, since="")
        if filters.fixed and (filters.query or filters.since or filters.status != "fixed"):
            filters = replace(filters, fixed="")
        needs_problems = filters.sort == labels.MOST_LOCATIONS
        return replace(filters, sort="") if needs_problems and not filters.view else filters

    def values(self, name: str) -> list[str]:
        """Return the chosen values of a filter."""
        return [value for value in getattr(self, name).split(",") if value]

    @property
    def active(self) -> dict[str, str]:
        """The non-empty filters by name, without order, view and page."""
        return {name: value for name in FILTER_NAMES if (value := getattr(self, name))}

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        """Return the filters that ``as_text`` wrote, if the portal still knows all of them."""
        filters = cls.from_query(QueryDict(text))
        return filters if filters.as_text() == text else None

    def as_text(self) -> str:
        """Return the active filters as a query string, for storage."""
        return urlencode(self.active)

    def of_person(self, reference: str) -> Self:
        """Return the filters with ``reference`` in place of the assignee ``me``."""
        people = [reference if each == ME else each for each in self.values("assignee")]
        return replace(self, assignee=",".join(dict.fromkeys(people)))

    @property
    def hides_accepted(self) -> bool:
        """Whether the filter by answer leaves out accepted risks, and nothing else."""
        return self.answer == NOT_ACCEPTED

    @property
    def without_query(self) -> Self:
        """The same filters without the search, on the first page."""
        return replace(self, query="", page=1)

    @property
    def without_page(self) -> Self:
        """The same filters for findings, on the first page with the default size."""
        return replace(self, page=1, page_size=PAGE_SIZES[0], view="").compatible

    def to_request(self) -> DashboardRequest:
        """Return the request that the gateway sends for these filters."""
        fields = asdict(self)
        group_by = "problem" if fields.pop("view") else ""
        first, dash, last = fields.pop("since").partition("-")
        # "7" is since=7. The age "8-30" is older_than=8 and since=31, as the service's days include today.
        times = {
            "since": (int(last) + 1 if last else None) if dash else int(first or 0) or None,
            "older_than": int(first) or None if dash else None,
            "fixed_since": int(fields.pop("fixed") or 0) or None,
        }
        fields |= times | {"sort": self.sort or PRIORITY, "group_by": group_by}
        return DashboardRequest(**{name: value for name, value in fields.items() if value})


class SiteFilterForm(forms.Form):
    """Form for the query string of the list of websites; callers ignore invalid fields."""

    query = forms.CharField(max_length=MAX_QUERY_LENGTH, required=False)
    grade = WordField(("A", "B", "C", "D", "F", NO_GRADE), required=False)
    attention = forms.BooleanField(required=False)
    severity = WordField(labels.SEVERITIES, required=False)
    open = forms.BooleanField(required=False)
    overdue = forms.BooleanField(required=False)
    sort = WordField(SITE_SORTS, required=False)
    page = forms.IntegerField(min_value=1, max_value=1_000_000, required=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFilters:
    """Filters, order and page of the list of websites.

    ``attention``, ``severity``, ``open`` and ``overdue`` keep only websites that need attention, that have
    open findings of the severity, that have open findings, or that have overdue ones.
    """

    query: str = ""
    grade: str = ""
    attention: bool = False
    severity: str = ""
    open: bool = False
    overdue: bool = False
    sort: str = SITE_SORTS[0]
    page: int = 1

    @classmethod
    def from_query(cls, data: Mapping[str, Any]) -> Self:
        """Return the filters of a query string; invalid values are dropped."""
        form = SiteFilterForm(data)
        form.is_valid()
        return cls(**{name: value for name, value in form.cleaned_data.items() if value})

    @property
    def is_active(self) -> bool:
        """Whether a filter narrows the list; the order does not."""
        return bool(self.query or self.grade or self.attention or self.severity or self.open or self.overdue)

    def fields(self, *, without: str = "") -> dict[str, str]:
        """Return the fields of the query string, without defaults."""
        defaults = asdict(SiteFilters())
        return {
            name: "1" if value is True else str(value)
            for name, value in asdict(self).items()
            if value != defaults[name] and name != without
        }


class TimeZoneField(forms.CharField):
    """A time zone, whose name may have any case; the page lists the ``offered`` ones as "time-zones"."""

    offered = staticmethod(offered_time_zones)

    def __init__(self) -> None:
        attributes = {"list": "time-zones", "autocomplete": "off", "spellcheck": "false"}
        widget = forms.TextInput(attrs=attributes)
        super().__init__(label=_("Time zone"), max_length=64, widget=widget)

    def clean(self, value: Any) -> str:
        """Return the name as it is spelled in the list."""
        wanted = str(super().clean(value)).strip().replace(" ", "_").lower()
        for name in time_zones():
            if name.lower() == wanted:
                return name
        raise forms.ValidationError(_("Choose a time zone from the list, such as Europe/Berlin."))


class ShareListForm(forms.Form):
    """Form for the lifetime of a share link."""

    days = forms.TypedChoiceField(label=_("Valid for"), choices=list(SHARE_DAYS.items()), coerce=int)


class ShareForm(ShareListForm):
    """Form for a share link of a finding or a problem: lifetime, and whether it shows evidence."""

    evidence = forms.BooleanField(label=_("Include evidence"), required=False)


class ShareFindingForm(ShareForm):
    """Form for a share link of one finding, whose readers may say that it is fixed."""

    fixed = forms.BooleanField(label=_("Allow “I fixed it”"), required=False)


class ViewNameForm(forms.Form):
    """Form for the name of a saved view."""

    name = forms.CharField(label=_("Name"), max_length=60)

    def clean_name(self) -> str:
        """Return the name with single spaces; two names that look the same are then the same."""
        return " ".join(self.cleaned_data["name"].split())


class SaveViewForm(ViewNameForm):
    """Form that saves the filters of a list; owners and managers may save them for everyone."""

    everyone = forms.BooleanField(label=_("For everyone in the organization"), required=False)

    def __init__(self, *args: Any, manages: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not manages:
            del self.fields["everyone"]


class PasswordErrors:
    """Mixin for Django's password forms: errors appear under the first field, not under its repetition."""

    def validate_password_for_user(self, user: User, **_: Any) -> None:
        """Check the password against the rules; errors go to ``password1``, not to Django's ``password2``."""
        errors_at = {"password_field_name": "password1"}
        super().validate_password_for_user(user, **errors_at)  # type: ignore[misc]


class ChosenPassword:
    """Mixin for forms that set a password: our labels and rules, without placeholders.

    The first field gets the focus, or the first field with an error.
    """

    fields: dict[str, forms.Field]
    has_error: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._focus(next(iter(self.fields)))
        for name in PASSWORD_LABELS.keys() & self.fields.keys():
            field = self.fields[name]
            field.label = PASSWORD_LABELS[name]
            field.help_text = PASSWORD_RULES if name == "password1" else ""
            field.widget.attrs.pop("placeholder", None)

    def add_error(self, field: str | None, error: Any) -> None:
        """Add the error, and focus the first field with an error."""
        super().add_error(field, error)  # type: ignore[misc]
        if first := next((name for name in self.fields if self.has_error(name)), None):
            self._focus(first)

    def _focus(self, name: str) -> None:
        for each in self.fields.values():
            each.widget.attrs.pop("autofocus", None)
        self.fields[name].widget.attrs["autofocus"] = True
