"""The program of docs/billing.md that sends a callback."""

import re
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

GUIDE = Path(__file__).parents[4] / "docs" / "billing.md"


def documented_request(account, status, secret, monkeypatch, *, url="http://127.0.0.1:8000"):
    """Run the program, and return the request that it would send."""
    (program,) = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    sent = []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["send.py", url, str(account.billing_ref), "team", status])
        patch.setenv("CALLBACK_SECRET", secret)
        patch.setattr(
            urllib.request, "urlopen", lambda request: sent.append(request) or SimpleNamespace(read=bytes)
        )
        exec(compile(program, "send.py", "exec"), {})
    return sent[0]
