"""The page that explains grades says what the service does."""

import re

import pytest
from django.urls import reverse

from dashboard_api.reading.grading import LETTERS, RANGES, score


@pytest.mark.django_db
def test_visitors_read_the_ranges_that_the_service_uses(client):
    page = client.get(reverse("portal:grading"))
    rows = re.findall(r'<th scope="row">(\w)</th>.*<td>([\d–]+)</td></tr>', page.text)
    ranges = [f"{low}–{high}" if low < high else f"{high}" for low, high in RANGES]
    assert page.status_code == 200
    assert rows == list(zip(LETTERS, ranges, strict=True))


def test_the_parts_of_a_range_are_the_ones_that_the_page_names():
    one, nine, hundred = (score([0, 0, 0, 0, count]) / 25 for count in (1, 9, 100))
    assert (round(one, 2), nine, round(hundred, 2)) == (0.77, 0.5, 0.33)
