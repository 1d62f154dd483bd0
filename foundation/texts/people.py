"""References of people in answers and messages, which name nobody outside their account."""

_PREFIX = "user-"


def reference_of(user_id: int) -> str:
    """Return the reference of the user with this id."""
    return f"{_PREFIX}{user_id}"


def user_id_of(reference: str) -> int | None:
    """Return the id of the user with this reference; None for a reference that is not ours."""
    number = reference.removeprefix(_PREFIX)
    return int(number) if number != reference and number.isascii() and number.isdigit() else None
