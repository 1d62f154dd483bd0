"""Admin page for a new customer: a form, and a page that shows the secrets once."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.debug import sensitive_variables

from config.onboarding.customer import onboard
from config.onboarding.values import Customer, Onboarded
from dashboard_api.models import Account, Entitlement, Website
from dashboard_api.models.entitlements import new_entitlement
from dashboard_api.models.sites import WebsiteOfOthers
from foundation.addresses.hosts import InvalidHost, typed_host
from signed_api.limits import MAX_ACCOUNT_REF_LENGTH

PLAN_FIELDS = ("plan", "starts_on", "ends_on", "sites_limit")
NEEDED_PERMISSIONS = tuple(
    f"dashboard_api.add_{model}" for model in ("account", "entitlement", "secret", "website", "sitelink")
)
NEEDED_IN_PORTAL = ("portal.add_account", "portal.add_website", "portal.add_membership")


class CustomerForm(forms.Form):
    """Form for a new customer; its dates begin as a plan of one year."""

    ref = forms.CharField(
        label="Reference",
        max_length=MAX_ACCOUNT_REF_LENGTH,
        help_text="portal_account_ref of its calls, such as acct_0001; it cannot change later.",
    )
    name = forms.CharField(
        label="Name",
        max_length=200,
        required=False,
        help_text="The name of the customer, for its members.",
    )
    owner = forms.EmailField(
        label="Owner's e-mail address", help_text="This person is invited to the portal."
    )
    host = forms.CharField(label="Website", help_text="Such as shop.example.com.")
    shared = forms.BooleanField(
        label="Shared website",
        required=False,
        help_text="Other accounts have it, too, and all of them see the same findings.",
    )
    method = forms.ChoiceField(
        label="Ownership",
        choices=Website.Method.choices,
        initial=Website.Method.MANUAL,
        help_text="How you checked that the website belongs to the customer; recorded with your name.",
    )
    plan = forms.CharField(
        max_length=50, label="Plan", help_text="The plan of a customer that exists stays as it is."
    )
    starts_on = forms.DateField(label="First day")
    ends_on = forms.DateField(label="Last day")
    sites_limit = forms.IntegerField(
        label="Websites",
        required=False,
        min_value=1,
        help_text="How many it may link. Empty: as many as the plan includes.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        usual = new_entitlement(Account(), {})  # not saved
        for name in ("plan", "starts_on", "ends_on"):
            self.fields[name].initial = getattr(usual, name)

    def clean_host(self) -> str:
        """Return the host in its stored form; raises ValidationError."""
        try:
            return typed_host(self.cleaned_data["host"])
        except InvalidHost as error:
            raise ValidationError(f"The host {error}.") from error

    def customer(self) -> Customer:
        """Return the customer that the form describes, without the plan if the account has one."""
        data: dict[str, Any] = dict(self.cleaned_data)
        plan = {name: value for name in PLAN_FIELDS if (value := data.pop(name)) is not None}
        has_plan = Entitlement.objects.filter(account__ref=data["ref"]).exists()
        return Customer(**data, plan={} if has_plan else plan)


@sensitive_variables("result")
def new_customer(request: HttpRequest) -> HttpResponse:
    """Show the form; after a valid POST, create the customer and show its secrets once."""
    if not request.user.has_perms(NEEDED_PERMISSIONS + (NEEDED_IN_PORTAL if settings.ENABLE_PORTAL else ())):
        raise PermissionDenied
    form = CustomerForm(request.POST or None)
    context = admin.site.each_context(request) | {"form": form, "title": "New customer"}
    result = _onboard(request, form) if form.is_valid() else None
    if result:
        names = ", ".join(result.created)
        context |= {
            "result": result,
            "created": names,
            "title": f"{result.account} is set up",
        }
        page = TemplateResponse(request, "admin/onboarding/done.html", context)
        page["Cache-Control"] = "no-store"
        return page
    return TemplateResponse(request, "admin/onboarding/form.html", context)


@sensitive_variables("result")
def _onboard(request: HttpRequest, form: CustomerForm) -> Onboarded | None:
    """Return the new customer; if it is refused, add the errors to the form and return None."""
    origin = request.build_absolute_uri("/").removesuffix("/")
    try:
        result = onboard(form.customer(), by=request.user.get_username(), origin=origin)
    except WebsiteOfOthers as error:
        form.add_error("shared", error.messages)
        return None
    except ValidationError as error:
        form.add_error(None, error.messages)
        return None
    if result.changed:
        accounts = admin.site.get_model_admin(Account)
        accounts.log_change(request, result.account, "Set up.")
    return result
