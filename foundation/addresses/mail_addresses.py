"""The one form of an e-mail address: lower case, with the host in its stored form.

The host is encoded by today's IDNA. Python's own codec, which sends mail, would replace ß by ss and drop
invisible characters.
"""

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, validate_email
from django.db.models import Q

from foundation.addresses.hosts import InvalidHost, normalise_host


def mail_address(text: str) -> str:
    """Return the e-mail address in its one form; raise ValidationError.

    Refuses quoted names and IP addresses as hosts: people do not have such addresses, and mail to them may
    reach another host. Refuses letters such as a long s, which Django's validator, ignoring case, accepts as
    ASCII.
    """
    validate_email(text)
    name, _, host = text.rpartition("@")
    try:
        address = f"{name.lower()}@{normalise_host(host.lower())}"
    except InvalidHost:
        address = ""
    if not address or not name.isascii() or '"' in name or len(address) > 254:
        raise ValidationError(EmailValidator.message, EmailValidator.code)
    return address


def one_spelling(text: str) -> str:
    """Return the one form of an e-mail address, and any other text in case-folded form."""
    try:
        return mail_address(text)
    except ValidationError:
        return text.casefold()


def with_address(text: str) -> Q:
    """Return the condition for people with this address, as typed or in its one form, in any case."""
    return Q(email__iexact=text) | Q(email__iexact=one_spelling(text))
