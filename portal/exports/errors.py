"""Errors that prevent an export, each with its error page."""

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal.error_pages import ErrorPage, new_reference

BUSY_SECONDS = 5  # before the next attempt


class ExportError(Exception):
    """An export that did not start."""

    def error_page(self) -> ErrorPage:
        """Return the error page."""
        raise NotImplementedError


class TooManyFindings(ExportError):
    """More findings than a file can hold."""

    def __init__(self, *, max_rows: int) -> None:
        self.max_rows = max_rows
        super().__init__(f"more than {max_rows}")

    def error_page(self) -> ErrorPage:
        """Return a page with advice to filter."""
        text = _("Your filters match more than %(max_rows)s findings, the limit for one file.")
        return ErrorPage(
            status=422,
            title=_("Too many findings for one file"),
            text=text % {"max_rows": number_format(self.max_rows)},
            advice=_(
                "Filter the findings, for example by severity or source, or add search words, and export "
                "several files."
            ),
            reference=new_reference(),
        )


class ExportsBusy(ExportError):
    """The process is creating as many exports as it can."""

    def error_page(self) -> ErrorPage:
        """Return a page with the time of the next attempt."""
        return ErrorPage(
            status=503,
            title=_("Other exports are being created"),
            text=_("Only a few are created at a time, so that pages stay fast."),
            advice=_("Wait a moment, then try again."),
            reference=new_reference(),
            can_retry=True,
            retry_after=BUSY_SECONDS,
        )


class PdfUnavailable(ExportError):
    """This deployment has no typesetter."""

    def error_page(self) -> ErrorPage:
        """Return a page that names the alternative."""
        return ErrorPage(
            status=404,
            title=_("There are no PDF reports here"),
            text=_("This portal is set up without them."),
            advice=_("Open the report and print it: browsers can print to a PDF."),
            reference=new_reference(),
        )


class PdfFailed(ExportError):
    """The typesetter failed, or took too long."""

    def error_page(self) -> ErrorPage:
        """Return a page that names the alternative."""
        return ErrorPage(
            status=500,
            title=_("The PDF could not be created"),
            text=_("The problem is on our side, and was recorded. Your filters are kept."),
            advice=_("Open the report and print it: browsers can print to a PDF."),
            reference=new_reference(),
        )
