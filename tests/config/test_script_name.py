import pytest


@pytest.mark.parametrize("path", ["/v1/docs", "/accounts/login/"])
def test_a_path_below_another_one_is_refused(client, path):
    assert client.get(path, SCRIPT_NAME="/x").status_code == 400
