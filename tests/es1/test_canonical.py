import pytest

import es1
from tests.es1.vectors import VECTORS, body_of


@pytest.fixture(params=VECTORS.values(), ids=VECTORS.keys())
def vector(request):
    return request.param


def test_body_digest_is_that_of_openssl(vector):
    assert es1.body_digest(body_of(vector)) == vector["body_sha256"]


def test_canonical_string_is_that_of_openssl(vector):
    canonical = es1.canonical_string(
        timestamp=vector["timestamp"],
        nonce=vector["nonce"],
        method=vector["method"],
        path=vector["path"],
        body=body_of(vector),
    )
    assert canonical == vector["canonical"]


def test_signature_is_that_of_openssl(vector):
    assert es1.signature(vector["secret"], vector["canonical"]) == vector["valid_signature"]


def test_canonical_string_has_the_method_in_upper_case():
    assert "\nPOST\n" in es1.canonical_string("1", "nonce-000", "post", "/v1", b"")


def test_canonical_string_has_six_lines_and_no_trailing_newline():
    canonical = es1.canonical_string("1", "nonce-000", "POST", "/v1", b"")
    assert canonical.count("\n") == 5
    assert not canonical.endswith("\n")
