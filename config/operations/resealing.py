"""Find and reseal every sealed secret: of the service, the portal and second factors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from config.identity.second_factors import SEALED_FOR
from foundation.sealing import CannotUnseal, is_current, seal, unseal_once

Change = Callable[[str], str]  # of a sealed text


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRow:
    """A row with sealed texts; ``store`` replaces them unless they have changed since."""

    name: str  # for people, such as "secret 3 of acct_0001"
    context: str
    texts: Sequence[str]
    store: Callable[[Change], int]
    without_key: str  # what to do if the key is gone for good
    is_needed: bool = True  # False if it is never read again, such as a revoked secret


def sealed_rows(*, newest_only: bool = False) -> Iterator[SealedRow]:
    """Yield every row with sealed texts; ``newest_only``: only the newest needed row of each table."""
    for rows, describe in _tables(needed_only=newest_only):
        newest_first = rows.order_by("-pk")
        yield from map(describe, newest_first[:1] if newest_only else newest_first.iterator())


def opens(row: SealedRow) -> bool:
    """Return whether the master keys of this deployment open all texts of ``row``."""
    try:
        for text in row.texts:
            unseal_once(text, row.context)
    except CannotUnseal:
        return False
    return True


def is_lost(row: SealedRow) -> bool:
    """Return whether no master key opens ``row`` although it is needed."""
    return row.is_needed and not opens(row)


def has_newest_seal(row: SealedRow) -> bool:
    """Return whether the newest master key sealed all texts of ``row`` for its context."""
    return all(is_current(text, row.context) for text in row.texts)


def reseal(row: SealedRow) -> bool:
    """Seal ``row`` with the newest master key for its context; return whether it changed.

    Raises CannotUnseal.
    """
    if has_newest_seal(row):
        return False
    return bool(row.store(lambda text: seal(unseal_once(text, row.context), row.context)))


def _tables(*, needed_only: bool) -> Iterator[tuple[QuerySet[Any], Callable[[Any], SealedRow]]]:
    if settings.ENABLE_API:
        from dashboard_api.models import CallbackEvent, Secret
        from dashboard_api.models.accounts import sealed_for

        now = timezone.now()
        secrets = Secret.objects.usable(now) if needed_only else Secret.objects.all()
        yield (
            secrets.select_related("account"),
            lambda row: _row_of_column(
                row,
                "sealed",
                str(row),
                sealed_for(row.account_id),
                "revoke the lost secret and issue a new one",
                is_needed=row.is_usable(now),
            ),
        )
        bodies = CallbackEvent.objects.exclude(sealed_body="")
        yield (
            bodies.filter(state__in=CallbackEvent.NOT_DONE) if needed_only else bodies,
            lambda row: _row_of_column(
                row,
                "sealed_body",
                str(row),
                row.sealed_for,
                "set by hand what was paid",
                is_needed=row.state in CallbackEvent.NOT_DONE,
            ),
        )
    if settings.ENABLE_PORTAL:
        from portal.models.accounts import SEALED_FOR as SEALED_FOR_PORTAL
        from portal.models.accounts import Account

        accounts = Account.objects.exclude(sealed_secret="")
        if needed_only and settings.SITE_API_SECRET:
            accounts = accounts.exclude(ref=settings.PORTAL_ACCOUNT_REF)
        yield (
            accounts,
            lambda row: _row_of_column(
                row,
                "sealed_secret",
                f"the portal's secret of {row.ref}",
                SEALED_FOR_PORTAL,
                "give the portal a new one by 'manage.py connect_account'",
                is_needed=not row.is_from_environment,
            ),
        )
    yield Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN), _second_factor


def _row_of_column(
    row: Any, name: str, description: str, context: str, without_key: str, *, is_needed: bool
) -> SealedRow:
    def store(change: Change) -> int:
        text = getattr(row, name)
        unchanged = type(row).objects.filter(pk=row.pk, **{name: text})
        count: int = unchanged.update(**{name: change(text)})
        return count

    texts = [getattr(row, name)]
    return SealedRow(
        name=description,
        context=context,
        texts=texts,
        store=store,
        without_key=without_key,
        is_needed=is_needed,
    )


def _second_factor(row: Authenticator) -> SealedRow:
    """Return a row with a TOTP secret, the seed of recovery codes, or recovery codes."""
    sealed = {name: row.data[name] for name in ("secret", "seed", "migrated_codes") if name in row.data}

    def store(change: Change) -> int:
        new = {
            name: change(value) if isinstance(value, str) else [change(text) for text in value]
            for name, value in sealed.items()
        }
        unchanged = Authenticator.objects.filter(pk=row.pk, data=row.data)
        return unchanged.update(data=row.data | new)

    texts = [text for value in sealed.values() for text in ([value] if isinstance(value, str) else value)]
    name = f"second factor {row.pk} of user {row.user_id}"
    advice = "delete it in the admin, and let the person set up a new one"
    return SealedRow(name=name, context=SEALED_FOR, texts=texts, store=store, without_key=advice)
