"""Authentication of signed calls: headers, time, key, signature, nonce (checks 6 to 11).

ES1 has no key id, so an account reference that is not yet verified selects the key. Names of data
read before the signature is verified begin with ``unverified``.
"""

import functools
import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DatabaseError

import es1
from dashboard_api import limits
from dashboard_api.api.request import Call
from dashboard_api.contract import read_envelope
from dashboard_api.errors import InvalidSignature, ReplayedNonce, StaleTimestamp, Unavailable
from dashboard_api.models import Nonce, SecretUse
from dashboard_api.queries import credentials
from dashboard_api.queries.credentials import AccountSite, SigningSecret
from foundation.sealing import CannotUnseal, seal, unseal

logger = logging.getLogger(__name__)

NONCE_LIFETIME = timedelta(seconds=limits.TIMESTAMP_WINDOW_SECONDS + limits.NONCE_MARGIN_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticated:
    """A call with a verified signature and a spent nonce. Its fields are not checked yet.

    ``link`` is the link that the call names, if it belongs to the account, revoked or not.
    """

    link: AccountSite | None
    fields: dict[str, Any]


def authenticate(call: Call) -> Authenticated:
    """Verify the signature and spend the nonce; raises the ApiErrors of checks 6 to 11."""
    signed = _signed_headers(call)
    envelope = read_envelope(call.body)
    caller = credentials.read_credentials(
        envelope.unverified_account_ref, envelope.unverified_link_id, call.moment
    )
    signer = _verified_signer(caller.signers, signed, call)
    _claim_nonce(signer, signed, call)
    return Authenticated(link=caller.link, fields=envelope.unverified_fields)


def _signed_headers(call: Call) -> es1.SignedHeaders:
    try:
        signed = es1.parse_headers(call.headers)
        es1.check_window(int(signed.timestamp), now=call.now, window=limits.TIMESTAMP_WINDOW_SECONDS)
    except es1.MalformedHeaders as error:
        raise InvalidSignature(f"{error}: see the signing recipe.", reason=error.reason) from error
    except es1.StaleTimestamp as error:
        raise StaleTimestamp(
            server_time=call.now, window_seconds=error.window, skew_seconds=error.skew
        ) from error
    return signed


def _verified_signer(
    candidates: Sequence[SigningSecret], signed: es1.SignedHeaders, call: Call
) -> SigningSecret:
    """Return the secret that signed the call; raises InvalidSignature.

    Dummies fill the candidates up to the largest number of secrets, so that accounts with two, one or no
    secrets and unknown accounts take the same work. An unknown account gets the response of a wrong
    signature.
    """
    sealed = [signer.sealed for signer in candidates]
    sealed += [_sealed_dummy()] * (limits.MAX_USABLE_SECRETS - len(sealed))
    try:
        position = es1.check_signature(
            [unseal(text) for text in sealed], signed, method=call.method, path=call.path, body=call.body
        )
    except CannotUnseal as error:
        logger.error(  # noqa: TRY400  # a traceback adds nothing
            "MASTER_KEYS holds no key that opens a secret of account %s: run 'manage.py doctor'.",
            candidates[0].account_id,
        )
        raise Unavailable from error
    except es1.InvalidSignature as error:
        raise _mismatch(call) from error
    return candidates[position]


def _mismatch(call: Call) -> InvalidSignature:
    """Return the error of a wrong signature, with details of the caller's own input only."""
    return InvalidSignature(
        reason="mismatch", body_sha256=es1.body_digest(call.body), method=call.method, path=call.path
    )


@functools.cache
def _sealed_dummy() -> str:
    """Return a sealed random secret, which is never shown."""
    return seal(secrets.token_urlsafe(limits.SECRET_RANDOM_BYTES))


def _claim_nonce(signer: SigningSecret, signed: es1.SignedHeaders, call: Call) -> None:
    """Spend the nonce; raises ReplayedNonce, and Unavailable if the store cannot be reached."""
    expires_at = datetime.fromtimestamp(int(signed.timestamp), tz=UTC) + NONCE_LIFETIME
    try:
        fresh = Nonce.objects.claim(signer.account_id, signed.nonce, expires_at=expires_at)
        if fresh:
            SecretUse.note(signer.pk, call.moment)
    except DatabaseError as error:
        raise Unavailable from error
    if not fresh:
        raise ReplayedNonce
