"""A program of its own: reads the report as JSON on its input, writes the PDF on its output.

Apart from the portal the typesetter can be stopped, writes no file, and holds none of the portal's secrets.
"""

import resource
import sys
from contextlib import suppress
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
    """``report`` as a tagged PDF, accessible by PDF/UA-1.

    What the typesetter's own fonts lack is taken from the machine's. What these lack, too, is drawn as a box,
    which the report then says and PDF/UA-1 forbids.
    """
    for is_any_font in (False, True):
        with suppress(typst.TypstError):
            return _compile({"report": report}, "ua-1", is_any_font=is_any_font)
    return _compile({"report": report, "boxes": "some"}, None, is_any_font=True)


def _compile(inputs: dict[str, str], standard: Literal["ua-1"] | None, *, is_any_font: bool) -> bytes:
    """Reading nothing but the template, and fonts."""
    return typst.compile(
        HERE / "report.typ",
        root=HERE,
        ignore_system_fonts=not is_any_font,
        sys_inputs=inputs,
        format="pdf",
        pdf_standards=standard,
    )


if __name__ == "__main__":
    limit()
    sys.stdout.buffer.write(typeset(sys.stdin.buffer.read().decode()))
