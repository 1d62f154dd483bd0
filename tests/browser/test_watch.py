"""The watch reports every kind of violation."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATH = "/accounts/login/"
MISDEEDS = {
    "script-src": "const it = document.createElement('script'); it.text = '1'; document.body.append(it)",
    "style-src": "document.body.setAttribute('style', 'color: red')",
    "img-src": "const it = new Image(); it.src = 'data:,'; new Promise((done) => { it.onerror = done })",
    "on purpose": "console.error('on purpose')",
    "thrown": "setTimeout(() => { throw new Error('thrown') }); new Promise(requestAnimationFrame)",
    "404": "fetch('/nowhere/')",
}


def test_watch_sees_every_violation(page, watch):
    page.goto(PATH)
    watch.check()
    for message, misdeed in MISDEEDS.items():
        page.evaluate(f"{{ {misdeed} }}")
        page.evaluate("new Promise(setTimeout)")
        with pytest.raises(AssertionError, match=message):
            watch.check()


def test_watch_sees_a_violation_without_javascript(open_page, watch):
    page = open_page(java_script_enabled=False)
    page.route(f"**{PATH}", _answer_with_inline_style)
    page.goto(PATH)
    page.evaluate("0")
    with pytest.raises(AssertionError, match="style-src"):
        watch.check()


def test_watch_sees_a_request_to_another_host(page, watch):
    with page.expect_console_message():
        page.evaluate("{ new Image().src = 'http://127.0.0.1:9/' }")
    page.evaluate("0")
    with pytest.raises(AssertionError, match="request elsewhere"):
        watch.check()


def test_watch_fails_without_an_expected_error(page, watch):
    watch.expect("403")
    with pytest.raises(AssertionError, match="missing: \\['403'\\]"):
        watch.check()


def _answer_with_inline_style(route):
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("<body", "<style>b{}</style><body"))
