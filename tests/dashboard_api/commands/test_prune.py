from datetime import timedelta

import pytest
from django.core.management.base import CommandError
from django.utils import timezone

from dashboard_api.models import Nonce
from tests.dashboard_api.commands.running import run, run_json

pytestmark = pytest.mark.django_db


@pytest.fixture
def nonces():
    now = timezone.now()
    for number in range(5):
        Nonce.objects.claim(1, f"expired-{number}", expires_at=now - timedelta(minutes=1))
    Nonce.objects.claim(1, "still-needed", expires_at=now + timedelta(minutes=1))


def test_prune_forgets_all_expired_nonces_in_batches(nonces):
    assert run("prune", "--batch", "2") == "Forgot 5 expired nonces.\n"
    assert Nonce.objects.get().nonce == "still-needed"


def test_prune_tells_scripts_how_many(nonces):
    assert run_json("prune") == {"nonces": 5}
    assert run_json("prune") == {"nonces": 0}


@pytest.mark.parametrize("batch", ["0", "-1", "many"])
def test_prune_needs_a_batch_of_some_size(nonces, batch):
    with pytest.raises(CommandError, match="is not a whole number from 1"):
        run("prune", f"--batch={batch}")
    assert Nonce.objects.count() == 6
