import base64
import hashlib
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.template import TemplateSyntaxError

from foundation.pages.integrity import integrity


def sha384(data):
    return "sha384-" + base64.b64encode(hashlib.sha384(data).digest()).decode()


def found(path):
    return Path(finders.find(path)).read_bytes()


def test_the_integrity_is_that_of_the_file():
    assert integrity("portal/portal.css") == sha384(found("portal/portal.css"))


def test_a_file_that_does_not_exist_is_a_mistake_of_the_template():
    with pytest.raises(TemplateSyntaxError, match=r"no/such\.js"):
        integrity("no/such.js")


@pytest.fixture
def collected(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"}
    }
    call_command("collectstatic", verbosity=0)
    return tmp_path


def test_collected_files_are_measured_as_they_are_served(collected):
    served = collected / staticfiles_storage.stored_name("admin/css/base.css")
    assert served.read_bytes() != found("admin/css/base.css"), "its addresses are rewritten"
    assert integrity("admin/css/base.css") == sha384(served.read_bytes())


def test_a_changed_file_is_measured_again(settings, tmp_path):
    settings.STATICFILES_DIRS = [tmp_path]
    finders.get_finder.cache_clear()
    script = tmp_path / "own.js"
    for text in (b"one", b"other"):
        script.write_bytes(text)
        assert integrity("own.js") == sha384(text)
    finders.get_finder.cache_clear()
