"""Operations of the admin: confirmed first, done one object at a time, reported and logged."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

SHOWN = 20  # of the objects of a large operation


class Confirmation(forms.Form):
    """Answers "are you sure?"; subclasses ask for more."""

    confirmed = forms.BooleanField(initial=True, widget=forms.HiddenInput)


class OperatorAdmin(admin.ModelAdmin):
    """A model's pages; its actions are also on the page of a single object.

    ``everything``: the query string of the list that holds every object.
    """

    everything = ""

    def line(self, obj: Any) -> str:
        """A line that distinguishes ``obj`` from the other objects of an operation."""
        return str(obj)

    def warning(self, queryset: QuerySet[Any]) -> str:
        """A warning to show before an operation on these objects; empty for none."""
        return ""

    def actions_for(self, obj: Any) -> Sequence[str]:
        """The names of the actions that make sense for ``obj``."""
        return ()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Offer the actions that the user may perform on the object."""
        offered = self.actions_for(kwargs["obj"]) if kwargs.get("obj") else ()
        labels = dict(self.get_action_choices(request))
        context["everything"] = self.everything
        context["object_actions"] = [(name, labels[name]) for name in offered if name in labels]
        return super().render_change_form(request, context, *args, **kwargs)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who may change objects may perform actions on them, also where no field can be edited."""
        return admin.ModelAdmin.has_change_permission(self, request)

    def confirm(
        self,
        request: HttpRequest,
        queryset: QuerySet[Any],
        operation: Callable[[Any, Mapping[str, Any]], None],
        *,
        title: str,
        consequence: str,
        done: str,
        form_class: type[Confirmation] = Confirmation,
    ) -> HttpResponse | None:
        """A page that asks first; once it is answered, ``operation(object, answers)`` on each."""
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
            "warning": self.warning(queryset),
            "is_all": request.POST.get("select_across") == "1",
            "action": request.POST["action"],
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/dashboard_api/confirmation.html", context)

    def perform(
        self, request: HttpRequest, queryset: QuerySet[Any], operation: Callable[[Any], None], *, done: str
    ) -> None:
        """Do it to each object by itself; what a model refuses is reported, and the others go on."""
        notices: dict[int, list[str]] = {messages.SUCCESS: [], messages.ERROR: []}
        for obj in queryset:
            try:
                operation(obj)
            except ValidationError as error:
                notices[messages.ERROR].append(f"{self.line(obj)}: {' '.join(error.messages)}")
            else:
                self.log_change(request, obj, f"{done}.")
                notices[messages.SUCCESS].append(f"{done}: {self.line(obj)}.")
        for level, texts in notices.items():
            for text in texts[:SHOWN]:
                self.message_user(request, text, level)
            if len(texts) > SHOWN:
                self.message_user(request, f"And {len(texts) - SHOWN} more.", level)


class RecordAdmin(OperatorAdmin):
    """A record is read, and operated on by actions; never edited, never deleted."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """No."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """No."""
        return False


class RecordInline(admin.TabularInline):
    """Rows to read beside the object that they belong to."""

    extra = 0
    can_delete = False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """All of them."""
        return self.fields

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """No."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """No."""
        return False


def user_name(request: HttpRequest) -> str:
    """Who is doing this, for the record."""
    return request.user.get_username()
