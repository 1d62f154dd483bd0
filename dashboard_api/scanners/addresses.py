"""Addresses that a report tells in parts."""

from urllib.parse import urljoin

from dashboard_api.scanners.report import BadRow


def resolved(base: str, address: str) -> str:
    """``address`` relative to ``base``; raises BadRow where one of them is no address."""
    try:
        return urljoin(base, address)
    except ValueError as error:
        raise BadRow(f"names no address: {address[:100]}") from error
