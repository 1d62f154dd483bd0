"""nginx answers the authority that certbot asks for a certificate, over http, and nothing else there."""

from tests.deploy.production import nginx
from tests.faults.server import closed_port

CHALLENGE = "/.well-known/acme-challenge/"


def test_the_proof_of_certbot_is_served_without_tls(tmp_path):
    folder = tmp_path / "acme" / CHALLENGE.strip("/")
    folder.mkdir(parents=True)
    (folder / "token").write_text("token.thumbprint")
    changes = {"root /var/www/acme": f"root {tmp_path}/acme", "user www-data": "user root"}
    with nginx(tmp_path, closed_port(), changes=changes) as browser:
        assert browser.ask("GET", f"{CHALLENGE}token", tls=False)[::2] == (200, b"token.thumbprint")
        assert browser.ask("GET", f"{CHALLENGE}other", tls=False)[0] == 404
        assert browser.ask("GET", "/.well-known/security.txt", tls=False)[0] == 301
