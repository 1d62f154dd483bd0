"""Translations of English texts that are stored, or come from report readers.

A stored text is English whatever the language of the person who imports, and report readers use no Django.
For pages, ``translate`` finds the template of a text and fills in its values.
"""

import re
from collections.abc import Mapping
from functools import cache

from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as _

from foundation.texts.triage_reasons import REASONS

# The first matching template counts, so special ones come first. A value may itself be a text to translate.
_ROWS = (
    _("has no JSON object for %(name)s"),
    _("has neither a ruleId nor a message"),
    _("has neither alertRef nor pluginid"),
    _("has an unknown status: %(status)s"),
    _("has a severity that testssl.sh does not know"),
    _("has a seen_at that is not a time: write 2026-03-01 or 2026-03-01T10:00:00Z"),
    _("has a %(name)s that is not one of %(first)s to %(last)s"),
    _("has a %(name)s that is not one of %(values)s"),
    _("has a %(name)s that is neither true nor false"),
    _("has a %(name)s that is not a number"),
    _("has a time that is out of range"),
    _("has %(count)s columns, and the first line %(expected)s"),
    _("has no URL, and no WEBAPP has one"),
    _("has no %(name)s"),
    _("failed, and has no score (scoreModifier or score_modifier)"),
    _("names no host: say with base_url what address it is relative to"),
    _("names no host"),
    _("names no server"),
    _("names no website: neither StartUrl nor StartURL"),
    _("names no address: %(address)s"),
    _("names no location: matched-at, url and host are all missing"),
    _("names no location: neither the instance's uri nor the site's name"),
    _("names no location on %(website)s: %(location)s (a path begins with a slash, and needs base_url)"),
    _("is of %(host)s, which is neither %(website)s nor one of its subdomains"),
    _("is from another scanner than the first row, %(scanner)s"),
    _(
        "is about a file, and the report names no folder above it (originalUriBaseIds): it has no "
        "location below the base URL"
    ),
    _(
        "is about a file, and the report names no folder above it (originalUriBaseIds): take this folder "
        'out of the report, such as by sed -i "s|file://$PWD/||g", and say base_url'
    ),
    _("is not a finding, a check or the end line"),
    _("is missing"),
    _("is nested too deeply"),
    _("is longer than %(size)s"),
    _("is one document of more than %(size)s"),
    _("is not a JSON object"),
    _("is cut off: the end of its JSON is missing"),
    _("is not JSON: %(error)s"),
    _("is not valid: %(error)s"),
    _("is suppressed in the report: %(name)s"),
    _("cannot be split into columns: %(error)s"),
    _("holds half of a character"),
    _("holds more than %(count)s values"),
    _("holds a number that JSON does not allow, or that is too long"),
    _("reports a failed check: %(error)s"),
)
_FILES = (
    _(
        "The file is not a report of sslyze 3 or later: it has no server_scan_results. Versions before "
        "3 are not read: scan again with a newer one."
    ),
    _("The file is not a report of testssl.sh: neither a list nor a scanResult."),
    _(
        "The file %(problem)s. testssl.sh writes broken JSON where it has a problem: let it scan with "
        "%(options)s."
    ),
    _("Let the scan run to its end."),
    _("Let the scanner write it again."),
    _(
        "The file is not a report of a known format (%(formats)s). For any other tool, convert its "
        "results to `findings` lines, which docs/scanner-formats.md describes."
    ),
    _("The file holds control characters only."),
    _("The file is not a report of Greenbone: it has no report with a scan."),
    _("The file is not a report of Wapiti: it has no vulnerabilities by category."),
    _("The file is not a report of the HTTP Observatory: it has no tests."),
    _("The file is not a report of %(scanner)s: it has no %(part)s."),
    _("The file is not a report of %(scanner)s: its root is not %(part)s."),
    _("The file is not a report of %(scanner)s: it looks like one of %(other)s."),
    _("The file is not a complete report of Nikto: it has no host."),
    _("The file is empty."),
    _("Reports of %(scanner)s never are: check the scan and run it again."),
    _(
        "The file is not a complete report of Nikto. If its scan was interrupted, let it run to its "
        "end, and write a new file with -Format json."
    ),
    _("The file is not SARIF: it has no runs."),
    _("The file is not SARIF: %(part)s is not an object."),
    _("The file is not SARIF: %(part)s is not a list."),
    _("SARIF 2.1.0 is read, and this is SARIF %(version)s."),
    _("The file has %(count)s results, and %(limit)s are read. Scan in parts."),
    _(
        "The file has runs of %(count)s tools and categories, and %(limit)s are read. Send one report for"
        " each tool."
    ),
    _("The file has a column %(name)s, which is not one of: %(names)s."),
    _("The file contains an XML entity."),
    _("Entities are not supported."),
    _("The file has more than %(count)s names of elements and attributes."),
    _("The file has a tag of more than %(size)s."),
    _("The file holds more than %(count)s elements outside rows."),
    _("The file holds more than %(count)s rows."),
    _("The file names an encoding that is not read: save it as UTF-8."),
    _('The file is not UTF-8 text. In a spreadsheet, save it as "CSV UTF-8".'),
    _("The file is not XML: %(error)s."),
    _("The file is cut off: the end of its XML is missing. Let the scan run to its end."),
    _("The file is neither JSON nor JSON lines: %(problem)s."),
    _("The file's document type is too long."),
    _("The file's first line names a column twice."),
    _("The file's first line does not name the column %(name)s."),
    _("The file %(problem)s, and %(other)s."),
    _("The file %(problem)s."),
    _("The first line names no scan: it %(problem)s."),
    _("The report is larger than %(size)s. Scan in parts, and import one report for each."),
    _("The report takes too long to read for its length. Scan in parts, and import one report for each."),
    _(
        "The rows of the report share long texts, and say too much together. Scan in parts, and import one"
        " report for each."
    ),
    _("The gzip file is cut off: its end is missing. Compress the report again."),
    _("The gzip file is damaged. Compress the report again."),
    _(
        "The gzip file unpacks to more than %(ratio)s times its size and more than %(size)s. If that is"
        " right, unpack it first."
    ),
    _("None of the first %(count)s rows can be read: the last of them %(problem)s."),
    _("The time of the scan is not clear: the report says %(time)s. Say with scanned_at when it ended."),
    _("Nmap reached no host, so the report says nothing about the website."),
    _("WPScan gave up: %(problem)s."),
)
_OTHER_FORMATS = (
    _("This is a zip archive, or an office document. Unpack it and import the report that is in it."),
    _("This is a %(format)s archive. Unpack it and import the report that is in it."),
    _("This is compressed by %(program)s. Unpack it and import the report that is in it."),
    _("This is compressed twice. Unpack it and import the report that is in it."),
    _("This is a PDF. Let the tool write one of the formats in docs/scanner-formats.md."),
    _("This is a database. Let the tool write a report from it."),
    _("This is an image. Let the tool write a report."),
    _(
        "This is a web page, which is not supported: convert it to `findings` lines, which "
        "docs/scanner-formats.md describes."
    ),
    _(
        "This is XML of an unknown tool, which is not supported: convert it to `findings` lines, which "
        "docs/scanner-formats.md describes."
    ),
    _(
        "This is a report of %(tool)s, which is not supported: convert it to `findings` lines, which "
        "docs/scanner-formats.md describes."
    ),
    _("This is %(name)s: %(advice)s."),
    _("a page of the HTTP Observatory"),
    _("an answer of ZAP's API"),
    _("the Observatory's text"),
    _("the Observatory's summary without its tests"),
    _("what %(scanner)s prints"),
    _("%(scanner)s's text"),
    _("%(scanner)s's log"),
    _("%(scanner)s's %(format)s"),
    _("Nessus' %(format)s"),
    _("ask it for %(address)s"),
    _("choose its report template traditional-json or traditional-xml"),
    _("export the scan as Nessus (.nessus)"),
    _("export the report as XML"),
    _("export its vulnerabilities list as JSON"),
    _("run it with %(options)s, or with %(others)s"),
    _("run it with %(options)s or %(others)s"),
    _("run it with %(options)s"),
    _("run %(command)s and import what it prints"),
    _("select the issues, choose Report issues, and XML"),
    _("use %(option)s"),
)
_RECORDS = (
    _("ok"),
    _("partial"),
    _("failed"),
    _("refused"),
    _("%(scope)s: The scan is incomplete: %(error)s."),
    _("%(scope)s: Failed checks: %(count)s."),
    _("The scan is incomplete: %(error)s."),
    _("Failed checks: %(count)s."),
    _("Unreadable rows: %(count)s."),
    _("Suppressed: %(count)s."),
    _("Every row was rejected: nothing was changed."),
    _("It is empty, which proves nothing without confirmation: nothing was changed."),
    _("Scope of what is fixed: %(targets)s and %(number)s more, category %(category)s."),
    _("Scope of what is fixed: %(targets)s and %(number)s more."),
    _("Scope of what is fixed: %(targets)s, category %(category)s."),
    _("Scope of what is fixed: %(targets)s."),
    _("The report names no target; name it if it was not the website itself."),
    _("The report is empty and may be any of several parts: name its category to call anything fixed."),
    _("It is %(severity)s now, which is not accepted."),
    _("Also found at %(location)s and %(count)s more, which the decision was not about."),
    _("Also found at %(location)s, which the decision was not about."),
    _("%(severity)s to %(other_severity)s: %(reason)s"),
    *("Critical", "High", "Medium", "Low", "Info"),
)
# Our own reasons for an incomplete scan, not those from a scanner.
_FAILURES = (
    _("the scan was aborted"),
    _("the scan was interrupted"),
    _("the status of the scan is %(status)s"),
    _("the scan of the host did not end"),
    _("the scan of the host timed out"),
    _("the website did not respond"),
    _("many requests failed: WPScan may be blocked"),
    _("no port answered, not even 443: a firewall may have blocked the scan"),
    _("no reason given"),
    _("nothing answered, neither the host (-Pn) nor a port"),
    _("%(count)s of %(number)s tests are in the report"),
    _("%(scanner)s considered the host as dead"),
    _("%(scanner)s ended with an error"),
    _("%(scanner)s reached no page"),
    _("%(signal)s ended the tool"),
    _("the tool did not start"),
    _("the tool had an error"),
    _("the tool says that it was not successful"),
)
# The service's reasons for refusing a claim.
_CLAIMS = (
    _("%(host)s is not a name on the internet, so its ownership cannot be proven."),
    _(
        "Anyone can register a name below %(host)s, so it belongs to no customer: enter a website such as "
        "shop.%(host)s."
    ),
    _(
        "%(count)s websites wait for their proof, or for room in the plan: prove one of them first, "
        "or remove one."
    ),
)
_REASONS = tuple(reason for reasons in REASONS.values() for reason in reasons.values())
_SEVERITY = "(Critical|High|Medium|Low|Info)"
_PATTERN_OF_VALUE = {
    "severity": _SEVERITY,
    "other_severity": _SEVERITY,
    "count": r"([\d,]+)",
    "number": r"(\d+)",
    "scope": r"([^:]+(?::\d+)?)",
    "reason": "(.+)",
}
_ONE_SENTENCE = r"((?:(?!\. [A-Z]).)+)"  # up to a dot before a capital
_SENTENCES = re.compile(r"(?<=[.]) (?=[A-Z])")


def translate(text: str) -> str:
    """Return ``text`` in the active language; unchanged if no template matches."""
    if (get_language() or "en").startswith("en"):
        return text
    return _translated(text) or " ".join(
        _translated(sentence) or sentence for sentence in _SENTENCES.split(text)
    )


def _translated(text: str) -> str:
    """Return the translation of a text that matches one template; empty if no template matches."""
    for template, pattern, names in _templates():
        if match := pattern.fullmatch(text):
            values = {name: translate(value) for name, value in zip(names, match.groups(), strict=True)}
            return gettext(template) % values if values else gettext(template)
    return ""


@cache
def _templates() -> tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...]:
    """Return each template with its pattern and the names of its values."""
    return tuple(
        (template, re.compile(_pattern(template), re.DOTALL), tuple(re.findall(r"%\((\w+)\)s", template)))
        for template in (
            *_ROWS,
            *_FILES,
            *_OTHER_FORMATS,
            *_RECORDS,
            *_FAILURES,
            *_CLAIMS,
            *_REASONS,
        )
    )


def _pattern(template: str) -> str:
    """Return the regular expression that matches the template with any values, a group for each."""
    texts_and_names = re.split(r"%\((\w+)\)s", template)  # in turn, beginning with a text
    return "".join(
        _PATTERN_OF_VALUE.get(part, _ONE_SENTENCE) if index % 2 else re.escape(part)
        for index, part in enumerate(texts_and_names)
    )


def in_language(texts: Mapping[str, str], default: str = "") -> str:
    """Return the text in the active language, else in English, else ``default``; ``texts`` is by language."""
    return texts.get((get_language() or "en").split("-")[0]) or texts.get("en", default)
