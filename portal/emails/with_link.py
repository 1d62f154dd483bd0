"""E-mails about one link, as text and as a styled card with the link as a button."""

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.translation import get_language

from foundation.texts.words import on_one_line


def send(subject: str, text: str, *, to: str, link: str, button: str) -> None:
    """Send ``text``, in which ``link`` is a paragraph; raises OSError if the mail server rejects it.

    The card has the words before the link above the button, and the words after it at the foot.
    """
    before, _, after = text.partition(link)
    subject = on_one_line(subject)  # it may contain the name of an account
    context = {"subject": subject, "before": before.strip(), "after": after.strip()}
    context |= {"link": link, "button": button, "language": get_language()}
    message = EmailMultiAlternatives(subject=subject, body=text, to=[to])
    message.attach_alternative(render_to_string("portal/link_email.html", context), "text/html")
    message.send()
