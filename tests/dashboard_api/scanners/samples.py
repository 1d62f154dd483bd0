"""Small reports of our own making."""

import io
import json


def make_row(**members):
    """One Nuclei result; a member that is None is left out. Underscores stand for hyphens."""
    row = {
        "template-id": "exposed-panel",
        "info": {"name": "Exposed panel", "severity": "high"},
        "type": "http",
        "host": "https://shop.example.com",
        "matched-at": "https://shop.example.com/admin",
        "timestamp": "2026-03-01T10:00:00.123456789+02:00",
        "matcher-status": True,
    }
    row |= {name.replace("_", "-"): value for name, value in members.items()}
    return without_none(row)


def json_lines(*rows):
    """The rows as JSON lines; a row that is bytes stands as it is."""
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows) + b"\n"


def read_whole(reader, data):
    """The report that the format's ``reader`` makes of ``data``, with all its rows."""
    return reader.read(io.BytesIO(data)).whole()


def make_zap_alert(**members):
    """One alert of ZAP's traditional JSON report with one instance; a member that is None is left out."""
    instance = {
        "uri": "https://shop.example.com/a?q=1",
        "method": "GET",
        "param": "",
        "attack": "",
        "evidence": "default-src *",
        "otherinfo": "",
    }
    alert = {
        "pluginid": "10055",
        "alertRef": "10055-4",
        "alert": "CSP: Wildcard Directive",
        "name": "CSP: Wildcard Directive",
        "riskcode": "2",
        "confidence": "3",
        "riskdesc": "Medium (High)",
        "desc": "<p>A policy that allows everything.</p>",
        "instances": [instance],
        "count": "1",
        "solution": "<p>Name the sources.</p>",
        "otherinfo": "",
        "reference": "<p>https://www.w3.org/TR/CSP/</p>",
        "cweid": "693",
        "wascid": "15",
    }
    return without_none(alert | members)


def make_zap_report(*alerts, **members):
    """ZAP's traditional JSON report of one site."""
    report = {
        "@programName": "ZAP",
        "@version": "2.16.1",
        "@generated": "Sun, 1 Mar 2026 10:00:00",
        "created": "2026-03-01T10:00:00.123456789Z",
        "site": [
            {
                "@name": "https://shop.example.com",
                "@host": "shop.example.com",
                "@port": "443",
                "@ssl": "true",
                "alerts": list(alerts),
            }
        ],
    }
    return report | members


def without_none(members):
    """The members that are something."""
    return {name: value for name, value in members.items() if value is not None}


def make_result(**members):
    """One SARIF result of the rule that make_sarif defines; a member that is None is left out."""
    result = {
        "ruleId": "open-redirect",
        "level": "error",
        "message": {"text": "The address is not checked. Anyone may choose it."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "https://shop.example.com/go?to=x"},
                    "region": {"startLine": 7, "snippet": {"text": "Location: x"}},
                }
            }
        ],
    }
    return without_none(result | members)


def make_sarif(*results, rule=None, **members):
    """A SARIF file of one run, whose ``members`` may be said; ``rule`` are further properties of its rule."""
    known = {"id": "open-redirect", "shortDescription": {"text": "Open redirect"}} | (rule or {})
    driver = {"name": "Code Scanner", "semanticVersion": "2.1.0", "rules": [known]}
    run = {"tool": {"driver": driver}, "results": list(results)} | members
    return {"version": "2.1.0", "runs": [run]}


SAMPLES = {
    "nuclei": json_lines(make_row(), make_row(template_id="tls-version", matcher_status=False)),
    "zap": json.dumps(
        make_zap_report(make_zap_alert(), make_zap_alert(alertRef="10055-5", confidence="0"))
    ).encode(),
    "sarif": json.dumps(make_sarif(make_result(), make_result(ruleId="other", kind="pass"))).encode(),
}
