"""Other programs that judge websites: tools for developers, installed from npm and never copied."""

import subprocess
from pathlib import Path

_FOLDER = Path("var/judges")
OBSERVATORY = ("@mdn/mdn-http-observatory", "1.4.8")
CSP_EVALUATOR = ("csp_evaluator", "1.1.8")


def install(*packages: tuple[str, str]) -> list[Path]:
    """Install packages of npm, a name and a version each; return their folders."""
    options = ["--silent", "--no-save", "--ignore-scripts", "--prefix", str(_FOLDER)]
    versions = [f"{name}@{version}" for name, version in packages]
    subprocess.run(["npm", "install", *options, *versions], check=True)
    folders = [_FOLDER.absolute() / "node_modules" / name for name, _ in packages]
    if OBSERVATORY in packages:
        file = folders[packages.index(OBSERVATORY)] / "conf" / "hsts-preload.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text("{}")  # a list that its setup downloads; no website of ours is on it
    return folders
