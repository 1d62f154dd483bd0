"""The messages of refusals: they say what the scheme expects."""

import pytest

import es1
from es1.vectors import read_vectors

TIME = "the time in whole Unix seconds: 1 to 16 digits, without a sign or a leading zero"
NONCE = "8 to 128 characters of A-Z a-z 0-9 . _ ~ -, new in every attempt"
SIGNATURE = "64 characters of 0-9 a-f, in lower case"
GOOD = {es1.TIMESTAMP_HEADER: "1", es1.NONCE_HEADER: "nonce-0001", es1.SIGNATURE_HEADER: "0" * 64}


def refusal(headers, now=1):
    with pytest.raises(es1.ES1Error) as raised:
        es1.verify(["secret"], headers, method="POST", path="/", body=b"", now=now, window=300)
    return raised.value


@pytest.mark.parametrize(
    ("header", "expected"),
    [(es1.TIMESTAMP_HEADER, TIME), (es1.NONCE_HEADER, NONCE), (es1.SIGNATURE_HEADER, SIGNATURE)],
)
def test_a_missing_or_malformed_header_is_named_with_its_shape(header, expected):
    missing = refusal({name: value for name, value in GOOD.items() if name != header})
    malformed = refusal(GOOD | {header: "!"})
    assert missing.expected == malformed.expected == expected
    assert str(missing) == f"{header} is missing: it has {expected}"
    assert str(malformed) == f"{header} is malformed: it has {expected}"


def test_a_wrong_signature_and_a_wrong_clock_are_named_in_a_sentence():
    assert str(refusal(GOOD)) == "the signature does not verify"
    assert str(refusal(GOOD, now=1001)) == "the timestamp is 1000 s off; 300 s are accepted"


def test_the_published_vectors_are_those_of_the_tests():
    assert b'"canonical' in read_vectors()
