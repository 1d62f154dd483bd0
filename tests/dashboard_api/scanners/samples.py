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
    return {name: value for name, value in row.items() if value is not None}


def json_lines(*rows):
    """The rows as JSON lines; a row that is bytes stands as it is."""
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows) + b"\n"


def read_whole(reader, data):
    """The report that the format's ``reader`` makes of ``data``, with all its rows."""
    return reader.read(io.BytesIO(data)).whole()
