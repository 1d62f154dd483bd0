"""The time of a scan: by every way in and in every format, an old report never counts as a new one."""

import json
from datetime import UTC, datetime

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from dashboard_api.importing.service import RefusedReport
from dashboard_api.models import Finding, ImportRun
from tests.commands import run
from tests.dashboard_api.api.reports import make_token, run_here, send
from tests.dashboard_api.importing.inbox_folder import HOST, import_all, output_of_refusal, write
from tests.dashboard_api.importing.reports import import_bytes
from tests.dashboard_api.scanners.samples import (
    FORMATS,
    SCAN,
    json_lines,
    make_acunetix,
    make_acunetix_item,
    make_acunetix_scan,
    make_burp,
    make_finding_line,
    make_invicti,
    make_invicti_row,
    make_issue,
    make_qualys,
    make_qualys_row,
    make_result,
    make_row,
    make_sarif,
    make_wapiti,
    make_wapiti_entry,
    make_zap_alert,
    make_zap_report,
)
from tests.factories import make_link, make_user, make_website

pytestmark = pytest.mark.django_db
MARCH = datetime(2026, 3, 20, 10, tzinfo=UTC)
REQUEST = "The time of the scan is not clear: the report says {}. Say with scanned_at when it ended."


def unclear(name):
    sample, (text, other) = FORMATS[name].sample, FORMATS[name].time
    assert text in sample
    return sample.replace(text, other)


@pytest.mark.parametrize("name", [name for name, entry in FORMATS.items() if entry.time])
def test_a_time_that_is_not_understood_is_asked_for_and_is_not_now(name):
    website, data = make_website(), unclear(name)
    options = {"complete": True, "base_url": f"https://{HOST}/"}
    with pytest.raises(RefusedReport) as refusal:
        import_bytes(data, website, modified_at=timezone.now(), **options)
    assert str(refusal.value) == f"{REQUEST.format('soon')} Nothing was changed."
    assert not Finding.objects.exists()
    assert import_bytes(data, website, scanned_at=MARCH, **options).scanned_at == MARCH


def test_a_time_in_the_head_of_testssl_is_asked_for():
    pretty = {"Invocation": f"testssl {HOST}", "startTime": "soon", "scanTime": "9", "scanResult": []}
    with pytest.raises(RefusedReport, match="the report says soon"):
        import_bytes(json.dumps(pretty).encode(), make_website(), complete=True)


def test_one_row_with_a_time_is_enough():
    data = json_lines(make_row(timestamp="soon"), make_row(template_id="other"))
    assert import_bytes(data, make_website()).scanned_at == datetime(2026, 3, 1, 8, 0, 0, 123456, tzinfo=UTC)


def test_a_result_whose_detection_has_no_clear_time_is_not_of_now():
    result = make_result(provenance={"lastDetectionTimeUtc": "soon"})
    data = json.dumps(make_sarif(result)).encode()
    with pytest.raises(RefusedReport, match="the report says soon"):
        import_bytes(data, make_website(), base_url=f"https://{HOST}/")


def test_a_time_out_of_range_in_our_own_lines_is_refused():
    scan = json_lines(SCAN | {"scanned_at": "0001-01-01T00:00:00Z"}, make_finding_line())
    with pytest.raises(RefusedReport, match="it has a time that is out of range"):
        import_bytes(scan, make_website())


def of_burp(exported, *others):
    return make_burp(make_issue(), *others, exported=exported)


def of_invicti(at, *others):
    document = make_invicti(make_invicti_row(Severity="Low"), *others, Initiated=at)
    return json.dumps(document | {"Generated": at}).encode()


def of_acunetix(at, *others):
    scan = make_acunetix_scan(make_acunetix_item(), *others, FinishTime=at)
    return make_acunetix(scan).replace(b"13/03/2026, 11:00:00", at.encode())


def of_wapiti(at, *others):
    document = make_wapiti(make_wapiti_entry(), date=at)
    return json.dumps(document | {"anomalies": {"Server Error": list(others)}}).encode()


def of_zap(at, *others):
    return json.dumps(make_zap_report(make_zap_alert(), *others, created="", **{"@generated": at})).encode()


def of_qualys(at, *others):
    data = make_qualys(make_qualys_row(), *others, SEVERITY="4")
    return data.replace(b"END_DATE", b"NO_DATE").replace(b"02 Mar 2026 10:00AM GMT+0000", at.encode())


REPORTS_AT = {
    "burp": (of_burp, "Fri Mar 20 10:00:00 UTC 2026", make_issue(type="2097920", severity="High")),
    "invicti": (of_invicti, "03/20/2026 10:00 AM", make_invicti_row(Type="Xss")),
    "acunetix": (of_acunetix, "20/03/2026, 10:00:00", make_acunetix_item(Name="XSS", Severity="high")),
    "wapiti": (of_wapiti, "Fri, 20 Mar 2026 10:00:00 +0000", make_wapiti_entry(path="/s", level=3)),
    "zap": (of_zap, "Fri, 20 Mar 2026 10:00:00", make_zap_alert(alertRef="40012", riskcode="3")),
    "qualys": (of_qualys, "20 Mar 2026 10:00AM GMT+0000", make_qualys_row(QID="150001")),
}


@pytest.mark.parametrize(
    ("name", "old", "date"),
    [
        ("burp", "Fri Apr 30 11:45:49 IST 2021", "2021-04-30"),
        ("burp", "Fri Apr 30 11:45:49 AEST 2021", "2021-04-30"),
        ("burp", "Fri Apr 30 11:45:49 WIB 2021", "2021-04-30"),
        ("burp", "30.04.21", ""),
        ("invicti", "2024-01-26 05:18 PM", "2024-01-26"),
        ("invicti", "20-1-2014 14:16:42", "2014-01-20"),
        ("invicti", "02/03/2024 05:18 PM", ""),
        ("acunetix", "12/25/2023, 10:00:00", "2023-12-25"),
        ("acunetix", "02/03/2024, 10:00:00", ""),
        ("wapiti", "2020-03-28 07:50:00", "2020-03-28"),
        ("zap", "Mo, 2 März 2020 10:00:00", ""),
        ("qualys", "2020-03-19T20:35:01Z", "2020-03-19"),
    ],
)
def test_an_old_report_fixes_nothing_of_a_newer_one(name, old, date):
    website, (make, new, high) = make_website(), REPORTS_AT[name]
    import_bytes(make(new, high), website, complete=True)
    findings = list(Finding.objects.order_by("pk").values_list("rule", "status", "severity"))
    assert len(findings) == 2
    if date:
        result = import_bytes(make(old), website, complete=True)
        assert (f"{result.scanned_at:%Y-%m-%d}", result.fixed) == (date, 0)
    else:
        with pytest.raises(RefusedReport) as refusal:
            import_bytes(make(old), website, complete=True)
        assert str(refusal.value).startswith(REQUEST.format(old))
    assert list(Finding.objects.order_by("pk").values_list("rule", "status", "severity")) == findings


UNCLEAR = of_zap("Mo, 2 März 2020 10:00:00")
ASKED = REQUEST.format("Mo, 2 März 2020 10:00:00")


def test_the_command_asks_for_the_time_and_takes_it(tmp_path):
    make_website()
    file = tmp_path / "zap.json"
    file.write_bytes(UNCLEAR)
    with pytest.raises(CommandError) as error:
        run("import_report", str(file), "--host", HOST, "--complete")
    assert str(error.value) == f"{ASKED} Nothing was changed."
    output = run("import_report", str(file), "--host", HOST, "--complete", "--scanned-at", "2020-03-02")
    assert "scanned 2020-03-02 00:00 UTC: ok." in output


def test_the_inbox_asks_for_the_time_and_takes_it_from_the_sidecar(tmp_path):
    make_website()
    file = tmp_path / HOST / "zap.json"
    file.parent.mkdir()
    write(file, UNCLEAR)
    write(file.with_name("zap.json.toml"), b"complete = true")
    assert ASKED in output_of_refusal(tmp_path)
    assert ASKED in (tmp_path / HOST / "failed" / "zap.json.why.txt").read_text()
    assert not ImportRun.objects.exists()
    write(file, UNCLEAR)
    write(file.with_name("zap.json.toml"), b"complete = true\nscanned_at = 2020-03-02")
    assert "scanned 2020-03-02 00:00 UTC: ok." in import_all(tmp_path)


def test_an_upload_asks_for_the_time_and_takes_it(client):
    website = make_website()
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))

    def upload(**options):
        report = SimpleUploadedFile("zap.json", UNCLEAR)
        fields = {"report": report, "format_name": "auto", "complete": "on"} | options
        path = reverse("admin:dashboard_api_website_import", args=[website.pk])
        return client.post(path, fields, follow=True)

    assert ASKED in upload().text
    page = upload(scanned_at_0="2020-03-02", scanned_at_1="10:00", scanned_at="2020-03-02 10:00")
    assert "scanned 2020-03-02 10:00 UTC: ok." in page.text


def test_a_sent_report_is_asked_for_its_time_and_takes_it(client, settings, tmp_path, monkeypatch):
    settings.REPORTS_FOLDER = tmp_path / "reports"
    run_here(monkeypatch)
    _, token = make_token(make_link())
    response = send(client, token, UNCLEAR, complete="true")
    assert response.status_code == 422
    assert response.json()["error"]["message"] == f"{ASKED} Nothing was changed."
    answer = send(client, token, UNCLEAR, complete="true", scanned_at="2020-03-02T10:00:00Z").json()
    assert answer["reports"][0]["scanned_at"] == "2020-03-02T10:00:00Z"
