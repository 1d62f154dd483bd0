from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import es1
from es1 import verifying
from tests.es1.vectors import ACCOUNTS, SERVER_NOW, VECTORS, WINDOW, body_of

SECRET = "es1_test_0123456789abcdef"
CALL = {"method": "POST", "path": "/v1/site/dashboard", "body": b'{"page":1}'}
SECRETS_OF = {account["portal_account_ref"]: account["active_secrets"] for account in ACCOUNTS}
ERRORS = {
    "invalid_signature": (es1.InvalidSignature, es1.MalformedHeaders),
    "stale_timestamp": es1.StaleTimestamp,
}


def signed(now=SERVER_NOW, nonce="nonce-000", secret=SECRET, **call):
    return es1.sign(secret, now=now, nonce=nonce, **(CALL | call))


def verified(headers, *, secrets=(SECRET,), now=SERVER_NOW, window=300, **call):
    return es1.verify(secrets, headers, now=now, window=window, **(CALL | call))


def verify_vector(vector):
    return es1.verify(
        [vector["secret"]],
        {
            "x-service-timestamp": vector["timestamp"],
            "x-service-nonce": vector["nonce"],
            "x-service-signature": vector["signature"],
        },
        method=vector["method"],
        path=vector["path"],
        body=body_of(vector),
        now=SERVER_NOW,
        window=WINDOW,
    )


@pytest.mark.parametrize("name", VECTORS)
def test_verify_decides_as_the_vector_expects(name):
    vector = VECTORS[name]
    expected = ERRORS.get(vector["expect"]["code"])
    if expected is None:  # accepted, or refused for another reason than the signature
        claimed = verify_vector(vector)
        assert claimed == es1.Verified(timestamp=int(vector["timestamp"]), nonce=vector["nonce"])
    else:
        with pytest.raises(expected):
            verify_vector(vector)


@pytest.mark.parametrize("position", [0, 1])
def test_verify_accepts_each_of_two_secrets(position):
    secrets = ["another-secret-0001", "another-secret-0002"]
    secrets[position] = SECRET
    assert verified(signed(), secrets=secrets).nonce == "nonce-000"


def test_verify_refuses_when_there_is_no_secret():
    with pytest.raises(es1.InvalidSignature):
        verified(signed(), secrets=[])


@pytest.mark.parametrize("skew", [-300, 0, 300])
def test_window_includes_both_of_its_ends(skew):
    assert verified(signed(now=SERVER_NOW - skew)).timestamp == SERVER_NOW - skew


@pytest.mark.parametrize("skew", [-301, 301])
def test_window_ends_one_second_later(skew):
    with pytest.raises(es1.StaleTimestamp) as refusal:
        verified(signed(now=SERVER_NOW - skew))
    assert (refusal.value.skew, refusal.value.window) == (skew, 300)


@pytest.mark.parametrize(
    "change",
    [{"method": "PUT"}, {"path": "/v1/site/finding"}, {"body": b'{"page":2}'}, {"body": b'{"page":1} '}],
)
def test_verify_refuses_what_was_not_signed(change):
    with pytest.raises(es1.InvalidSignature):
        verified(signed(), **change)


BODY = b'{"query":"%s"}' % (b"x" * 188)  # 200 bytes


def flips(data):
    """Return the data with one bit changed, for each of its bits."""
    whole = int.from_bytes(data)
    return [(whole ^ 1 << bit).to_bytes(len(data)) for bit in range(len(data) * 8)]


def accepted(headers, bodies):
    """Return how many of the bodies are accepted with these headers."""
    count = 0
    for body in bodies:
        with suppress(es1.InvalidSignature):
            verified(headers, body=body)
            count += 1
    return count


def test_verify_refuses_every_single_bit_flip_of_a_body_of_200_bytes():
    assert (len(BODY), len(flips(BODY))) == (200, 1_600)
    assert accepted(signed(body=BODY), flips(BODY)) == 0


def test_a_signature_without_the_body_is_noticed(monkeypatch):
    whole = verifying.canonical_string
    monkeypatch.setattr(verifying, "canonical_string", lambda *line: whole(*line[:-1], BODY))
    assert accepted(signed(body=BODY), flips(BODY)) == 1_600


LINES = es1.canonical_string(str(SERVER_NOW), "nonce-000", "POST", CALL["path"], BODY).split("\n")


@pytest.mark.parametrize("number", range(6))
def test_each_line_that_is_signed_counts(number):
    assert len(LINES) == 6
    for bit in range(7):
        line = LINES[number]
        changed = [*LINES[:number], chr(ord(line[0]) ^ 1 << bit) + line[1:], *LINES[number + 1 :]]
        headers = signed(body=BODY) | {es1.SIGNATURE_HEADER: es1.signature(SECRET, "\n".join(changed))}
        with pytest.raises(es1.InvalidSignature):
            verified(headers, body=BODY)


@settings(max_examples=300)
@given(st.data())
def test_verify_refuses_headers_that_were_changed_anywhere(data):
    headers = signed()
    name = data.draw(st.sampled_from(sorted(headers)))
    value, kind = headers[name], data.draw(st.sampled_from(["replace", "insert", "delete"]))
    at = data.draw(st.integers(0, len(value) - 1))
    added = "" if kind == "delete" else data.draw(st.characters() | st.sampled_from("0123456789abcdef"))
    changed = value[:at] + added + value[at + (kind != "insert") :]
    if changed != value:
        with pytest.raises(es1.ES1Error):
            verified(headers | {name: changed})


@pytest.mark.parametrize("header", [es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER])
def test_verify_names_the_header_that_is_missing(header):
    headers = signed()
    del headers[header]
    with pytest.raises(es1.MalformedHeaders) as refusal:
        verified(headers)
    assert (refusal.value.header, refusal.value.reason) == (header, "missing_header")


@pytest.mark.parametrize(
    ("header", "value"),
    [
        (es1.TIMESTAMP_HEADER, value)
        for value in [
            "",
            "-1",
            "+1",
            "01",
            "1.0",
            "1e9",
            " 1",
            "1\n",
            "1" * 17,
            "1" * 8192,
            "١٢٣",
            "\uff11\uff12",
        ]
    ]
    + [
        (es1.NONCE_HEADER, value)
        for value in [
            "",
            "seven-7",
            "x" * 129,
            "x" * 8192,
            "nonce-000\n",
            "nonce 000",
            "nønce-000",
            "nonce,000",
        ]
    ]
    + [
        (es1.SIGNATURE_HEADER, value)
        for value in ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 64 + "\n", "\uff10" * 64, "0" * 8192]
    ],
)
def test_verify_calls_a_hostile_header_malformed(header, value):
    with pytest.raises(es1.MalformedHeaders) as refusal:
        verified(signed() | {header: value})
    assert (refusal.value.header, refusal.value.reason) == (header, "malformed_header")


@given(
    st.dictionaries(
        st.sampled_from([es1.TIMESTAMP_HEADER, es1.NONCE_HEADER, es1.SIGNATURE_HEADER]), st.text()
    ),
    st.binary(),
)
def test_verify_raises_nothing_but_its_own_errors(headers, body):
    with pytest.raises(es1.ES1Error):
        verified(headers, body=body)


def test_errors_never_hold_a_secret_or_the_expected_signature():
    headers = signed()
    with pytest.raises(es1.InvalidSignature) as refusal:
        verified(headers | {es1.SIGNATURE_HEADER: "0" * 64})
    assert SECRET not in repr(refusal.value)
    assert headers[es1.SIGNATURE_HEADER] not in repr(refusal.value)


def test_every_secret_of_a_vector_account_is_accepted():
    for secrets in SECRETS_OF.values():
        for secret in secrets:
            assert verified(signed(secret=secret), secrets=secrets)
