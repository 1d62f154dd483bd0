import pytest
from django.core.management.base import CommandError

from dashboard_api.models import Entitlement, Plan
from tests.commands import run, run_json
from tests.factories import make_account, make_plan

pytestmark = pytest.mark.django_db


def test_a_plan_is_made_changed_and_its_accounts_moved():
    made = run_json("set_plan", "team", "--name", "Team", "--limit", "websites=20", "--limit", "seats=3")
    assert made["plan"]["limits"]["seats"] == 3
    make_account()
    run("set_entitlement", "acct_0001", "--plan", "team")
    output = run("set_plan", "team", "--limit", "seats=none", "--name-de", "Gruppe")
    assert output == "team, revision 2. 1 accounts keep earlier revisions.\n"
    with pytest.raises(CommandError, match="--reason"):
        run("set_plan", "team", "--move")
    assert run_json("set_plan", "team", "--move", "--reason", "New prices")["moved"] == 1
    assert Entitlement.objects.get().seats is None
    assert run_json("set_plan", "team")["changed"] is False


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["team"], "English name"),
        (["team", "--name", "Team", "--limit", "colour=1"], "limits"),
        (["team", "--name", "Team", "--limit", "seats"], "is not a limit such as"),
        (["team", "--name", "Team", "--limit", "history_days=90"], "There is no limit history_days"),
        (["A team", "--name", "Team"], "slug"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(arguments, refusal):
    with pytest.raises(CommandError, match=refusal):
        run("set_plan", *arguments)
    assert not Plan.objects.exists()


def test_a_limit_is_overridden_and_holds_again():
    make_account()
    make_plan()
    run("set_entitlement", "acct_0001", "--plan", "team")
    answer = run_json("override_limit", "acct_0001", "seats=9", "--until", "2999-01-01", "--reason", "Audit")
    assert (answer["limits"]["seats"], answer["changed"]) == (9, True)
    answer = run_json("override_limit", "acct_0001", "--end", "seats", "--reason", "Done")
    assert answer["limits"]["seats"] == 3
    with pytest.raises(CommandError, match="or --end"):
        run("override_limit", "acct_0001", "--reason", "Nothing")
