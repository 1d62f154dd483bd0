"""Places of a process: as many as there are, and never the last one for an account that has others."""

from foundation.places import Places


def test_an_account_never_holds_the_last_place():
    places = Places(3)
    assert [places.take(1) for _ in range(3)] == [True, True, False]
    assert places.take(2)
    assert not places.take(3), "all are held"


def test_a_place_that_is_given_back_is_free_again():
    places = Places(2)
    for account in (1, 1, 2):
        assert places.take(account)
        places.give_back(account)
    assert places.take(1)
    assert places.take(2)
    assert not places.take(3)
