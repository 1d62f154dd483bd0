"""How descriptions and evidence are laid out: named values a line each, and sections with a heading."""

from collections.abc import Iterator, Mapping


def named(values: Mapping[str, str]) -> Iterator[str]:
    """One paragraph with a line for each value there is."""
    if any(values.values()):
        yield "\n".join(f"{name}: {value}" for name, value in values.items() if value)


def section(name: str, text: str) -> Iterator[str]:
    """A paragraph under its name, if there is any text."""
    if text.strip():
        yield f"{name}:\n{text.strip()}"
