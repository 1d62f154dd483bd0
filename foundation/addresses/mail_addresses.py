"""The one form of an e-mail address: lower case, with the name of its host as DNS has it.

Mail goes to the host that IDNA of today names: Python's own codec, which sends it, writes ß as ss, and leaves
characters out that cannot be seen.
"""

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, validate_email
from django.db.models import Q

from foundation.addresses.hosts import InvalidHost, normalise_host


def mail_address(text: str) -> str:
    """Return the e-mail address in its one form; raise ValidationError.

    Names in quotes and IP addresses as hosts are refused: no person has such an address, and mail to it may
    reach another host. So are names with letters such as a long s, which Django takes for ASCII in capitals.
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
    """Return what an address, or another name, has in common with its other spellings."""
    try:
        return mail_address(text)
    except ValidationError:
        return text.casefold()


def is_of(text: str) -> Q:
    """Return the condition that a person has this address, as typed or in its one form, in any capitals."""
    return Q(email__iexact=text) | Q(email__iexact=one_spelling(text))
