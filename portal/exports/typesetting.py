"""A separate program that reads the report as JSON from standard input and writes the PDF to standard output.

In its own process, the typesetter can be stopped, writes no files, and cannot read the portal's secrets.
"""

import json
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

import typst

HERE = Path(__file__).parent
CPU_SECONDS = 20  # less than the time for which the portal waits
MEMORY_BYTES = 2 * 1024**3
_LOGO_ALONE = b"#let logo = json(bytes(sys.inputs.logo)); #image(bytes(logo.content), format: logo.format)"


def limit() -> None:
    """Limit the resources of this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def typeset(report: str) -> bytes:
    """Return ``report`` as a tagged PDF, accessible by PDF/UA-1.

    Characters that the typesetter's fonts lack come from the machine's fonts. If these lack some as well, the
    PDF shows boxes and explains them; such a PDF is not PDF/UA-1, which forbids boxes. A logo that cannot be
    drawn is left out.
    """
    report = _without_broken_logo(report)
    for has_machine_fonts in (False, True):
        with suppress(typst.TypstError):
            return _compile({"report": report}, "ua-1", has_machine_fonts=has_machine_fonts)
    return _compile({"report": report, "boxes": "some"}, None, has_machine_fonts=True)


def _without_broken_logo(report: str) -> str:
    data = json.loads(report)
    try:
        if data["logo"]:
            typst.compile(
                _LOGO_ALONE, ignore_system_fonts=True, sys_inputs={"logo": json.dumps(data["logo"])}
            )
    except typst.TypstError:
        sys.stderr.write("REPORT_LOGO cannot be drawn")
        data["logo"] = None
    return json.dumps(data)


def _compile(inputs: dict[str, str], standard: Literal["ua-1"] | None, *, has_machine_fonts: bool) -> bytes:
    """Compile the template; the compiler can read only this folder and fonts."""
    return typst.compile(
        HERE / "report.typ",
        root=HERE,
        ignore_system_fonts=not has_machine_fonts,
        sys_inputs=inputs,
        format="pdf",
        pdf_standards=standard,
    )


if __name__ == "__main__":
    limit()
    sys.stdout.buffer.write(typeset(sys.stdin.buffer.read().decode()))
