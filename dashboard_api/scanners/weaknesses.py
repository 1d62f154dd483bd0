"""CWE numbers and CVE names, wherever a report writes them."""

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"(?<!\d)0*([1-9]\d{0,5})(?!\d)", re.ASCII)
_NAME = re.compile(r"cwe[-_:/ ]*0*([1-9]\d{0,5})(?!\d)", re.ASCII | re.IGNORECASE)
_CVE = re.compile(r"CVE-\d{4}-\d{4,19}", re.ASCII)


def cwe_numbers(texts: Iterable[str]) -> list[int]:
    """The numbers in texts that hold nothing else but them, such as "CWE-79" or "79, 80"."""
    return [int(digits) for text in texts for digits in _NUMBER.findall(text)]


def cwe_names(texts: Iterable[str]) -> list[int]:
    """The numbers after "CWE" anywhere in the texts, such as "external/cwe/cwe-079"."""
    return [int(digits) for text in texts for digits in _NAME.findall(text)]


def cve_names(texts: Iterable[str]) -> list[str]:
    """The names anywhere in the texts, in capitals."""
    return [name for text in texts for name in _CVE.findall(text.upper())]
