import pytest

import es1
from tests.es1.vectors import VECTORS, body_of

VALID = [vector for vector in VECTORS.values() if vector["signature"] == vector["valid_signature"]]


@pytest.mark.parametrize("vector", VALID, ids=[vector["name"] for vector in VALID])
def test_sign_makes_the_headers_of_the_vector(vector):
    headers = es1.sign(
        vector["secret"],
        method=vector["method"],
        path=vector["path"],
        body=body_of(vector),
        now=int(vector["timestamp"]),
        nonce=vector["nonce"],
    )
    assert headers == {
        "x-service-timestamp": vector["timestamp"],
        "x-service-nonce": vector["nonce"],
        "x-service-signature": vector["valid_signature"],
    }


@pytest.mark.parametrize("nonce", ["short", "with space in it", "x" * 129, "ünïcödé-nonce", "nonce-000\n"])
def test_sign_refuses_a_nonce_that_every_verifier_would_refuse(nonce):
    with pytest.raises(es1.MalformedHeaders) as refusal:
        es1.sign("secret", method="POST", path="/v1", body=b"", now=1, nonce=nonce)
    assert refusal.value.header == es1.NONCE_HEADER


@pytest.mark.parametrize("now", [-1, 1.5, 10**16])
def test_sign_refuses_a_time_that_is_no_whole_unix_second(now):
    with pytest.raises(es1.MalformedHeaders):
        es1.sign("secret", method="POST", path="/v1", body=b"", now=now, nonce="nonce-000")
