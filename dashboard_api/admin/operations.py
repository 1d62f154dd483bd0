"""Operations of the admin: confirmed, performed on one object at a time, reported and logged."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.text import format_lazy

SHOWN = 20  # objects listed of a large operation
Words = str | Promise  # a text, or one that is translated when it is shown


class Confirmation(forms.Form):
    """A form that confirms an operation; subclasses add fields."""

    confirmed = forms.BooleanField(initial=True, widget=forms.HiddenInput)


class ReasonForm(Confirmation):
    """A form for a confirmation with a reason; ``reason_help`` says who reads it."""

    reason = forms.CharField(
        label="Reason",
        max_length=450,  # leaves room for the severities that a timeline adds
        widget=forms.TextInput(attrs={"size": 80}),
    )
    reason_help: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].help_text = self.reason_help


class PresenceFilter(admin.EmptyFieldListFilter):
    """A filter by whether a field has a value; subclasses say what this means."""

    heading: Any
    present: Any
    absent: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = self.heading

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Return the choices with the words of the subclass for "Empty" and "Not empty"."""
        words = {"1": self.absent, "0": self.present, None: "All"}
        values = (None, "1", "0")  # in the order of Django's choices
        for value, choice in zip(values, super().choices(changelist), strict=True):
            yield choice | {"display": words[value]}


class OperatorAdmin(admin.ModelAdmin):
    """Base class of pages that offer a model's actions on the page of a single object as well.

    ``everything`` is the query string of the list with all objects, also those that it hides by default.
    """

    everything = ""

    def line(self, obj: Any) -> str:
        """Return a line that distinguishes ``obj`` from the other objects of an operation."""
        return str(obj)

    def warning(self, queryset: QuerySet[Any]) -> str:
        """Return a warning to show before an operation on these objects, or an empty text."""
        return ""

    def note(self, queryset: QuerySet[Any]) -> str:
        """Return who else an operation on these objects affects, or an empty text."""
        return ""

    def actions_for(self, obj: Any) -> Sequence[str]:
        """Return the names of the actions that change ``obj``."""
        return ()

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        """Return the inlines; a new object has no records yet."""
        return self.inlines if obj else ()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Render the page with the actions that the user may perform on the object."""
        offered = self.actions_for(kwargs["obj"]) if kwargs.get("obj") else ()
        labels = dict(self.get_action_choices(request))
        context["everything"] = self.everything
        context["object_actions"] = [(name, labels[name]) for name in offered if name in labels]
        return super().render_change_form(request, context, *args, **kwargs)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may perform actions, even if all fields are read-only."""
        return admin.ModelAdmin.has_change_permission(self, request)

    def confirm(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        operation: Callable[[Any, Mapping[str, Any]], object],
        *,
        title: Words,
        consequence: Words,
        done: Words,
        form_class: type[Confirmation] = Confirmation,
        warns: bool = True,
    ) -> HttpResponse | None:
        """Return a page that asks for confirmation; when confirmed, perform ``operation`` on each object.

        ``operation`` gets the object and the cleaned data of the form.
        """
        form = form_class(request.POST if "confirmed" in request.POST else None)
        if form.is_valid():
            self.perform(request, queryset, lambda obj: operation(obj, form.cleaned_data), done=done)
            return None
        context = self.admin_site.each_context(request) | {
            "title": title,
            "consequence": consequence,
            "form": form,
            "objects": queryset,
            "lines": [self.line(obj) for obj in queryset[:SHOWN]],
            "count": queryset.count(),
            "warning": self.warning(queryset) if warns else "",
            "note": self.note(queryset),
            "is_all": request.POST.get("select_across") == "1",
            "action": request.POST["action"],
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/dashboard_api/confirmation.html", context)

    def perform(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        operation: Callable[[Any], object],
        *,
        done: Words,
    ) -> None:
        """Perform ``operation`` on each object, and show what was done and what the model refused."""
        notices: dict[int, list[str]] = {messages.SUCCESS: [], messages.ERROR: []}
        for obj in queryset:
            try:
                operation(obj)
            except ValidationError as error:
                notices[messages.ERROR].append(f"{self.line(obj)}: {' '.join(error.messages)}")
            else:
                self.log_change(request, obj, format_lazy("{}.", done))
                notices[messages.SUCCESS].append(f"{done}: {self.line(obj)}.")
        for level, texts in notices.items():
            for text in texts[:SHOWN]:
                self.message_user(request, text, level)
            if len(texts) > SHOWN:
                more = f"And {number_format(len(texts) - SHOWN)} more."
                self.message_user(request, more, level)


def never(_: Any, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG001  # Django's names
    """Return False: a permission that no user has."""
    return False


@admin.display(description="ID", ordering="pk")
def row_number(row: Model) -> str:
    """Return the number of ``row`` as commands take it, without separators of thousands."""
    return str(row.pk)


class RecordAdmin(OperatorAdmin):
    """The pages of records, which are never edited or deleted; actions can operate on them."""

    has_change_permission = has_delete_permission = never


class RecordInline(admin.TabularInline):
    """Read-only rows on the page of the object that they belong to."""

    extra = 0
    can_delete = False
    has_add_permission = has_change_permission = never

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields


def user_name(request: HttpRequest) -> str:
    """Return the name of the signed-in user, for the record."""
    return request.user.get_username()
