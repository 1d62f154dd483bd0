"""A security key in software: it makes the answers of WebAuthn that a browser would send."""

import hashlib
import json
from base64 import urlsafe_b64encode

from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

NAME, ORIGIN = "testserver", "https://testserver"
TOUCHED, VERIFIED, HAS_KEY = 1, 4, 64  # flags: touched, with a PIN or a fingerprint, with a public key


def text(value):
    return urlsafe_b64encode(value).decode().rstrip("=")


class SecurityKey:
    """A key of ``user``, stored as if it had been registered."""

    def __init__(self, user, *, number=b"key-1"):
        self.user, self.number = user, number
        self._key = ec.generate_private_key(ec.SECP256R1())
        public = ES256.from_cryptography_key(self._key.public_key())
        data = self._data(
            TOUCHED | VERIFIED | HAS_KEY, AttestedCredentialData.create(b"\0" * 16, number, public)
        )
        credential = self._answer(
            {
                "clientDataJSON": text(self._client_data("webauthn.create", text(b"x" * 32))),
                "attestationObject": text(bytes(AttestationObject.create("none", data, {}))),
            }
        )
        Authenticator.objects.create(
            user=user, type=Authenticator.Type.WEBAUTHN, data={"name": "Key", "credential": credential}
        )

    def answer(self, challenge, *, flags):
        """Return the answer to the ``challenge`` of a page, as its form sends it."""
        data, client = bytes(self._data(flags)), self._client_data("webauthn.get", challenge)
        signature = self._key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": text(client),
            "authenticatorData": text(data),
            "signature": text(signature),
            "userHandle": text(user_pk_to_url_str(self.user).encode()),
        }
        return json.dumps(self._answer(response))

    def _answer(self, response):
        number = text(self.number)
        return {
            "id": number,
            "rawId": number,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }

    @staticmethod
    def _data(flags, key=b""):
        return AuthenticatorData.create(hashlib.sha256(NAME.encode()).digest(), flags, 1, key)

    @staticmethod
    def _client_data(kind, challenge):
        return json.dumps({"type": kind, "challenge": challenge, "origin": ORIGIN}).encode()
