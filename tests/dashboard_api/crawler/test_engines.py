"""Engines as data."""

from pathlib import Path

import pytest
from django.conf import settings

from dashboard_api.crawler.engines import WrongEngines, read_engines
from dashboard_api.scanners import READERS


def test_the_file_of_the_product_has_engines_whose_reports_are_read():
    engines = read_engines(Path(settings.BASE_DIR) / "deploy" / "engines.toml")
    names = ["essentials", "dns", "scripts", "sslyze", "exposed-files", "wapiti-passive", "testssl"]
    names += ["wapiti-attacks"]
    assert [engine.name for engine in engines] == names
    assert {engine.format for engine in engines} <= READERS.keys()
    assert engines[3].complete  # SSLyze's own choice of commands, of which it does not say that it is whole
    words = engines[3].arguments(host="shop.example.com", address="192.0.2.10", report=Path("/tmp/report"))
    assert words[1:3] == ["--json_out=/tmp/report", "--https_tunnel=http://"]
    assert words[-1] == "shop.example.com:443"


def test_wapiti_has_only_our_proxy_and_sends_nothing_to_others():
    engines = read_engines(Path(settings.BASE_DIR) / "deploy" / "engines.toml")
    passive, attacks = (engine for engine in engines if engine.reports_as == "wapiti")
    assert (passive.profile, attacks.profile) == ("standard", "deep")
    assert passive.category != attacks.category  # neither fixes what only the other one looks for
    for engine in (passive, attacks):
        words = engine.arguments(
            host="a.example.com",
            address="192.0.2.10",
            report=Path("/tmp/report"),
            agent="agent",
            url="https://a.example.com/",
            proxy="http://127.0.0.1:8/",
        )
        assert words[:6] == ["-u", "https://a.example.com/", "-p", "http://127.0.0.1:8/", "-A", "agent"]
        assert "--no-bugreport" in words
        assert "Max scan time was reached" in engine.complete_unless  # by wapiti itself, which ends with 0
        assert "Unable to find a module named" in engine.complete_unless  # after an update of Wapiti
        modules = set(words[words.index("-m") + 1].split(","))
        assert not modules & {
            "ssrf",
            "xxe",
            "log4shell",
            "wapp",
            "cms",
            "wp_enum",
            "ssl",
            "takeover",
            "upload",
        }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("engine = 1", "Expected `array`"),
        ("[[engine]", "Expected"),
        (
            '[[engine]]\nname = "x"\ncommand = ["x", "$report"]',
            r"must have \$report, and either \$proxy or \$tunnel",
        ),
        ('[[engine]]\nname = "x"\ncommand = ["x", "$report", "$address"]', "no network of their own"),
        ('[[engine]]\nname = "x"\ncommand = ["x", "$report", "$tunnel"]\nreads = ["etc"]', "reads"),
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


def test_only_the_engine_of_scripts_reads_the_file_of_retirejs(settings):
    settings.RETIREJS_FILE = "/etc/retire.json"
    engines = read_engines(Path(settings.BASE_DIR) / "deploy" / "engines.toml")
    assert [engine.name for engine in engines if "/etc/retire.json" in engine.files] == ["scripts"]
