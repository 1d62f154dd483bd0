import pytest
import requests

import es1
from portal.gateway.auth import ES1Auth
from tests.factories import SECRET

URL = "https://api.example.com/v1/site/dashboard"


def prepared(body=b"{}", url=URL):
    return requests.Request("POST", url, data=body, auth=ES1Auth(SECRET)).prepare()


def test_signature_verifies_with_the_path_and_the_bytes_of_the_request():
    request = prepared(b'{"host":"shop.example.com"}')
    es1.verify(
        [SECRET],
        {name.lower(): value for name, value in request.headers.items()},
        method="POST",
        path="/v1/site/dashboard",
        body=b'{"host":"shop.example.com"}',
        now=int(request.headers[es1.TIMESTAMP_HEADER]),
        window=0,
    )


def test_each_request_has_a_nonce_of_its_own():
    nonces = {prepared().headers[es1.NONCE_HEADER] for _ in range(100)}
    assert len(nonces) == 100
    assert {len(nonce) for nonce in nonces} == {32}


@pytest.mark.parametrize("body", ["a text", {"a": "form"}, None])
def test_only_bytes_are_signed(body):
    with pytest.raises(TypeError, match="bytes"):
        prepared(body)


def test_secret_is_not_shown():
    assert SECRET not in repr(ES1Auth(SECRET))
    assert SECRET not in str(prepared().headers)
