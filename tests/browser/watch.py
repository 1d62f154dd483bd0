"""Violations by pages: of the policy, logged errors, exceptions, dialogs, and requests to other hosts."""

from urllib.parse import urlsplit

_TELL_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => console.error(
  `Content security policy: ${event.effectiveDirective} forbids ${event.blockedURI} ${event.sample}`), true);
"""


class Watch:
    """Collects errors of pages; a test announces those that it causes with ``expect``."""

    def __init__(self, origin):
        self._origin = origin
        self._expected = set()
        self.complaints = []

    def over(self, context):
        context.add_init_script(_TELL_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.complaints.append(f"uncaught: {error.error}"))
        context.on("request", self._see)
        context.on("dialog", self._dismiss)

    def expect(self, *texts):
        """Expect errors with one of ``texts``; each of them must happen."""
        self._expected.update(texts)

    def check(self):
        """Fail for unexpected errors, and for expected ones that did not happen."""
        complaints, self.complaints = self.complaints, []
        expected, self._expected = self._expected, set()
        unexpected = [line for line in complaints if not any(text in line for text in expected)]
        missing = [text for text in expected if not any(text in line for line in complaints)]
        assert (unexpected, missing) == ([], []), f"unexpected: {unexpected}, missing: {missing}"

    def _hear(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _dismiss(self, dialog):
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _see(self, request):
        parts = urlsplit(request.url)
        if f"{parts.scheme}://{parts.netloc}" != self._origin:
            self.complaints.append(f"request elsewhere: {request.url}")
