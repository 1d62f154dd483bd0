"""A filter for logs: the addresses in them have no tokens, which would open a page for readers of the log."""

import logging
import re

_TOKEN = re.compile(
    r"(/(?:s|invitations|notifications/unsubscribe|news/stop|accounts/password/reset/key)/)[^/\s]+"
)


class WithoutTokens(logging.Filter):
    """Replaces tokens in the addresses of failed requests, which Django logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True, for a record without tokens."""
        if isinstance(record.args, tuple):
            record.args = tuple(
                _TOKEN.sub(r"\1...", arg) if isinstance(arg, str) else arg for arg in record.args
            )
        return True
