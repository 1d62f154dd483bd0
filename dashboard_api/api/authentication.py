"""Authentication of signed calls: headers, time, key, signature, nonce, rate limit (checks 6 to 12).

ES1 has no key id, so the account reference selects the key before anything is verified. Data read before
the signature is verified has names that begin with ``unverified``.
"""

import functools
import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import DatabaseError

import es1
from dashboard_api import limits
from dashboard_api.api.mistakes import ADVICE, mistake_of
from dashboard_api.api.request import Call
from dashboard_api.billing.usage import next_day
from dashboard_api.contract.envelope import Envelope, read_envelope
from dashboard_api.errors import (
    ApiError,
    Fenced,
    InternalError,
    InvalidSignature,
    RateLimited,
    ReplayedNonce,
    StaleTimestamp,
    Unavailable,
)
from dashboard_api.models import CallFacts, CallLimit, CallOutcome, Nonce, NonceClaim, SecretUse
from dashboard_api.models.accounts import sealed_for
from dashboard_api.models.nonces import NONCE_LIFETIME, is_first_reading, note_reading
from dashboard_api.queries import credentials
from dashboard_api.queries.account_calls import Reader
from dashboard_api.queries.credentials import AccountSite, Credentials, SigningSecret
from foundation.operations.request_ids import note_account
from foundation.operations.storage import is_storage_fault
from foundation.sealing import CannotUnseal, unseal
from signed_api.account import CALLS
from signed_api.all_routes import BY_PATH

logger = logging.getLogger(__name__)

# Secrets tried for each signature: the customer and the portal can each have MAX_USABLE_SECRETS.
_MAX_CANDIDATES = 2 * limits.MAX_USABLE_SECRETS + limits.MAX_TEST_SECRETS


@dataclass(frozen=True, slots=True, kw_only=True)
class Authenticated:
    """The caller of a call with a verified signature and a spent nonce.

    ``link`` is the link that the call names, revoked or not, if it belongs to the account. A test secret
    signed the call if ``is_test``: the response is then the example, whatever ``link`` is. ``is_portal`` also
    holds for the portal in this process, with any secret.
    """

    account_id: int
    secret_id: int
    link: AccountSite | None
    unchecked_fields: dict[str, Any]  # of the body
    is_test: bool
    is_portal: bool

    def as_reader(self, call: Call) -> Reader:
        """Return the parts of the caller that tell its own calls apart in the list of calls."""
        return Reader(self.secret_id, call.address, route_of(call))


def route_of(call: Call) -> str:
    """Return the path as the record of calls stores it, without ``/v1/``."""
    return call.path.removeprefix("/v1/")


@contextmanager
def authenticated(call: Call) -> Iterator[Authenticated]:
    """Verify the signature, spend the nonce and check the rate limit; raises the ApiErrors of checks 6 to 12.

    Spending the nonce puts the call on record. An error raised in the block is added to the record.
    """
    signed = _signed_headers(call)
    envelope = read_envelope(call.body)
    caller = credentials.read_credentials(
        envelope.unverified_account_ref, envelope.unverified_link_id, call.moment
    )
    signer = _verified_signer(caller, signed, call, envelope)
    note_account(envelope.unverified_account_ref, secret_id=signer.pk)  # the reference is verified now
    limit = _rate_limit_of(signer, call)
    claim = _claim_nonce(signer, signed, call, link=caller.link, limit=limit)
    with _recording_errors(signer.account_id, signed.nonce):
        if claim is NonceClaim.LIMITED and limit:  # only a call with a limit can be LIMITED
            raise _rate_limited(limit, signer, call)
        yield Authenticated(
            account_id=signer.account_id,
            secret_id=signer.pk,
            link=caller.link,
            unchecked_fields=envelope.unverified_fields,
            is_test=bool(signer.is_test),
            is_portal=bool(signer.for_portal or call.is_in_process),
        )


@contextmanager
def _recording_errors(account_id: int, nonce: str) -> Iterator[None]:
    """Add the status and code of an error in the block to the record of the call."""
    try:
        yield
    except Exception as error:
        refusal: ApiError | type[ApiError] = InternalError
        if isinstance(error, ApiError):
            refusal = error
        elif is_storage_fault(error):
            refusal = Unavailable
        try:
            CallOutcome.note(account_id, nonce, status=refusal.status, code=refusal.code)
        except DatabaseError:  # the record keeps saying 200
            logger.exception("the outcome %s of a call cannot be stored", refusal.code)
        raise


def _signed_headers(call: Call) -> es1.SignedHeaders:
    try:
        signed = es1.parse_headers(call.headers)
        es1.check_window(int(signed.timestamp), now=call.now, window=limits.TIMESTAMP_WINDOW_SECONDS)
    except es1.MalformedHeaders as error:
        raise InvalidSignature(
            f"{error}.", reason=error.reason, header=error.header, expected=error.expected
        ) from error
    except es1.StaleTimestamp as error:
        message = "The timestamp looks like milliseconds: send whole seconds."
        raise StaleTimestamp(
            message if error.looks_like_milliseconds else "",
            server_time=call.now,
            window_seconds=error.window,
            skew_seconds=error.skew,
        ) from error
    return signed


def _verified_signer(
    caller: Credentials, signed: es1.SignedHeaders, call: Call, envelope: Envelope
) -> SigningSecret:
    """Return the secret that signed the call; raises InvalidSignature.

    An unknown account gets the same response after the same work, so that the time does not show which
    accounts exist: another account's secrets are opened, but only dummies are tried. Dummies also pad the
    candidates to a fixed number.
    """
    unsealed = _unsealed(caller.signers)
    dummy = _dummy_secret()
    candidates = unsealed if caller.is_known else [dummy] * len(unsealed)
    candidates = candidates + [dummy] * (_MAX_CANDIDATES - len(candidates))
    try:
        position = es1.check_signature(candidates, signed, method=call.method, path=call.path, body=call.body)
    except es1.InvalidSignature as error:
        mistake = mistake_of(candidates, signed, call, envelope.unverified_fields)
        raise _wrong_signature(signed, call, mistake) from error
    return caller.signers[position]  # never beyond the end, because no signature fits a dummy


def _unsealed(signers: Sequence[SigningSecret]) -> list[str]:
    """Return the secrets in plain text; raises Unavailable if one cannot be unsealed."""
    try:
        return [unseal(signer.sealed, sealed_for(signer.account_id)) for signer in signers]
    except CannotUnseal as error:
        logger.error(  # noqa: TRY400  # a traceback adds nothing
            "A secret of account %s: %s. Run 'manage.py doctor'.", signers[0].account_id, error
        )
        raise Unavailable from error


def _wrong_signature(signed: es1.SignedHeaders, call: Call, mistake: str | None) -> InvalidSignature:
    """Return the error for a wrong signature; its details repeat only what the caller sent."""
    recognised = {"mistake": mistake} if mistake else {}
    canonical = es1.canonical_string(
        signed.timestamp, signed.nonce, call.method, call.path, call.body
    ).encode()
    return InvalidSignature(
        ADVICE.get(mistake or "", ""),
        reason="mismatch",
        **recognised,
        body_sha256=es1.body_digest(call.body),
        method=call.method,
        path=call.path,
        canonical_sha256=es1.body_digest(canonical),
        canonical_length=len(canonical),
    )


@functools.cache
def _dummy_secret() -> str:
    """Return a random secret that no caller knows."""
    return secrets.token_urlsafe(limits.SECRET_RANDOM_BYTES)


def _rate_limit_of(signer: SigningSecret, call: Call) -> CallLimit | None:
    """Return the account's rate limit. The portal has no limit: its pages and e-mails must always work."""
    if signer.for_portal or call.is_in_process:
        return None
    burst = int(settings.CALLS_BURST)
    sites = signer.sites_limit or 0
    if sites > limits.MANY_SITES:  # an overview makes two calls for each website
        burst = max(burst, 2 * sites)
    is_counted = not signer.is_test and BY_PATH[call.path].is_counted
    return CallLimit(
        per_second=signer.calls_per_second or settings.CALLS_PER_SECOND,
        burst=signer.calls_burst or burst,
        is_counted=is_counted,
        allowance=signer.calls_per_day if is_counted else None,
    )


def _rate_limited(limit: CallLimit, signer: SigningSecret, call: Call) -> RateLimited:
    pause = limit.pause(signer.account_id, call.at)
    if pause.used is None:  # the rate refused the call, not the allowance of the day
        message = (
            f"This account may make {limit.per_second} calls a second, after a pause {limit.burst} at once. "
            "Sign a new attempt after Retry-After seconds."
        )
        return RateLimited(message, seconds=pause.seconds)
    return RateLimited(
        "The calls of the plan are used up for today. They start again at midnight UTC.",
        seconds=pause.seconds,
        reason="allowance",
        limit=limit.allowance,
        used=pause.used,
        resets_at=f"{next_day(call.at):%Y-%m-%dT%H:%M:%SZ}",
    )


def _claim_nonce(
    signer: SigningSecret,
    signed: es1.SignedHeaders,
    call: Call,
    *,
    link: AccountSite | None,
    limit: CallLimit | None,
) -> NonceClaim:
    """Spend the nonce; the same statement counts the call and puts it on record.

    Raises ReplayedNonce, Fenced, or Unavailable if the store cannot be reached.
    """
    expires_at = datetime.fromtimestamp(int(signed.timestamp), tz=UTC) + NONCE_LIFETIME
    facts = CallFacts(
        at=call.at,
        secret_id=signer.pk,
        link_id=link.pk if link else None,
        route=route_of(call),
        request_id=call.request_id,
        address=call.address,
        # Reading the list of calls goes on record once a minute, even if a program polls it.
        is_recorded=call.path != CALLS.path or is_first_reading(signer.pk, call.address),
    )
    try:
        claim = Nonce.objects.claim(
            signer.account_id, signed.nonce, expires_at=expires_at, facts=facts, limit=limit
        )
        if claim is not NonceClaim.REPLAYED:
            SecretUse.note(signer.pk, call.moment)
        if claim is NonceClaim.ACCEPTED and call.path == CALLS.path:
            note_reading(signer.pk, call.address)
        # After a restore, a fence refuses all nonces from before it, so this may be a first use.
        fenced_until = Nonce.objects.fenced_until(expires_at) if claim is NonceClaim.REPLAYED else None
    except DatabaseError as error:
        raise Unavailable from error
    if fenced_until:
        raise Fenced(int(fenced_until.timestamp()) + 1 - call.now)
    if claim is NonceClaim.REPLAYED:
        raise ReplayedNonce
    return claim
