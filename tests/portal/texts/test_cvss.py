"""CVSS, as a number and a vector."""

import pytest

from portal.texts.cvss import find_cvss


@pytest.mark.parametrize(
    ("text", "score", "vector"),
    [
        (
            "CVSS score: 9.8\nCVSS vector: CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
            "9.8",
            "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        ),
        (
            "CVSS: CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N",
            "6.1",
            "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N",
        ),
        (
            "CVSS: CVSS:3.0/AV:N/AC:H/PR:L/UI:N/S:U/C:N/I:N/A:N",
            "0.0",
            "CVSS:3.0/AV:N/AC:H/PR:L/UI:N/S:U/C:N/I:N/A:N",
        ),
        (
            "CVSS: CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:C/C:H/I:H/A:H",
            "9.1",
            "CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:C/C:H/I:H/A:H",
        ),
        ("CVSS: CVSS:3.1/AV:N/AC:L", "", "CVSS:3.1/AV:N/AC:L"),
        ("CVSS: AV:N/AC:L/Au:N/C:P/I:P/A:P", "", "AV:N/AC:L/Au:N/C:P/I:P/A:P"),
        ("CVSS: 7.5", "7.5", ""),
        (
            "CVSS: 5.3 CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N",
            "5.3",
            "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N",
        ),
    ],
)
def test_a_rating_is_a_number_and_a_vector(text, score, vector):
    found = find_cvss(f"Words before.\n\n{text}\n\nwords after")
    assert (found.score, found.vector) == (score, vector)


def test_other_texts_have_no_rating():
    assert find_cvss("CVSS is a scale. 9.8 is a number.") is None


def test_a_vector_leads_to_its_explanation():
    vector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N"
    assert find_cvss(vector).url == f"https://www.first.org/cvss/calculator/3.1#{vector}"
    assert find_cvss("CVSS: 7.5").url == ""
