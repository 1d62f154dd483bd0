import pytest

from dashboard_api.scanners.redaction import redact_command, redact_headers

SECRET = "s3cr3t"


@pytest.mark.parametrize(
    "text",
    [
        f"GET / HTTP/1.1\nCookie: id={SECRET}\nHost: x",
        f"set-cookie: id={SECRET}; Path=/",
        f"AUTHORIZATION : Bearer {SECRET}",
        f"Proxy-Authorization: Basic {SECRET}",
        f"Authorization: Digest username=x,\n response={SECRET}\nHost: x",
        f"> Cookie: id={SECRET}",
        f"GET / HTTP/1.1\\r\\nCookie: id={SECRET}\\r\\nHost: x",
        f'{{"headers": {{"Cookie": "a=\\"b\\"; id={SECRET}", "Host": "x"}}}}',
        f'{{"Authorization":["Bearer {SECRET}"],"Host":"x"}}',
        f"{{'set-cookie': '{SECRET}'}}",
        f'{{"Cookie": "id={SECRET}',
        f"https://admin:{SECRET}@shop.example.com/",
        f"X-API-Key: {SECRET}",
        f"GET / HTTP/1.1\nx-auth-token: {SECRET}\nHost: x",
        f'{{"Api-Key": "{SECRET}"}}',
        f"https://shop.example.com/?a=b&api_key={SECRET}#top",
        f"GET /?Access_Token={SECRET} HTTP/1.1",
        f"user=ada&password={SECRET}",
        f"user=ada&password={SECRET}%21&x=1",
        f"user=ada&token={SECRET}dGVz%3D%3D",
        f"GET /?q=1&password=!{SECRET}$*:,@ä HTTP/1.1",
        f"POST / HTTP/1.1\nHost: x\n\npassword={SECRET}&user=ada",
        f"https://shop.example.com/#access_token={SECRET}",
        f"/?client_secret={SECRET}",
        f"/?pwd={SECRET}",
        f"/?session_id={SECRET}",
        f"GET /cart;jsessionid={SECRET}?a=b HTTP/1.1",
        f"/?user%5Bpassword%5D={SECRET}",
        f"/?csrfmiddlewaretoken={SECRET}",
        f"curl -d 'password={SECRET}' https://x",
        f'{{"user": "ada", "password": "{SECRET} & more"}}',
        f'{{"accessToken":"a\\/{SECRET}"}}',
        f'log: {{\\"client_secret\\":\\"{SECRET}\\"}}',
        f"https://bob:it's-{SECRET}@shop.example.com/",
        f"https://bob:p@ss/{SECRET}@shop.example.com",
        f"https://bob:12345{SECRET}@shop.example.com",
    ],
)
def test_header_value_is_redacted(text):
    redacted = redact_headers(text)
    assert SECRET not in redacted
    assert "[redacted]" in redacted


def test_lines_around_a_redacted_header_stay():
    text = f"GET /?q=cookie HTTP/1.1\nHost: shop.example.com\nCookie: id={SECRET}\nAccept: */*\n\nbody"
    assert redact_headers(text) == (
        "GET /?q=cookie HTTP/1.1\nHost: shop.example.com\nCookie: [redacted]\nAccept: */*\n\nbody"
    )


@pytest.mark.parametrize(
    "text",
    [
        "This page sets a cookie: read on.",
        "X-Cookie-Policy: strict",
        "mail ada@example.com",
        "/reset?token=%22%3E%3Cscript%3E",
        "/login?password='+OR+1=1--",
        "/login?password=%27+OR+1%3D1--",
        "/login?password=ZAP+OR+1%3D1+--+",
        "/login?password=ZAP%20AND%201%3D1%20--",
        "/reset?token=%253Cscript%253E",
        "/reset?token=javascript%3Aalert%281%29",
        "/reset?token=..%2F..%2Fetc%2Fpasswd",
        "/reset?token=https%3A%2F%2Fother.example.com",
        '{"password": "\' OR 1=1--"}',
        '{"token": "<script>alert(1)</script>"}',
        '{"token": "\\u003cscript\\u003e"}',
        "https://shop.example.com:8443/mail?to=ada@example.com",
        "https://shop.example.com:8443/@ada",
        "https://[::1]/ada@example.com",
        "{'url':'https://shop.example.com','mail':'ada@example.com'}",
        "/?page=administrators&tokens=1234567",
        "",
    ],
)
def test_other_text_stays(text):
    assert redact_headers(text) == text


@pytest.mark.parametrize(
    "command",
    [
        f"curl -H 'Authorization: Bearer {SECRET}' https://x",
        f"curl -H 'Cookie: a='\\''{SECRET}'\\''' https://x",
        f'curl --header "cookie: id={SECRET}" https://x',
        f"curl --header='Set-Cookie: id={SECRET}' https://x",
        f"curl -H$'Cookie: {SECRET}' https://x",
        f"curl -b 'id={SECRET}' https://x",
        f"curl -bid={SECRET} https://x",
        f"curl --cookie id={SECRET} https://x",
        f"curl -u 'ada:{SECRET}' https://x",
        f"curl --user=ada:{SECRET} https://x",
        f"curl --oauth2-bearer {SECRET} https://x",
        f"curl -H 'Authorization: Bearer {SECRET}",
    ],
)
def test_credential_of_a_command_is_redacted(command):
    redacted = redact_command(command)
    assert SECRET not in redacted
    assert "[redacted]" in redacted


def test_rest_of_a_command_stays():
    command = (
        f"curl -X 'POST' -d 'a -b c' -H 'Accept: */*' -H 'Cookie: {SECRET}' --user-agent x 'https://x/?a=b'"
    )
    assert redact_command(command) == (
        "curl -X 'POST' -d 'a -b c' -H 'Accept: */*' -H 'Cookie: [redacted]' --user-agent x 'https://x/?a=b'"
    )


@pytest.mark.parametrize("command", ["", "curl -H", "curl \\", "curl ''"])
def test_command_without_credentials_stays(command):
    assert redact_command(command) == command
