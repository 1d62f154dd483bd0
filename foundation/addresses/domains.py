"""Registrable domains: which names belong to one owner, by the Public Suffix List."""

from functools import cache

from publicsuffixlist import PublicSuffixList


def registrable_domain(host: str) -> str | None:
    """Return the domain below a public suffix, such as ``example.co.uk`` for ``shop.example.co.uk``.

    Return None if the host is itself a public suffix, or its suffix is not in public DNS.
    """
    if host.endswith(".onion"):  # listed, but not a part of DNS
        return None
    return _public_suffixes().privatesuffix(host)


def is_public_suffix(host: str) -> bool:
    """Return whether anyone may register names below ``host``, such as ``co.uk`` and ``github.io``."""
    return _public_suffixes().is_public(host)


def parents_of(host: str) -> list[str]:
    """Return the parent names of ``host`` with the same owner, up to the registrable domain."""
    domain = registrable_domain(host)
    labels = host.split(".")
    above = [".".join(labels[count:]) for count in range(1, len(labels))]
    return [name for name in above if domain and f".{name}".endswith(f".{domain}")]


def registry_suffix(host: str) -> str | None:
    """Return the registry's suffix of ``host``, such as ``co.uk``, if a registry has it.

    Company suffixes do not count: ``shop.github.io`` has ``io``.
    """
    return _registries().publicsuffix(host)


@cache
def _registries() -> PublicSuffixList:
    return PublicSuffixList(accept_unknown=False, only_icann=True)


@cache
def _public_suffixes() -> PublicSuffixList:
    """Return the installed list, with the suffixes of registries and of companies such as ``github.io``."""
    return PublicSuffixList(accept_unknown=False)  # takes a tenth of a second
