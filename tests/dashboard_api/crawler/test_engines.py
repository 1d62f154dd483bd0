"""Engines as data."""

from pathlib import Path

import pytest
from django.conf import settings

from dashboard_api.crawler.engines import WrongEngines, read_engines
from dashboard_api.scanners import READERS


def test_the_file_of_the_product_has_engines_whose_reports_are_read():
    engines = read_engines(Path(settings.BASE_DIR) / "deploy" / "engines.toml")
    assert [engine.name for engine in engines] == ["essentials", "sslyze", "testssl"]
    assert {engine.format for engine in engines} <= READERS.keys()
    words = engines[1].arguments(host="shop.example.com", address="192.0.2.10", report=Path("/tmp/report"))
    assert words[-2:] == ["--json_out=/tmp/report", "shop.example.com:443{192.0.2.10}"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("engine = 1", "Expected `array`"),
        ("[[engine]", "Expected"),
        ('[[engine]]\nname = "x"\ncommand = ["x", "$report"]', r"must have \$address and \$report"),
        ('[[engine]]\nname = "x"\ncommand = ["x", "$report", "$address", "$hots"]', "has a wrong"),
        ('[[engine]]\nname = "x"\ncommand = ["x"]\nsecond = 1', "unknown field"),
    ],
)
def test_a_wrong_file_is_refused_with_a_reason(tmp_path, text, why):
    file = tmp_path / "engines.toml"
    file.write_text(text)
    with pytest.raises(WrongEngines, match=why):
        read_engines(file)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(WrongEngines, match="No such file"):
        read_engines(tmp_path / "engines.toml")
