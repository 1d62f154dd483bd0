"""One signed request: its signature, its nonce, and what it does not show."""

import es1
from portal.gateway.direct import DirectAdapter
from signed_api.transport import Deadline, attempt
from tests.factories import SECRET

URL = "https://api.example.com/v1/site/dashboard"
BODY = b'{"host":"shop.example.com"}'


def answer(environ, start_response):
    start_response("200 OK", [])
    return [b"{}"]


def exchange():
    return attempt(URL, BODY, secret=SECRET, deadline=Deadline(5), adapter=DirectAdapter(answer))


def test_signature_verifies_with_the_path_and_the_bytes_of_the_request():
    sent = exchange()
    assert sent.sent_body == BODY
    es1.verify(
        [SECRET],
        sent.sent_headers,
        method="POST",
        path="/v1/site/dashboard",
        body=BODY,
        now=int(sent.sent_headers[es1.TIMESTAMP_HEADER]),
        window=0,
    )


def test_each_request_has_a_nonce_of_its_own():
    nonces = {exchange().sent_headers[es1.NONCE_HEADER] for _ in range(100)}
    assert len(nonces) == 100
    assert {len(nonce) for nonce in nonces} == {32}


def test_secret_is_not_shown():
    assert SECRET not in repr(exchange())
    assert SECRET not in str(exchange().sent_headers)
