"""Advice on files of unsupported formats, for the message of a refusal.

Once a reader supports a format, remove it from this table.
"""

import re

_HEAD_BYTES = 64 * 1024
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_CONVERT = "is not supported: convert it to `findings` lines, which docs/scanner-formats.md describes"
_UNPACK = "Unpack it and import the report that is in it"
_WAPITI = "run it with `-f json`"
_NIKTO = "run it with `-Format json -output report.json`"
_TESTSSL = "run it with `--jsonfile report.json`"
_SSLYZE = "run it with `--json_out=report.json`"
_OBSERVATORY = "run `npx @mdn/mdn-http-observatory HOST` and import what it prints"


def _html(tool: str) -> str:
    """Return a pattern for a page whose title names the tool."""
    return rf"(?is)\A\s*<.{{0,8000}}?<title>[^<]{{0,200}}{tool}"


def _xml(root: str) -> str:
    """Return a pattern for an XML document with this element, after any comments and document type."""
    return rf"(?s)\A\s*<(?:.*?<)?{root}"


# Patterns of a file's beginning with advice; the first match counts. No pattern may take long on any file:
# every repetition ends at a fixed length, or is the only one.
_FORMATS: list[tuple[str, str]] = [
    # Archives, and files that are not text.
    (r"\APK\x03\x04", f"a zip archive, or an office document. {_UNPACK}."),
    (r"\A7z\xbc\xaf\x27\x1c", f"a 7z archive. {_UNPACK}."),
    (r"\A\xfd7zXZ\x00", f"compressed by xz. {_UNPACK}."),
    (r"\ABZh[1-9]1AY&SY", f"compressed by bzip2. {_UNPACK}."),
    (r"\A\x28\xb5\x2f\xfd", f"compressed by zstd. {_UNPACK}."),
    (r"(?s)\A.{257}ustar", f"a tar archive. {_UNPACK}."),
    (r"\A\x1f\x8b", f"compressed twice. {_UNPACK}."),
    (r"\A%PDF-", "a PDF. Let the tool write one of the formats in docs/scanner-formats.md."),
    (r"\ASQLite format 3\x00", "a database. Let the tool write a report from it."),
    (r"\A(?:\x89PNG\r\n|GIF8|\xff\xd8\xff)", "an image. Let the tool write a report."),
    # Other formats of supported tools.
    (r'(?s)\A\s*<(?:\?.*?<)?report type="security">.{0,1000}?>wapiti<', f"Wapiti's XML: {_WAPITI}."),
    (_html("wapiti"), f"Wapiti's HTML: {_WAPITI}."),
    (r'\A\s*"category","level","description"', f"Wapiti's CSV: {_WAPITI}."),
    (r"\A\s*\*{20,}\s+Wapiti\b", f"Wapiti's text: {_WAPITI}."),
    (_html("ZAP"), "ZAP's HTML: choose its report template traditional-json or traditional-xml."),
    (r"\A\s*# ZAP ", "ZAP's Markdown: choose its report template traditional-json or traditional-xml."),
    (
        r'(?s)\A\s*\{\s*"alerts"\s*:\s*\[\s*\{.{0,4000}?"pluginId"',
        "an answer of ZAP's API: ask it for OTHER/core/other/jsonreport.",
    ),
    (_xml("niktoscan"), f"Nikto's XML: {_NIKTO}."),
    (_html("nikto"), f"Nikto's HTML: {_NIKTO}."),
    (r'\A\s*"Nikto - v', f"Nikto's CSV: {_NIKTO}."),
    (r"\A\s*- Nikto v?\d", f"Nikto's text: {_NIKTO}."),
    (r'\A\s*"id","fqdn/ip","port","severity"', f"testssl.sh's CSV: {_TESTSSL}."),
    (r"(?s)\A\s*<\?xml.{0,400}created with testssl\.sh", f"testssl.sh's HTML: {_TESTSSL}."),
    (r"(?s)\A.{0,2000}?testssl(?:\.sh)? +\S{1,20} from https://testssl", f"testssl.sh's log: {_TESTSSL}."),
    (
        r"(?s)\A.{0,2000}?(?:CHECKING CONNECTIVITY TO SERVER|CHECKING HOST\(S\) AVAIL|SCAN RESULTS FOR )",
        f"SSLyze's text: {_SSLYZE}.",
    ),
    (r"(?is)\A\s*<(?:\?.*?<)?document [^>]{0,200}sslyze", f"SSLyze's XML: {_SSLYZE}."),
    (
        r"(?m)^\[[^\]\s]+\] \[[a-z]+\] \[(?:info|low|medium|high|critical|unknown)\] \S",
        "what Nuclei prints: run it with `-jsonl -o report.jsonl`.",
    ),
    (r"\A.{0,100}HTTP Observatory Report", f"the Observatory's text: {_OBSERVATORY}."),
    (_html("observatory"), f"a page of the HTTP Observatory: {_OBSERVATORY}."),
    (
        r'(?s)\A\s*\{(?=.*"details_url")(?=.*"tests_(?:failed|passed)")',
        f"the Observatory's summary without its tests: {_OBSERVATORY}.",
    ),
    # Tools that write SARIF as well.
    (r'(?s)\A\s*\{.{0,400}"SchemaVersion".{0,4000}"ArtifactName"', "Trivy's JSON: use `--format sarif`."),
    (r'(?s)\A\s*\{(?=.*"check_id")(?=.*"engine_kind")', "Semgrep's JSON: use `--sarif`."),
    (r'(?s)\A\s*\{\s*"errors".{0,4000}"CONFIDENCE\.HIGH"', "Bandit's JSON: use `-f sarif`."),
    (r'(?s)\A\s*\{\s*"matches".{0,4000}"relatedVulnerabilities"', "Grype's JSON: use `-o sarif`."),
    # Tools without a supported format.
    (_xml("issues burpVersion="), f"Burp's XML, which {_CONVERT}."),
    (_html("burp"), f"Burp's HTML, which {_CONVERT}."),
    (_xml("NessusClientData"), f"Nessus' own format, which {_CONVERT}."),
    (r'\A\s*"?Plugin(?: ID)?"?,"?(?:Plugin Name|CVE)', f"Nessus' CSV, which {_CONVERT}."),
    (_html("nessus"), f"Nessus' HTML, which {_CONVERT}."),
    (_xml("nmaprun"), f"Nmap's XML, which {_CONVERT}."),
    (r"\A\s*(?:# Nmap \d|Starting Nmap )", f"Nmap's text, which {_CONVERT}."),
    (r"(?s)\A\s*\{.{0,200}WordPress Security Scanner", f"WPScan's JSON, which {_CONVERT}."),
    (_xml("(?:netsparker|invicti)-"), f"Invicti's XML, which {_CONVERT}."),
    (r'(?s)\A\s*\{\s*"Generated".{0,400}"ScanId"', f"Invicti's JSON, which {_CONVERT}."),
    (_xml("ScanGroup"), f"Acunetix' XML, which {_CONVERT}."),
    (_xml("WAS_(?:SCAN|WEBAPP)_REPORT"), f"the XML of Qualys WAS, which {_CONVERT}."),
    (
        r"(?s)\A\s*<(?:\?.*?<)?(?:get_reports_response|report [^>]{0,400}format_id=)",
        f"Greenbone's XML, which {_CONVERT}.",
    ),
    # Anything else.
    (r"(?i)\A\s*<(?:!doctype html|html)", f"a web page, which {_CONVERT}."),
    (r"\A\s*<(?:\?xml|[A-Za-z!])", f"XML of an unknown tool, which {_CONVERT}."),
]
_COMPILED = [(re.compile(pattern.encode("latin-1")), text) for pattern, text in _FORMATS]


def advice_on(head: bytes) -> str:
    """Return the format that ``head`` seems to begin, with advice; empty if it is unknown."""
    start = _COLOUR.sub(b"", head[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf"))
    return next((f"This is {text}" for pattern, text in _COMPILED if pattern.search(start)), "")
