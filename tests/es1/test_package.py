"""The package that customers install."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import es1

BUILD = "import sys; from setuptools import setup; setup(script_args=['build', '--build-lib', sys.argv[1]])"
USE = "import es1.vectors; print(es1.__file__, len(es1.vectors.read_vectors()))"


def test_the_package_can_be_built_alone_with_its_vectors(tmp_path):
    pytest.importorskip("setuptools", reason="not installed: setuptools")
    source, target = tmp_path / "es1", tmp_path / "installed"
    shutil.copytree(Path(es1.__file__).parent, source, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run([sys.executable, "-c", BUILD, target], cwd=source, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    shutil.rmtree(source)
    found = subprocess.check_output([sys.executable, "-c", USE], cwd=target, text=True)
    assert found.startswith(str(target))
