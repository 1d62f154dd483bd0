"""Sets of triggers with a digest of their SQL in their names."""

import hashlib
import re
from collections.abc import Sequence


class TriggerSet:
    """Triggers for one purpose: their names begin with ``prefix``, and end in a digest of all statements."""

    def __init__(self, prefix: str, statements: Sequence[str]) -> None:
        digest = hashlib.sha256("".join(statements).encode()).hexdigest()[:8]
        with_digest = [
            re.sub(r"(CREATE TRIGGER \w+)", rf"\1_{digest}", statement) for statement in statements
        ]
        self.prefix = prefix
        self.statements = with_digest
        self.names = set(re.findall(r"CREATE TRIGGER (\w+)", "".join(with_digest)))
