"""Engines of the tests: small programs that behave well or badly."""

import json
import subprocess
import sys

from dashboard_api.crawler.engines import Engine

REPORT = [
    {"scan": "findings/1", "source": "stub", "name": "Stub"},
    {"finding": "no-hsts", "title": "No HSTS", "severity": "low", "location": "https://shop.example.com/"},
    {"complete": True},
]
WRITE = f"open(report, 'w').write({chr(10).join(map(json.dumps, REPORT))!r})"
PROGRAM = "import os, signal, subprocess, sys, time\nhost, address, report = sys.argv[1:4]\n"


def engine(code=WRITE, **fields):
    """Return an engine that runs ``code``, which knows host, address and report."""
    command = [sys.executable, "-c", PROGRAM + code, "$host", "$address", "$report"]
    return Engine(**{"name": "stub", "command": command, "seconds": 20, "memory_mb": 1024} | fields)


def running(pattern):
    """Return whether a process runs whose command line matches the pattern."""
    return subprocess.run(["pgrep", "-f", "--", pattern], check=False, capture_output=True).returncode == 0
