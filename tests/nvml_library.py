"""Compiles a stand-in of libnvidia-ml.so.1 from C: there is no GPU where the tests run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def built(source: Path, folder: Path) -> Path:
    """The folder, with the library in it; skips the test if there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler for the stand-in of libnvidia-ml.so.1")
    library = str(folder / "libnvidia-ml.so.1")
    subprocess.run([compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, str(source)], check=True)
    return folder
