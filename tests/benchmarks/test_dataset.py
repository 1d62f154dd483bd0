from datetime import UTC, datetime
from itertools import islice

from benchmarks import dataset

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_sizes_are_those_of_the_measured_websites_and_add_up():
    sizes = dataset.sizes(1)
    assert sizes[:5] == [50, 500, 5_000, 20_000, 100_000]
    assert len(sizes) == dataset.WEBSITES
    assert 0.999 < sum(sizes) / dataset.FINDINGS <= 1


def test_at_a_smaller_scale_large_websites_leave_room_for_others():
    assert [dataset.measured_size(website, 0.01) for website in dataset.MEASURED] == [
        50,
        500,
        2_500,
        2_500,
        2_500,
    ]


def test_rows_are_the_same_each_time_and_oldest_first():
    once, again = (list(islice(dataset.rows(0.001, now=NOW), 500)) for _ in range(2))
    assert once == again
    assert once == sorted(once, key=lambda row: row.first_seen)
    assert len({row.fingerprint for row in once}) == 500


def test_rows_interleave_the_websites():
    websites = [row.website for row in dataset.rows(0.001, now=NOW)]
    assert len(set(websites[:100])) > 10
    assert websites.count(dataset.LARGEST) == 250


def test_rows_hold_the_searched_words_as_often_as_declared():
    descriptions = [row.description.split() for row in dataset.rows(0.01, now=NOW)]
    assert 0.24 < sum(dataset.COMMON in words for words in descriptions) / len(descriptions) < 0.26
    assert 0.008 < sum(dataset.MEDIUM in words for words in descriptions) / len(descriptions) < 0.012


def test_rows_obey_the_rules_of_the_findings_table():
    for row in dataset.rows(0.001, now=NOW):
        assert row.first_seen <= row.last_seen <= NOW
        assert (row.status == "fixed") == (row.fixed_at is not None)
        assert len(row.title) <= 500
