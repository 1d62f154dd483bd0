"""Why there is no file, and the screen for each: what happened, and what to do."""

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from portal.error_pages import Problem, new_reference

BUSY_SECONDS = 5  # after which to come back


class Refusal(Exception):
    """A file that was not begun."""

    def problem(self) -> Problem:
        """The screen."""
        raise NotImplementedError


class TooMany(Refusal):
    """More findings than a file holds."""

    def __init__(self, *, at_most: int) -> None:
        self.at_most = at_most
        super().__init__(f"more than {at_most}")

    def problem(self) -> Problem:
        """What to narrow."""
        text = _("Your filters find more than %(at_most)s findings, the most that one file holds.")
        return Problem(
            status=422,
            title=_("Too many findings for one file"),
            text=text % {"at_most": number_format(self.at_most)},
            advice=_(
                "A file holds everything or is not made. Narrow the findings, for example to one severity, "
                "one source, or more words, and take one file after the other."
            ),
            reference=new_reference(),
        )


class Busy(Refusal):
    """Others are being made."""

    def problem(self) -> Problem:
        """When to come back."""
        return Problem(
            status=503,
            title=_("Other files are being made"),
            text=_("Only a few at a time are made, so that pages stay quick for everybody."),
            advice=_("Wait a moment, then try again."),
            reference=new_reference(),
            can_retry=True,
            retry_after=BUSY_SECONDS,
        )


class NoPdf(Refusal):
    """This deployment lacks what it takes."""

    def problem(self) -> Problem:
        """There is another way."""
        return Problem(
            status=404,
            title=_("There are no PDF reports here"),
            text=_("This portal was set up without them."),
            advice=_("Open the report and print it: browsers can print into a PDF."),
            reference=new_reference(),
        )


class CannotDraw(Refusal):
    """The typesetter failed, or took too long."""

    def problem(self) -> Problem:
        """There is another way."""
        return Problem(
            status=500,
            title=_("The PDF could not be made"),
            text=_("The fault is on our side, and was recorded. Your filters are kept."),
            advice=_("Open the report and print it: browsers can print into a PDF."),
            reference=new_reference(),
        )
