"""A program of its own: reads the report as JSON on its input, writes the PDF on its output.

Apart from the portal the typesetter can be stopped, writes no file, and holds none of the portal's secrets.
"""

import resource
import sys
from pathlib import Path
from typing import Literal

import typst

HERE = Path(__file__).parent
CPU_SECONDS = 20
MEMORY_BYTES = 2 * 1024**3


def limit() -> None:
    """Bound what this process may use, from here on."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def typeset(report: str) -> bytes:
    """``report`` as a tagged PDF: accessible by PDF/UA-1, unless a character is in none of its fonts."""
    try:
        return _compile(report, "ua-1")
    except typst.TypstError:
        return _compile(report, None)


def _compile(report: str, standard: Literal["ua-1"] | None) -> bytes:
    """With the typesetter's own fonts, reading nothing but the template."""
    return typst.compile(
        HERE / "report.typ",
        root=HERE,
        ignore_system_fonts=True,
        sys_inputs={"report": report},
        format="pdf",
        pdf_standards=standard,
    )


if __name__ == "__main__":
    limit()
    sys.stdout.buffer.write(typeset(sys.stdin.buffer.read().decode()))
