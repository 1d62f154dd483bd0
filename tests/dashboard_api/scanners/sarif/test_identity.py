import pytest

from dashboard_api.scanners.sarif.identity import identities_of

OLD = {"x": "1", "y": "2"}


@pytest.mark.parametrize(
    ("result", "identity"),
    [
        ({}, "rule"),
        ({"fingerprints": {"hash/v2": "b", "hash/v1": "a"}}, "a"),
        ({"fingerprints": {"h": "a"}, "partialFingerprints": {"primaryLocationLineHash": "c"}}, "a"),
        ({"partialFingerprints": {"x": "1", "primaryLocationLineHash": "c:1"}}, "c:1"),
        ({"partialFingerprints": {"y": "2", "x": "1"}}, "x=1 y=2"),
        ({"fingerprints": {"h": "requires login"}}, "rule"),
        ({"fingerprints": {"h": {"value": "a"}}}, '{"value": "a"}'),
        ({"fingerprints": {"h": " "}, "partialFingerprints": []}, "rule"),
    ],
)
def test_fingerprints_of_the_tool_win(result, identity):
    assert identities_of(result, "rule")[0] == identity


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"fingerprints": {"h": "a"}}),
        ({}, {"partialFingerprints": OLD}),
        ({"partialFingerprints": OLD}, {"partialFingerprints": OLD, "fingerprints": {"h": "a"}}),
        ({"partialFingerprints": OLD}, {"partialFingerprints": OLD | {"a": "0"}}),
        ({"partialFingerprints": OLD}, {"partialFingerprints": OLD | {"primaryLocationLineHash": "c"}}),
        ({"partialFingerprints": {"x": "1"}}, {"partialFingerprints": dict.fromkeys("abcdefx", "1")}),
        ({"fingerprints": {"hash/v1": "a"}}, {"fingerprints": {"hash/v1": "a", "better/v1": "b"}}),
        ({"fingerprints": {"h": "requires login"}}, {"fingerprints": {"h": "a"}}),
    ],
)
def test_result_that_gains_fingerprints_keeps_its_old_identity_among_its_forms(before, after):
    assert identities_of(before, "rule")[0] in identities_of(after, "rule")[1:]


def test_forms_stay_few_however_many_fingerprints_there_are():
    many = {str(number): str(number) for number in range(1_000)}
    assert len(identities_of({"fingerprints": many}, "rule")) == 11
    assert len(identities_of({"partialFingerprints": many}, "rule")) <= 1_002
