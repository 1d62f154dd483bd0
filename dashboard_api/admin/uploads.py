"""Upload a report for a website: preview its changes, then import or discard it."""

from collections.abc import Iterable
from io import BytesIO
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.dateparse import parse_datetime

from dashboard_api import limits
from dashboard_api.admin.operations import Words, user_name
from dashboard_api.importing.ingest import ImportResult, ReportOptions
from dashboard_api.importing.locations import OutsideWebsite, normalise_location
from dashboard_api.importing.service import EmptyRefusal, ImportOptions, RefusedReport, import_file, in_words
from dashboard_api.models import Finding, FindingEvent, Upload, Website
from dashboard_api.scanners import READERS

TITLES_SHOWN = 20  # of each kind of change in a preview


class ReportForm(forms.Form):
    """A form for a report, and for facts that the report may lack."""

    report = forms.FileField(
        label="Report",
        allow_empty_file=True,
        help_text="At most 32 MB; manage.py import_report takes more.",
    )
    format_name = forms.ChoiceField(
        label="Format", choices=[("auto", "detect automatically"), *((name, name) for name in READERS)]
    )
    complete = forms.BooleanField(
        label="Complete",
        required=False,
        help_text="The scan ran to its end: open findings that it does not report count as fixed.",
    )
    scanned_at = forms.DateTimeField(
        label="Scanned at",
        required=False,
        help_text="When the scan ended, in UTC; replaces the times in the report.",
    )
    base_url = forms.URLField(
        label="Base address",
        required=False,
        assume_scheme="https",
        help_text="The base of locations without a host.",
    )
    targets = forms.CharField(
        label="Targets",
        required=False,
        help_text="Hosts that were scanned but are not named in the report, with the port if it matters.",
    )
    category = forms.CharField(
        label="Category",
        required=False,
        max_length=limits.MAX_CATEGORY_LENGTH,
        help_text="A name for this scan, if one scanner checks the website in several parts.",
    )

    def __init__(self, *args: Any, website: Website, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.website = website

    def clean_report(self) -> Any:
        """Return the report; raises ValidationError if it is too large."""
        report = self.cleaned_data["report"]
        if report.size > limits.MAX_UPLOAD_BYTES:
            raise ValidationError("This report is too large to upload: use manage.py import_report.")
        return report

    def clean_base_url(self) -> str:
        """Return the base address; raises ValidationError if it is outside the website."""
        base_url: str = self.cleaned_data["base_url"]
        self._check_locations([base_url] if base_url else [])
        return base_url

    def clean_targets(self) -> list[str]:
        """Return the targets as a list; raises ValidationError if one is outside the website."""
        targets: list[str] = self.cleaned_data["targets"].replace(",", " ").split()
        self._check_locations(targets)
        return targets

    def _check_locations(self, locations: Iterable[str]) -> None:
        try:
            for location in locations:
                normalise_location(self.website.host, location)
        except OutsideWebsite as error:
            raise ValidationError(f"It {error}.") from error

    def save(self, *, by: str) -> Upload:
        """Store the report until it is imported or discarded."""
        names = ("format_name", "complete", "base_url", "targets", "category")
        options = {name: self.cleaned_data[name] for name in names}
        at = self.cleaned_data["scanned_at"]
        return Upload.objects.create(
            website=self.website,
            by=by,
            file_name=self.cleaned_data["report"].name,
            content=self.cleaned_data["report"].read(),
            options=options | {"scanned_at": at.isoformat() if at else None},
        )


class Uploads(admin.ModelAdmin):
    """A mixin for the admin of websites with the pages to upload and to preview a report."""

    def get_urls(self) -> list[URLPattern]:
        """Return the URLs of the two pages, ahead of the website's own."""
        upload = self.admin_site.admin_view(self.upload)
        decide = self.admin_site.admin_view(self.decide_upload)
        return [
            path("<path:object_id>/import/", upload, name="dashboard_api_website_import"),
            path("uploads/<int:pk>/", decide, name="dashboard_api_website_upload"),
            *super().get_urls(),
        ]

    def upload(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for a report and store it, to import it after the preview."""
        website = self.get_object(request, unquote(object_id))
        if website is None:
            raise Http404("There is no such website.")
        self._check_may_import(request)
        form = ReportForm(request.POST or None, request.FILES or None, website=website)
        if form.is_valid():
            return redirect("admin:dashboard_api_website_upload", form.save(by=user_name(request)).pk)
        return self._page(
            request,
            "upload",
            website,
            form=form,
            title=f"Import a report about {website}",
        )

    def decide_upload(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Preview the import; then import or discard the report."""
        self._check_may_import(request)
        upload = get_object_or_404(Upload.objects.select_related("website"), pk=pk, by=user_name(request))
        if request.method != "POST":
            preview = _preview(upload)
            title = f"Preview of {upload.file_name}"
            return self._page(request, "preview", upload.website, preview=preview, title=title)
        if "apply" in request.POST:
            self._import(request, upload)
        upload.delete()
        return redirect("admin:dashboard_api_website_change", upload.website.pk)

    def _import(self, request: HttpRequest, upload: Upload) -> None:
        try:
            results = _import_upload(upload)
        except RefusedReport as error:
            self.message_user(request, str(error), messages.ERROR)
            return
        self.log_change(request, upload.website, f"Imported {upload.file_name}.")
        for line in _lines(results):
            self.message_user(request, line, messages.SUCCESS)

    def _check_may_import(self, request: HttpRequest) -> None:
        if not request.user.has_perm("dashboard_api.add_importrun"):
            raise PermissionDenied

    def _page(self, request: HttpRequest, name: str, website: Website, **context: Any) -> HttpResponse:
        context |= self.admin_site.each_context(request) | {"website": website, "opts": self.opts}
        return TemplateResponse(request, f"admin/dashboard_api/website/{name}.html", context)


def _import_upload(upload: Upload, **import_options: Any) -> list[ImportResult]:
    at = upload.options["scanned_at"]
    report = ReportOptions(**upload.options | {"scanned_at": parse_datetime(at) if at else None})
    content = BytesIO(bytes(upload.content))
    options = ImportOptions(file_name=upload.file_name, by=upload.by, report=report, **import_options)
    try:
        return import_file(content, upload.website, options)
    except EmptyRefusal as error:
        advice = 'Upload it again, tick "Complete" and choose "Format".'
        raise RefusedReport(f"{error} {advice}") from error


def _preview(upload: Upload) -> dict[str, Any]:
    """Return ``lines`` and ``changes`` of a dry run, with the worst findings, or its ``refusal``."""
    changes: list[tuple[Words, list[str]]] = []
    # Rows with greater numbers belong to the dry run.
    last_finding = Finding.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
    last_event = FindingEvent.objects.order_by("-pk").values_list("pk", flat=True).first() or 0

    def collect(result: object) -> None:  # noqa: ARG001 - the caller passes it
        own = Finding.objects.filter(website=upload.website)
        changed = FindingEvent.objects.filter(pk__gt=last_event, finding__website=upload.website)
        for name, findings in (
            ("New", own.filter(pk__gt=last_finding)),
            ("Reopened", own.filter(events__in=changed.filter(event=FindingEvent.Event.REGRESSED))),
            ("Fixed", own.filter(events__in=changed.filter(event=FindingEvent.Event.FIXED))),
        ):
            worst = findings.worst_first()[:TITLES_SHOWN]
            changes.append((name, [f"{finding} ({finding.location})" for finding in worst]))

    try:
        lines = _lines(_import_upload(upload, dry_run=True, before_commit=collect))
    except RefusedReport as error:
        return {"refusal": str(error)}
    return {"lines": lines, "changes": changes}


def _lines(results: Iterable[ImportResult]) -> list[str]:
    return [line for result in results for line in in_words(result)]
