"""Grade the pages of a production installation with the MDN HTTP Observatory: ``make observatory``.

It sets the product up as in docs/operating/install.md, with deploy/nginx.conf in front, and needs
Node.js, npm, and a line ``127.0.0.1 portal.example.com`` in /etc/hosts.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.deploy.production import NAME, Production, nginx
from tests.judges import OBSERVATORY, install

_PAGES = (
    "/", "/accounts/login/", "/accounts/password/reset/", "/accounts/", "/sites/shop.example.com/", "/new/",
    "/help/", "/v1/docs", "/v1/public", "/sample/", "/s/unknown/", "/admin/", "/nothing-here/",
)  # fmt: skip
_MOST, _GAIN = 140, 5  # a page without cookies gains nothing for them, one without scripts neither


def _grade(package: Path, folder: Path) -> list[dict]:
    """Return the result of each page, seen by a visitor and by a member."""
    production = Production(folder / "production")
    production.environ["HSTS_SECONDS"] = "31536000"
    production.fill()
    (folder / "nginx").mkdir()
    with production.serving(), nginx(folder / "nginx", production.port) as browser:
        member = browser.another_browser().sign_in("ada")
        cookies = "; ".join(f"{name}={value}" for name, value in member.cookies.items())
        pages = [(path, seen_with) for seen_with in ("", cookies) for path in _PAGES]
        done = subprocess.run(
            ["node", Path(__file__).with_name("scan.mjs")],
            input=json.dumps(
                {"host": NAME, "httpPort": browser.plain, "httpsPort": browser.tls, "pages": pages}
            ),
            env=os.environ
            | {"OBSERVATORY": str(package), "NODE_EXTRA_CA_CERTS": str(folder / "nginx" / "certificate.pem")},
            capture_output=True,
            text=True,
            check=True,
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> int:
    """Print a line for each page; return 1 if one misses its goal."""
    if socket.gethostbyname(NAME) != "127.0.0.1":
        print(f"Add the line '127.0.0.1 {NAME}' to /etc/hosts.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        results = _grade(*install(OBSERVATORY), Path(folder))
    for result in results:
        who = "member" if result["signedIn"] else "visitor"
        lacks = f"without {' and '.join(result['without'])}" if result["without"] else ""
        row = (f"{result['score']:4}", result["status"], f"{who:7}", result["path"], lacks, *result["failed"])
        print(*row)
    return int(
        any(each["failed"] or each["score"] < _MOST - _GAIN * len(each["without"]) for each in results)
    )


if __name__ == "__main__":
    sys.exit(main())
