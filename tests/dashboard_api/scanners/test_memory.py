"""The memory that reading a report takes, in bytes for each byte of the report.

64 MB are the most that a document may have: at three bytes for each, an import stays below 300 MB.
"""

import io
import json
import tracemalloc

import pytest

from dashboard_api import limits
from dashboard_api.scanners import json_values, read_report
from dashboard_api.scanners.report import UnreadableReport
from tests.dashboard_api.scanners.samples import (
    SAMPLES,
    make_entry,
    make_item,
    make_nikto,
    make_observatory,
    make_qualys,
    make_qualys_row,
    make_result,
    make_row,
    make_sarif,
    make_test,
    make_wapiti,
    make_wapiti_entry,
    make_zap_alert,
    make_zap_report,
)
from tests.dashboard_api.scanners.test_zap import as_xml

pytestmark = pytest.mark.once

LENGTH = 4 * 1024**2
ROW = "@row@"
(INSTANCE, *_) = make_zap_alert()["instances"]

# A report with one row missing, and that row.
DOCUMENTS = {
    "nuclei": ([ROW], make_row()),
    "zap": (make_zap_report(make_zap_alert(instances=[ROW])), INSTANCE),
    "sarif": (make_sarif(ROW), make_result(message={"text": "long " * 200})),
    "wapiti": (make_wapiti(ROW), make_wapiti_entry()),
    "nikto": (make_nikto(ROW), make_item()),
}


def repeated(document, placeholder, row, *, length=LENGTH):
    """Return the document with enough copies of the row in place of the placeholder."""
    start, end = document.split(placeholder)
    return b"".join([start, row * (length // len(row)), row.rstrip(b","), end])


def peak_at_first_row(data):
    """Return the peak memory in bytes up to the first row, without that of the file."""
    stream = io.BytesIO(data)
    tracemalloc.start()
    try:
        assert next(iter(read_report(stream)))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_takes_three_times_its_size_at_most(monkeypatch, name):
    # The documents of this test are that much smaller than those of life.
    monkeypatch.setattr(limits, "MAX_LINE_BYTES", limits.MAX_LINE_BYTES // 16)
    monkeypatch.setattr(json_values, "_AT_ONCE", json_values._AT_ONCE // 16)
    document, row = (json.dumps(each).encode() for each in DOCUMENTS[name])
    data = repeated(document, json.dumps(ROW).encode(), row + b",")
    assert peak_at_first_row(data) < 3 * len(data)


def test_xml_takes_three_times_its_size_at_most():
    row = b"<instance><uri>https://shop.example.com/a</uri><evidence>x</evidence></instance>"
    document = as_xml(make_zap_report(make_zap_alert(instances=[])))
    data = repeated(document, b"</instances>", row, length=LENGTH // 2).replace(
        b"</alertitem>", b"</instances></alertitem>"
    )
    assert peak_at_first_row(data) < 3 * len(data)


def test_xml_of_qualys_takes_three_times_its_size_at_most():
    document = make_qualys(make_qualys_row(PARAM="@row@"))
    row = document[document.index(b"<VULNERABILITY>") : document.index(b"</VULNERABILITY_LIST>")]
    data = repeated(document.replace(row, b"@rows@"), b"@rows@", row, length=LENGTH // 2)
    assert peak_at_first_row(data) < 3 * len(data)


@pytest.mark.parametrize(
    "document",
    [
        [make_entry()] * 3,
        make_observatory(cookies=make_test()),
        json.loads(SAMPLES["sslyze"]),
    ],
)
def test_format_that_is_decoded_at_once_has_a_smaller_limit(monkeypatch, document):
    data = json.dumps(document).encode()
    monkeypatch.setattr(limits, "MAX_DECODED_BYTES", len(data) - 1)
    with pytest.raises(UnreadableReport, match="one document of more than 0 MB"):
        read_report(io.BytesIO(data))
