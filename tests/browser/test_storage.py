"""The storage of a browser after a walk: no secret, and no cookie that a script can read."""

import pytest

from tests.browser.steps import PATH, sign_in
from tests.factories import SECRET

pytestmark = [
    pytest.mark.browser,
    pytest.mark.once,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]

PASSWORD = "correct horse battery"
PAGES = (
    "/",
    PATH,
    f"{PATH}?query=sql",
    f"{PATH}report/",
    "/team/",
    "/shares/",
    "/api/",
    "/plan/",
    "/activity/",
)
STORED = "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"


def found(page, secrets):
    """Return which of the secrets a script of the page could read."""
    stored = page.evaluate(STORED)
    return [secret for secret in secrets if secret in stored]


def test_a_walk_leaves_no_secret_where_a_script_reads_it(open_page, owner, website):
    owner.set_password(PASSWORD)
    owner.save()
    page = open_page()
    page.goto("/accounts/login/")
    sign_in(page, owner.username, PASSWORD)
    page.wait_for_url("**/")
    cookies = page.context.cookies()
    assert cookies
    assert [cookie["name"] for cookie in cookies if not cookie["httpOnly"]] == []
    secrets = [PASSWORD, SECRET, *(cookie["value"] for cookie in cookies)]
    for address in PAGES:
        page.goto(address)
        page.locator("main a").first.hover()
        assert found(page, secrets) == [], address
    page.evaluate("(secret) => sessionStorage.setItem('noted', secret)", SECRET)
    assert found(page, secrets) == [SECRET]
