"""Errors that prevent an export, each with the texts of its error page."""

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.pages.error_pages import ErrorPage, new_reference


class ExportError(Exception):
    """An export that did not start."""

    status: int
    title: str | Promise
    text: str | Promise
    advice: str | Promise
    retry_after = 0  # seconds until the next attempt; 0 if it would not help

    def error_page(self) -> ErrorPage:
        """Return the error page."""
        return ErrorPage(
            status=self.status,
            title=str(self.title),
            text=str(self.text),
            advice=str(self.advice),
            reference=new_reference(),
            can_retry=self.retry_after > 0,
            retry_after=self.retry_after,
        )


class TooManyFindings(ExportError):
    """The filters match more findings than a file may hold."""

    status = 422
    title = _("Too many findings for one file")
    advice = _(
        "Filter the findings, for example by severity or scanner, or add search words, and export several "
        "files."
    )

    def __init__(self, *, max_rows: int) -> None:
        text = _("Your filters match more than %(max_rows)s findings, the limit for one file.")
        self.text = text % {"max_rows": number_format(max_rows)}
        super().__init__(f"more than {max_rows}")


class ExportsBusy(ExportError):
    """The process already creates as many exports as it may."""

    status = 503
    title = _("Other exports are being created")
    text = _("Only a few are created at a time, so that pages stay fast.")
    advice = _("Wait a moment, then try again.")
    retry_after = 5


class TooManyExports(ExportError):
    """The member has reached the number of exports for an hour."""

    status = 429
    title = _("Too many exports in an hour")
    text = _("Each export is recorded, so the number is limited.")
    advice = _("You can export again in an hour.")
    retry_after = 60 * 60


class PdfUnavailable(ExportError):
    """This deployment has no typesetter."""

    status = 404
    title = _("PDF reports are not available here")
    text = _("This portal is set up without them.")
    advice = _("Open the report and print it: browsers can print to a PDF.")


class PdfFailed(ExportError):
    """The typesetter failed, or took too long."""

    status = 500
    title = _("The PDF could not be created")
    text = _("The problem is on our side, and was recorded. Your filters are kept.")
    advice = _("Open the report and print it: browsers can print to a PDF.")
