"""The watch reports every kind of violation."""

import pytest

from tests.browser.steps import eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATH = "/accounts/login/"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
MISDEEDS = {
    "script-src": "const it = document.createElement('script'); it.text = '1'; document.body.append(it)",
    "style-src": "document.body.setAttribute('style', 'color: red')",
    "img-src": "const it = new Image(); it.src = 'data:,'; new Promise((done) => { it.onerror = done })",
    "on purpose": "console.error('on purpose')",
    "thrown": "setTimeout(() => { throw new Error('thrown') }); new Promise(requestAnimationFrame)",
    "404": "fetch('/nowhere/')",
    "dialog": "alert('of a script')",
}


def heard(page, watch, message):
    """Wait until the watch has heard ``message``: browsers report a violation a moment later."""
    eventually(page, lambda: any(message in complaint for complaint in watch.complaints))
    page.evaluate("0")


def test_watch_sees_every_violation(page, watch):
    page.goto(PATH)
    watch.check()
    for message, misdeed in MISDEEDS.items():
        page.evaluate(f"{{ {misdeed} }}")
        heard(page, watch, message)
        with pytest.raises(AssertionError, match=message):
            watch.check()


def test_watch_sees_a_violation_without_javascript(open_page, watch):
    page = open_page(java_script_enabled=False)
    page.route(f"**{PATH}", _answer_with_inline_style)
    page.goto(PATH)
    heard(page, watch, "style-src")
    with pytest.raises(AssertionError, match="style-src"):
        watch.check()


def test_watch_sees_a_request_to_another_host(page, watch):
    page.route("http://elsewhere.example/", _answer_with_picture)
    page.evaluate("{ const it = new Image(); it.src = 'http://elsewhere.example/'; it.decode() }")
    with pytest.raises(AssertionError, match="request elsewhere: http://elsewhere"):
        watch.check()


def test_watch_fails_without_an_expected_error(page, watch):
    watch.expect("403")
    with pytest.raises(AssertionError, match="missing: \\['403'\\]"):
        watch.check()


def _answer_with_picture(route):
    route.fulfill(content_type="image/svg+xml", body=PICTURE)


def _answer_with_inline_style(route):
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("<body", "<style>b{}</style><body"))
