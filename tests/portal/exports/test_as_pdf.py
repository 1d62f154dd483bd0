"""The PDF: tagged, with a title, and with texts that are never markup."""

import json
import re
import zlib
from datetime import date, timedelta
from pathlib import Path

import pytest
import typst
from django.utils import translation

from portal.exports import as_pdf, typesetting
from portal.exports.as_pdf import breakable, render_pdf
from portal.exports.errors import PdfFailed
from portal.exports.report import build_report
from portal.models import Account, Website
from portal.pages.forms import Filters
from portal.pages.urls import Address
from portal.texts import topics
from signed_api.answering import AnsweredFinding
from signed_api.answers import Answer
from signed_api.findings import HistoryDay, NextGrade, Problem
from tests.portal.dashboards import NOW, make_dashboard, make_note, make_page, make_summary, make_threat
from tests.structs import build

DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")  # has letters of N'Ko
EVIL = (
    '#read("/etc/passwd") #eval("1") #image("https://example.com/x.png") '
    "*a* $x$ @ref <label> \\u{41} `c` // = - + /*"
)


def make_report(*threats, filters=None, notes=(), accepted=(), **fields):
    defaults = {"threats": list(threats) or [make_threat(1)], "analyst_notes": list(notes)}
    dashboard = make_dashboard(**defaults | fields)
    website = Website(host="shop.example.com", account=Account(ref="acct_0001", name="Example Shops"))
    address = Address(path="/sites/shop.example.com/", filters=filters or Filters())
    return build_report(
        dashboard,
        website,
        address,
        absolute=lambda path: f"https://portal.example.com{path}",
        accepted=accepted,
    )


def accepted(problem, until, **fields):
    answer = build(Answer, answer="accepted", until=until)
    return build(AnsweredFinding, **{"severity": "High", "problem": problem, "answer": answer} | fields)


def streams(pdf):
    """Return the contents of the file, with compressed streams unpacked."""
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            yield zlib.decompress(packed)
        except zlib.error:
            yield packed


def inside(pdf):
    return pdf + b"\n".join(streams(pdf))


def test_it_is_tagged_and_accessible_with_title_and_language():
    pdf = render_pdf(make_report())
    everything = inside(pdf)
    assert b"/StructTreeRoot" in everything
    assert re.search(rb"/MarkInfo\s*<<[^>]*/Marked true", everything)
    assert re.search(rb"/Lang\s*\(en\)", everything)
    assert b"Security report: shop.example.com" in everything
    assert re.search(rb"pdfuaid:part>1<", everything)
    for tag in (b"/H1", b"/H2", b"/H3", b"/Table", b"/TH", b"/P"):
        assert re.search(rb"/S\s*" + tag + rb"\b", everything), tag


def test_accepted_risks_are_listed_by_their_end_and_problem():
    first, last = date(2027, 1, 31), date(2027, 3, 3)
    risks = [
        accepted("cookie-without-secure", last),
        accepted("0123", first, title="Old form"),
        accepted("0123", first, severity="Critical", title="Old login"),
        accepted("0123", last, title="Old form"),
    ]
    report = make_report(accepted=risks, summary=make_summary(answers={"accepted": 4}))
    shown = [(risk.severity, risk.title, risk.count, risk.end) for risk in report.accepted]
    assert shown == [
        ("Critical", "Old login", "2 findings", "until 31 Jan 2027"),
        ("High", "Old form", "", "until 3 Mar 2027"),
        ("High", topics.title_of("cookie-without-secure"), "", "until 3 Mar 2027"),
    ]
    assert len(render_pdf(report)) > len(render_pdf(make_report()))


def test_texts_of_scanners_are_english_in_a_report_in_another_language():
    topic = [make_threat(number, problem="sql-injection") for number in (1, 2)]
    with translation.override("de"):
        data = as_pdf._template_data(make_report(*topic, make_threat(3)))
        everything = inside(render_pdf(make_report(*topic, make_threat(3))))
    assert (data["lang"], [part["title_lang"] for part in data["findings"]]) == ("de", ["de", "en"])
    assert re.search(rb"/Lang\s*\(de\)", everything)
    assert re.search(rb"/Lang\s*\(en\)", everything)


def test_the_first_page_has_grade_and_numbers_of_the_whole_website():
    history = [
        build(HistoryDay, NOW.date() - timedelta(days=ago), "F", count, 1)
        for ago, count in ((40, 5), (2, 10))
    ]
    summary = make_summary(next_grade=build(NextGrade, "D", 2), history=history, new_7d=1200)
    report = make_report(summary=summary, dashboard=make_page(grade="F"), filters=Filters(severity="Low"))
    data = as_pdf._template_data(report)
    assert dict(data["facts"])["Trend"] == "2 fixes away from grade D"
    numbers = {figure["name"]: figure["value"] for figure in data["figures"]}
    assert (numbers["High"], numbers["Low"], numbers["New in 7 days"]) == ("2", "0", "1,200")
    assert data["trend"][0] == [0, 50]
    assert re.search(rb"pdfuaid:part>1<", inside(render_pdf(report)))


def test_notes_keep_their_lists():
    body = "Do this:\n\n1. Update.\n2. Look again:\n   - at *forms*\n   - [here](https://example.com/)"
    everything = inside(render_pdf(make_report(notes=[make_note(body=body)])))
    for tag in (b"/L", b"/LI", b"/LBody"):
        assert re.search(rb"/S\s*" + tag + rb"\b", everything), tag


@pytest.mark.skipif(not DEJAVU.exists(), reason="needs a font (Debian: apt install fonts-dejavu-core)")
def test_the_machines_fonts_show_what_the_typesetters_own_lack():
    everything = inside(render_pdf(make_report(make_threat(title="\u07d2\u07de\u07cf"))))
    assert b"+DejaVuSans" in everything
    assert b"pdfuaid" in everything


def test_it_is_still_tagged_where_a_character_cannot_be_shown_and_says_so(monkeypatch):
    report = make_report(make_threat(title="\U00100000"))  # in no font
    everything = inside(render_pdf(report))
    assert b"/StructTreeRoot" in everything
    assert b"pdfuaid" not in everything

    data, inputs, compile_ = json.dumps(as_pdf._template_data(report)), [], typst.compile
    monkeypatch.setattr(
        typst,
        "compile",
        lambda *args, **kwargs: inputs.append(kwargs["sys_inputs"]) or compile_(*args, **kwargs),
    )
    typesetting.typeset(data)
    assert ["boxes" in each for each in inputs] == [False, False, True]


def test_no_text_of_a_finding_is_markup():
    threat = make_threat(
        title=EVIL, location=EVIL, description=EVIL, remediation=EVIL, evidence=EVIL, rule=EVIL,
        source_name=EVIL, kind=EVIL, status=EVIL, severity=EVIL, cve=[EVIL],
        references=[f"https://example.com/{EVIL}", "javascript:alert(1)", "file:///etc/passwd"],
    )  # fmt: skip
    notes = [make_note(body=EVIL, author=EVIL), make_note(body=EVIL, finding_id="1")]
    everything = inside(render_pdf(make_report(threat, notes=notes, filters=Filters(query=EVIL[:200]))))
    assert b"/URI" in everything
    for never in (b"javascript:", b"file:", b"root:"):
        assert never not in everything


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "\x00\x07\x85", "a" * 5000, "\u202e\ufeff\u200b", "\ue000", "e\u0301" * 50]
)
def test_odd_texts_make_a_pdf(text):
    threat = make_threat(title=text, location=text, description=text, remediation=text, evidence=text)
    assert render_pdf(make_report(threat)).startswith(b"%PDF-")


def test_a_pdf_has_the_beginning_of_long_evidence_and_says_so():
    long, short = (
        as_pdf._finding(make_report(make_threat(evidence="line\n" * count)).problems[0]) for count in (300, 3)
    )
    assert long["evidence"].count("line") == 20
    assert long["is_evidence_cut"]
    assert short["evidence"].count("line") == 3
    assert not short["is_evidence_cut"]


def test_a_report_without_findings_is_a_report_too():
    filters = Filters(severity="Low")
    empty = make_report(filters=filters, dashboard=make_page(total=0, page_count=0), threats=[])
    assert empty.empty_state.title == "Nothing matches these filters"
    assert render_pdf(empty).startswith(b"%PDF-")


def test_a_pdf_holds_a_hundred_findings_with_the_longest_texts():
    threats = [make_threat(n, description="long text " * 400, evidence="x" * 2048) for n in range(100)]
    assert render_pdf(make_report(*threats)).startswith(b"%PDF-")


def test_a_typesetter_that_takes_too_long_is_stopped(monkeypatch, caplog):
    monkeypatch.setattr(as_pdf, "SECONDS", 0.001)
    with pytest.raises(PdfFailed):
        render_pdf(make_report())
    assert "shop.example.com: no PDF: TimeoutExpired" in caplog.text


def test_a_report_that_is_too_large_is_not_begun(monkeypatch):
    monkeypatch.setattr(as_pdf, "MAX_BYTES", 10)
    with pytest.raises(PdfFailed):
        render_pdf(make_report())


def test_the_typesetter_knows_no_setting_of_the_portal(monkeypatch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import os, sys; sys.stdout.write('%PDF-' + ','.join(os.environ))")
    monkeypatch.setattr(as_pdf, "PROGRAM", program)
    monkeypatch.setenv("SECRET_KEY", "x")
    assert b"SECRET_KEY" not in render_pdf(make_report())


def test_long_words_can_break_and_short_ones_stay_whole():
    assert breakable("a" * 50) == "\u200b".join(["a" * 24, "a" * 24, "aa"])
    assert breakable("short words\nstay") == "short words\nstay"


def test_it_begins_with_what_to_do_first():
    problem = build(
        Problem,
        id="0" * 16,
        title="SQL injection",
        severity="Critical",
        findings=34,
        worst_findings=34,
        fix="Escape it.",
    )
    page, summary = make_page(do_first=[problem]), make_summary(by_severity={"Critical": 34})
    data = as_pdf._template_data(make_report(dashboard=page, summary=summary))
    assert data["do_first"]["title"] == "1 problem causes all 34 Critical findings"
    (row,) = data["do_first"]["rows"]
    assert (row["severity"], row["title"], row["fix"]) == ("Critical", "SQL injection", "Escape it.")
    assert row["facts"].startswith("34 findings")
    assert render_pdf(make_report(dashboard=page, summary=summary))
    assert as_pdf._template_data(make_report())["do_first"] == {"title": "", "rows": []}


def test_findings_with_one_problem_are_one_part_with_their_places():
    same = [make_threat(number, problem="5f0c6be1a2d34e78") for number in (1, 2, 3)]
    report = make_report(*same[:2], make_threat(8), same[2], notes=[make_note(finding_id="3")])
    first, alone = as_pdf._template_data(report)["findings"]
    assert (first["title"], first["count"]) == ("Finding 1", "3 findings")
    places = [place["location"].replace("\u200b", "") for place in first["others"]]
    assert places == [same[1].location, same[2].location]
    assert first["others"][1]["link"] == "https://portal.example.com/sites/shop.example.com/findings/3/"
    assert [len(place["notes"]) for place in first["others"]] == [0, 1]
    assert (alone["title"], alone["count"], alone["others"]) == ("Finding 8", "", [])
    assert re.search(rb"pdfuaid:part>1<", inside(render_pdf(report)))


def test_several_findings_of_a_topic_have_its_title():
    same = [make_threat(number, problem="sql-injection") for number in (1, 2)]
    (part,) = as_pdf._template_data(make_report(*same))["findings"]
    assert part["title"] == "SQL injection"
    (alone,) = as_pdf._template_data(make_report(same[0]))["findings"]
    assert alone["title"] == "Finding 1"


SVG = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 4 1'><rect width='4' height='1'/></svg>"


def test_a_logo_and_a_colour_come_from_settings(settings, tmp_path):
    logo = tmp_path / "logo.svg"
    logo.write_bytes(SVG)
    settings.REPORT_LOGO, settings.REPORT_COLOR = str(logo), "#7a1f5c"
    data = as_pdf._template_data(make_report())
    assert (bytes(data["logo"]["content"]), data["logo"]["format"], data["color"]) == (SVG, "svg", "#7a1f5c")
    everything = inside(render_pdf(make_report()))
    assert re.search(rb"/S\s*/Figure\b", everything)
    assert b"pdfuaid" in everything


@pytest.mark.parametrize("content", [None, b"GIF89a", b"\x89PNG\r\n\x1a\n broken", SVG[:60]])
def test_a_missing_or_broken_logo_is_left_out_and_logged(settings, tmp_path, caplog, content):
    logo = tmp_path / "logo"
    if content:
        logo.write_bytes(content)
    settings.REPORT_LOGO = str(logo)
    pdf = render_pdf(make_report())
    assert b"pdfuaid" in inside(pdf)
    assert "REPORT_LOGO" in caplog.text
