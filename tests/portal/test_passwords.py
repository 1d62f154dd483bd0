"""Forms for choosing a password have our labels, with the rules that apply."""

import pytest
from django.conf import settings

from config.identity.passwords import ChangePasswordForm, ResetPasswordKeyForm
from portal.pages.forms import PASSWORD_LABELS, PASSWORD_RULES
from portal.team.forms import JoinForm


@pytest.mark.parametrize("form", [ChangePasswordForm, ResetPasswordKeyForm, JoinForm])
def test_a_password_is_chosen_in_our_words(form):
    fields = form().fields
    assert {"password1", "password2"} <= fields.keys()
    for name in fields.keys() & PASSWORD_LABELS.keys():
        assert fields[name].label == PASSWORD_LABELS[name]
        assert "placeholder" not in fields[name].widget.attrs
    assert [fields["password1"].help_text, fields["password2"].help_text] == [PASSWORD_RULES, ""]


def test_the_rules_are_those_that_are_checked():
    by_name = {rule["NAME"].rpartition(".")[2]: rule for rule in settings.AUTH_PASSWORD_VALIDATORS}
    assert by_name["MinimumLengthValidator"]["OPTIONS"]["min_length"] == 12
    assert "12" in PASSWORD_RULES
    assert by_name.keys() - {"MinimumLengthValidator"} == {
        "UserAttributeSimilarityValidator",
        "CommonPasswordValidator",
    }
