"""Files for integrators, who do not have the repository."""

import io
import os
import subprocess
import sys
from zipfile import ZipFile

import pytest
from django.conf import settings

from dashboard_api.api import downloads

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def archive(client, name):
    response = client.get(f"/v1/clients/{name}")
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    return ZipFile(io.BytesIO(response.content))


def test_the_wheels_of_the_service_hold_their_files(client, tmp_path):
    for name in downloads.WHEELS:
        wheel = archive(client, name)
        record = wheel.read(next(each for each in wheel.namelist() if each.endswith("/RECORD"))).decode()
        assert [line.partition(",")[0] for line in record.splitlines()] == wheel.namelist()
        wheel.extractall(tmp_path)
    code = "import es1, signed_api.client; print(es1.__file__, signed_api.client.__file__)"
    environ = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.split() == [f"{tmp_path}/es1/__init__.py", f"{tmp_path}/signed_api/client.py"]


def test_the_collection_has_every_request_and_no_secret(client, settings, tmp_path):
    names = set(archive(client, "bruno.zip").namelist())
    assert {
        "bruno/bruno.json",
        "bruno/Dashboard.bru",
        "bruno/.env.example",
        "bruno/environments/Demo.bru",
    } <= names
    settings.BASE_DIR = tmp_path
    collection = tmp_path / "docs/samples/bruno"
    (collection / "build").mkdir(parents=True)
    for name in (".env", "A.bru", "a.pyc", "build/b.bru"):
        (collection / name).write_text("es1_live_secret")
    assert archive(client, "bruno.zip").namelist() == ["bruno/A.bru"]


def test_the_guide_is_the_one_of_this_version(client):
    response = client.get("/v1/clients/integrating.md")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content == (settings.BASE_DIR / "docs/integrating.md").read_bytes()


@pytest.mark.parametrize("name", ["es1", "es2.zip", "..", ".env", "operating.md"])
def test_other_files_are_not_found(client, name):
    assert client.get(f"/v1/clients/{name}").status_code == 404


@pytest.mark.parametrize("name", ["bruno.zip", "integrating.md"])
def test_a_deployment_without_documents_lacks_their_files(client, settings, tmp_path, name):
    settings.BASE_DIR = tmp_path
    response = client.get(f"/v1/clients/{name}")
    assert response.json()["error"]["code"] == "not_found"


def test_the_page_links_every_file(client):
    page = client.get("/v1/docs").text
    for name in (downloads.GUIDE, "bruno.zip", *downloads.WHEELS):
        assert f'href="/v1/clients/{name}"' in page
