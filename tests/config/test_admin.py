"""The admin's page of people, and the frame of its pages."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import DateField
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from config.admin_pages.site import SUBJECTS
from tests.config.identity.test_sessions import PAGE, SAFARI, sign_in
from tests.factories import make_finding, make_portal_account, make_user, make_website

pytestmark = pytest.mark.django_db
LIST = "/admin/auth/user/"


@pytest.mark.parametrize("value", ["abc", "%", "1.2.3.4", "²", str(2**64), "-1"])
def test_a_search_field_refuses_what_is_no_number(value):
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    add = "/admin/dashboard_api/coverage/add/"
    page = operator.post(add, {"website": value, "source": value})
    assert (page.status_code, page.text.count("Select a valid choice")) == (200, 2)
    assert operator.get(add, {"website": value}).status_code == 200


def test_a_search_field_keeps_what_was_chosen():
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    website = make_website()
    page = operator.post("/admin/dashboard_api/coverage/add/", {"website": website.pk, "source": "abc"}).text
    assert f'<option value="{website.pk}" selected>{website.host}</option>' in page


def test_an_operator_sees_how_often_a_person_is_signed_in_and_ends_all_of_it():
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    person = make_user()
    here, there, theirs = sign_in(person), sign_in(person, SAFARI), sign_in(make_user("stranger"))
    page = operator.get(f"{LIST}{person.pk}/change/").text
    assert '<div class="readonly">2</div>' in page
    action = {"action": "end_sessions", "_selected_action": str(person.pk)}
    assert "2 sessions were ended." in operator.post(LIST, action, follow=True).text
    assert [client.get(PAGE).status_code for client in (here, there, theirs)] == [302, 302, 200]


@pytest.mark.parametrize(
    ("address", "crumbs"),
    [
        ("dashboard_api/finding/", "Home › Findings and customers › Findings"),
        ("dashboard_api/account/add/", "Home › Findings and customers › Customers › Add customer"),
        ("auth/user/", "Home › People › Users"),
        ("mfa/authenticator/", "Home › People › Authenticators"),
        ("audit/auditevent/", "Home › Audit › Audit events"),
    ],
)
def test_breadcrumbs_have_names_that_operators_know(address, crumbs):
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    page = operator.get(f"/admin/{address}").text
    shown = re.search(r'<div class="breadcrumbs">(.*?)</div>', page, re.DOTALL)[1]
    assert " ".join(strip_tags(shown).replace("&rsaquo;", "›").split()) == crumbs


def test_the_navigation_has_a_subject_for_every_page():
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    subjects = operator.get("/admin/").context["subjects"]
    assert [subject["name"] for subject in subjects] == [name for name, _ in SUBJECTS]


@pytest.mark.parametrize(
    ("query", "label"), [("", "Filter"), ("?queue=all&status__exact=fixed&o=2", "Filter (2)")]
)
def test_the_button_of_the_filters_counts_those_that_narrow_the_list(query, label):
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    page = operator.get(f"/admin/dashboard_api/finding/{query}").text
    button = re.search(r'filter-button".*?>(.*?)</button>', page, re.DOTALL)[1]
    assert " ".join(button.split()) == label


def helper_with(*names):
    """Return a browser of staff with these permissions, who is no superuser."""
    helper = make_user("helper", is_staff=True)
    helper.user_permissions.set(Permission.objects.filter(codename__in=names))
    client = Client()
    client.force_login(helper)
    return client, helper


def test_someone_whose_password_staff_set_gets_an_email(at_once, mailoutbox, settings):
    settings.EMAIL_URL, settings.STAFF_SECOND_FACTOR = "smtp://localhost", False
    browser, person = helper_with("view_user", "change_user")[0], make_user("ada")
    page = reverse("admin:auth_user_password_change", args=[person.pk])
    new = "horse battery staple"
    for again, mails in [("another", []), (new, [(["ada@example.com"], "Your password was changed")])]:
        browser.post(page, {"usable_password": "true", "password1": new, "password2": again})
        assert [(mail.to, mail.subject) for mail in mailoutbox] == mails


def test_a_bad_password_is_refused_under_the_field_in_which_it_is_chosen(settings):
    settings.STAFF_SECOND_FACTOR = False
    browser = helper_with("view_user", "change_user", "add_user")[0]
    bad = {"usable_password": "true", "password1": "short", "password2": "short", "username": "bob"}
    for page in (
        reverse("admin:auth_user_password_change", args=[make_user("ada").pk]),
        reverse("admin:auth_user_add"),
    ):
        context = browser.post(page, bad).context
        form = context["form"] if "form" in context else context["adminform"].form
        assert list(form.errors) == ["password1"]


def test_staff_change_their_own_password_on_the_page_of_everyone():
    page = helper_with()[0].get(reverse("admin:password_change"))
    assert page["Location"] == reverse("account_change_password")


def test_who_may_change_people_gives_themselves_no_permissions():
    client, helper = helper_with("view_user", "change_user")
    boss, member = make_user("boss", is_staff=True, is_superuser=True), make_user("member")
    everything = {"username": "member", "is_active": "on", "is_staff": "on", "is_superuser": "on"}
    everything |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00", "email": "new@example.com"}
    everything |= {"user_permissions": [str(pk) for pk in Permission.objects.values_list("pk", flat=True)]}
    for person in (helper, boss):
        page = f"/admin/auth/user/{person.pk}/change/"
        assert client.post(page, everything | {"username": person.username}).status_code == 403
        assert client.get(page.replace("change", "password")).status_code == 403
    assert client.post(f"/admin/auth/user/{member.pk}/change/", everything).status_code == 302
    member.refresh_from_db()
    assert member.email == "new@example.com"
    assert (member.is_staff, member.is_superuser, member.user_permissions.exists()) == (False, False, False)
    assert not User.objects.get(pk=helper.pk).is_superuser


def test_who_may_change_groups_or_delete_second_factors_gets_no_permissions_by_it():
    client, _helper = helper_with("view_group", "change_group", "add_group", "delete_authenticator")
    group = Group.objects.create(name="a group")
    for page in (f"/admin/auth/group/{group.pk}/change/", "/admin/auth/group/add/"):
        assert client.post(page, {"name": "a group", "permissions": ["1"]}).status_code == 403
    boss = make_user("boss", is_staff=True, is_superuser=True)
    factors = [
        Authenticator.objects.create(user=user, type="totp", data={}) for user in (boss, make_user("member"))
    ]
    answers = [
        client.post(f"/admin/mfa/authenticator/{factor.pk}/delete/", {"post": "yes"}).status_code
        for factor in factors
    ]
    assert answers == [403, 302]


def odd_filters():
    """Yield the address of each list of the admin with each of its times at a number that no calendar has."""
    for model, page in admin.site._registry.items():
        address = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist")
        for name in (field.name for field in model._meta.concrete_fields if isinstance(field, DateField)):
            yield from (f"{address}?{name}__year={year}" for year in ("0", "99999", "9" * 30, "9" * 5_000))
            yield from (f"{address}?{name}__year=2026&{name}__month={month}" for month in ("13", "9" * 30))


def test_a_list_of_the_admin_refuses_a_time_that_no_calendar_has_and_what_sqlite_cannot_do():
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    operator.raise_request_exception = False
    addresses = [*odd_filters(), "/admin/audit/auditevent/?before__contains=1"]
    answers = {address[:90]: operator.get(address).status_code for address in addresses}
    assert len(answers) > 100
    assert {address: status for address, status in answers.items() if status not in (200, 302)} == {}


@pytest.mark.parametrize(
    "lookup", ["title__regex=^(a%2B)%2B$", "title__iregex=a", "website__host__regex=a", "id__range=1"]
)
def test_a_list_of_the_admin_refuses_regular_expressions_and_ranges(lookup):
    make_finding(make_website(), title=f"{'a' * 18}!")
    analyst = sign_in(make_user("analyst", is_staff=True))
    analyst.raise_request_exception = False
    User.objects.get(username="analyst").groups.add(Group.objects.get(name="Analysts"))
    assert analyst.get("/admin/dashboard_api/finding/?queue=all").status_code == 200
    assert analyst.get(f"/admin/dashboard_api/finding/?queue=all&{lookup}").status_code == 400


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("config/run/?interval__gt=1", 400),
        ("portal/account/?sealed_secret__startswith=a", 400),
        ("dashboard_api/secret/?sealed__gt=a", 400),
        ("mfa/authenticator/?data__secret__startswith=a", 400),
        ("portal/sharelink/?token_hash__startswith=a", 400),
        ("portal/badge/?token__startswith=a", 400),
        ("dashboard_api/ownershipclaim/?token__startswith=a", 400),
        ("auth/user/?password__startswith=md5", 400),
        ("audit/auditevent/?before__has_keys=", 400),
        ("audit/auditevent/?after__has_any_keys=", 400),
        (f"portal/badge/{'9' * 30}/change/", 302),
    ],
)
def test_addresses_of_the_admin_that_no_row_can_have_are_no_error_of_ours(address, status):
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    operator.raise_request_exception = False
    assert operator.get(f"/admin/{address}").status_code == status


@pytest.mark.parametrize("number", ["None", "x", "9" * 30])
def test_an_action_for_what_has_no_number_is_no_error_of_ours(number):
    operator = sign_in(make_user("operator", is_staff=True, is_superuser=True))
    operator.raise_request_exception = False
    for page, action in (("crawlerstop", "resume"), ("scanoptout", "end_opt_out")):
        sent = {"action": action, "_selected_action": number, "confirmed": "True", "reason": "asked"}
        assert operator.post(f"/admin/dashboard_api/{page}/", sent).status_code in (302, 400)


def test_no_form_is_filled_in_from_its_address():
    """A link that a scanner or a customer wrote could prepare one for a click on Save."""
    client = Client()
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    account = make_portal_account()
    page = client.get(f"/admin/portal/membership/add/?account={account.pk}&role=owner").content.decode()
    assert f'value="{account.pk}" selected' not in page
    group = client.get("/admin/auth/group/add/?name=prepared").content.decode()
    assert 'value="prepared"' not in group
