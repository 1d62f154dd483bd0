"""Authenticator app, recovery codes and passkeys, from setting them up to signing in with them."""

import re

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse
from playwright.sync_api import expect

from tests.authenticator import code_of
from tests.browser.steps import expect_image, open_menu, send, sign_in
from tests.factories import make_user

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ACCOUNT = "/accounts/"
DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def part(page, name):
    """A section of the account page."""
    return page.get_by_role("region", name=name)


def press(page, name):
    page.get_by_role("main").get_by_role("button", name=name, exact=True).click()


def prove(page, password="correct horse battery"):
    """Enter the password again, as every change of the account's protection requires."""
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.get_by_label("Password").fill(password)
    press(page, "Continue")


def enter(page, code):
    page.get_by_label("Code").fill(code)
    press(page, "Sign in")


def sign_out(page):
    open_menu(page)
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/accounts/login/"))


def set_up_app(page):
    """The app's key, and the recovery codes that come with it."""
    page.goto(ACCOUNT)
    part(page, "Authenticator app").get_by_role("link", name="Set it up").click()
    prove(page)
    picture = page.get_by_role("img", name="A picture of the key below")
    expect_image(picture)
    key = page.locator("#authenticator_secret").text_content()
    page.get_by_label("Code").fill(code_of(key, steps=-1))  # the next one signs in
    press(page, "Switch it on")
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.wait_for_load_state()
    return key, page.get_by_role("main").get_by_role("listitem").all_text_contents()


@pytest.fixture
def device(page):
    """A device with a fingerprint reader, in front of which its owner sits."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})

    class Device:
        @property
        def credentials(self):
            return session.send("WebAuthn.getCredentials", made)["credentials"]

        def refuse(self):
            session.send("WebAuthn.setUserVerified", made | {"isUserVerified": False})

    return Device()


def add_passkey(page, *, alone=True):
    page.goto(ACCOUNT)
    part(page, "Passkeys").get_by_role("link", name="Add a passkey").click()
    prove(page)
    page.get_by_label("Name, so that you recognize it").fill("Laptop")
    page.get_by_label("Sign in with it alone").set_checked(alone)
    press(page, "Add")
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.get_by_role("link", name="I’ve saved these codes").click()
    expect(part(page, "Passkeys")).to_contain_text("Laptop since")


def test_an_app_and_recovery_codes_are_a_second_step(page, owner):
    page.goto(ACCOUNT)
    sign_in(page, owner.username)
    key, codes = set_up_app(page)
    assert len(codes) == 10
    page.get_by_role("link", name="I’ve saved these codes").click()
    expect(part(page, "Authenticator app")).to_contain_text("On since")

    sign_out(page)
    page.goto("/sites/shop.example.com/?severity=High")
    sign_in(page, owner.username)
    enter(page, "000000")
    expect(page.get_by_role("alert")).to_contain_text("This code or passkey was not accepted")
    enter(page, code_of(key))
    expect(page).to_have_url("/sites/shop.example.com/?severity=High")

    sign_out(page)
    sign_in(page, owner.username)
    enter(page, codes[0])
    expect(page).to_have_url("/")
    sign_out(page)
    sign_in(page, owner.username)
    enter(page, codes[0])
    expect(page.get_by_role("alert")).to_contain_text("This code or passkey was not accepted")
    press(page, "Sign in as someone else")
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_an_app_works_without_javascript(open_page, owner):
    plain = open_page(java_script_enabled=False)
    plain.goto(ACCOUNT)
    sign_in(plain, owner.username)
    key, _ = set_up_app(plain)
    sign_out(plain)
    expect(plain.get_by_role("button", name="Use a passkey")).to_have_count(0)
    sign_in(plain, owner.username)
    enter(plain, code_of(key))
    expect(plain).to_have_url("/")
    plain.goto("/accounts/2fa/webauthn/add/")
    prove(plain)
    expect(plain.get_by_text("A passkey needs JavaScript")).to_be_visible()


def test_a_passkey_signs_in_without_a_password(page, device, owner):
    page.goto(ACCOUNT)
    sign_in(page, owner.username)
    add_passkey(page)
    assert [credential["isResidentCredential"] for credential in device.credentials] == [True]

    sign_out(page)
    page.goto("/sites/shop.example.com/?severity=High")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url("/sites/shop.example.com/?severity=High")

    page.goto(ACCOUNT)
    part(page, "Passkeys").get_by_role("link", name="Rename Laptop").click()
    prove(page)
    page.get_by_label("Name").fill("Old laptop")
    press(page, "Rename")
    part(page, "Passkeys").get_by_role("link", name="Remove Old laptop").click()
    press(page, "Remove")
    expect(part(page, "Passkeys")).to_contain_text("None.")
    sign_out(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("status").or_(page.get_by_role("alert"))).to_contain_text(
        "This code or passkey was not accepted"
    )


def test_a_passkey_is_the_second_step_after_the_password_and_proves_who_is_there(page, device, owner):
    page.goto(ACCOUNT)
    sign_in(page, owner.username)
    add_passkey(page, alone=False)
    sign_out(page)
    sign_in(page, owner.username)
    expect(page.get_by_role("heading", name="One more step")).to_be_visible()
    press(page, "Use a passkey")
    expect(page).to_have_url("/")

    page.goto(ACCOUNT)
    part(page, "Recovery codes").get_by_role("link", name="See them").click()
    page.get_by_role("link", name="Use a passkey").click()
    press(page, "Use a passkey")
    expect(page.get_by_text("10 of 10 are left")).to_be_visible()


def test_an_unused_passkey_and_a_refused_request_for_one_show_errors(page, device, owner, watch):
    page.goto("/accounts/login/")
    device.refuse()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used")
    watch.expect("429 (Too Many Requests)")
    page.route("**/webauthn/login/", lambda route: route.fulfill(status=429))
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("too many sign-ins from your internet address")
    sign_in(page, owner.username)
    expect(page).to_have_url("/")


def test_staff_reach_the_admin_through_the_same_steps(page, device, service, settings):
    settings.STAFF_SECOND_FACTOR = True
    make_user("operator", is_staff=True, is_superuser=True)
    page.goto("/admin/")
    sign_in(page, "operator")
    add_passkey(page)
    sign_out(page)
    page.goto("/admin/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url("/admin/")

    Group.objects.create(name="Auditors")
    groups = reverse("admin:auth_group_changelist")
    page.goto(f"{groups}?o=1")
    page.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("combobox", name="Action").select_option(label="Delete selected groups")
    page.get_by_role("button", name="Go").click()
    page.get_by_role("link", name="Use a passkey").click()
    press(page, "Use a passkey")
    expect(page).to_have_url(f"{groups}?o=1")
    page.get_by_role("button", name="Yes, I’m sure").click()
    expect(page.get_by_role("status")).to_contain_text("Successfully deleted")
    assert not Group.objects.exists()


def test_too_many_attempts_have_their_own_page(page, owner, watch):
    watch.expect("429")
    page.goto("/accounts/login/")
    for _ in range(6):
        sign_in(page, owner.username, "wrong horse battery")
    expect(page.get_by_role("heading", name="Too many attempts")).to_be_visible()
    expect(page.get_by_text("Wait 15 minutes")).to_be_visible()


def test_these_pages_in_every_look(tour, page, device, owner):
    tours = tour.open(user=owner)
    tour.visit(tours, "/accounts/2fa/totp/activate/")
    send(tours, password="correct horse battery")
    tour.look(tours, "an app")
    send(tours, code="000000")
    tour.look(tours, "wrong code")
    page.goto(ACCOUNT)
    sign_in(page, owner.username)
    add_passkey(page)
    passkey = owner.authenticator_set.get(type="webauthn").pk
    tours = tour.open(storage_state=page.context.storage_state())
    for address in (
        "recovery-codes/", "recovery-codes/generate/", "webauthn/add/", f"webauthn/keys/{passkey}/edit/",
        f"webauthn/keys/{passkey}/remove/", "webauthn/reauthenticate/", "reauthenticate/",
    ):  # fmt: skip
        tour.visit(tours, f"/accounts/2fa/{address}")
    tour.visit(tours, ACCOUNT)
    other = tour.open()
    other.goto("/accounts/login/")
    send(other, login=owner.username, password="correct horse battery")
    tour.look(other, "one more step")
    send(other, code="000000")
    expect(other.locator("[role=alert]:visible")).to_be_visible()
    tour.look(other, "wrong code of the second step")
