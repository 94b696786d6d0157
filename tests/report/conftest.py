"""The schema of SARIF, which is too large a file of others to be kept in the tree."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fetched import keep

KEPT = Path(__file__).resolve().parents[2] / ".cache" / "sarif" / "sarif-schema-2.1.0.json"
COMMIT = "a560296ca8c921f3bdb8d4a8db57ab83dae968a7"
ADDRESS = f"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/{COMMIT}/sarif-2.1/schema/sarif-schema-2.1.0.json"
SHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"
PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
"""Carries the schema of schemastore.org, for machines that reach a package registry and nothing else."""


@pytest.fixture(scope="session")
def sarif_schema(need: Callable[[str, object, str], None], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The schema of OASIS, else that of schemastore.org; the test is skipped where neither can be fetched."""
    if not KEPT.exists():
        text = _of_oasis() or _of_npm(tmp_path_factory.mktemp("npm"))
        need("sarif", text, f"neither {ADDRESS} nor {PACKAGE} of npm can be fetched")
        keep(KEPT, text)
    schema: dict[str, Any] = json.loads(KEPT.read_bytes())
    return schema


def _of_oasis() -> bytes:
    try:
        with urllib.request.urlopen(ADDRESS, timeout=20) as answer:
            text: bytes = answer.read()
    except OSError:
        return b""
    assert hashlib.sha256(text).hexdigest() == SHA256
    return text


def _of_npm(folder: Path) -> bytes:
    if not shutil.which("npm"):
        return b""
    command = ["npm", "pack", "--silent", PACKAGE]
    packed = subprocess.run(
        command, cwd=folder, capture_output=True, check=False, timeout=120, stdin=subprocess.DEVNULL
    )
    if packed.returncode:
        return b""
    shutil.unpack_archive(next(folder.glob("*.tgz")), folder, filter="data")
    return next(folder.glob("package/lib/schemas/sarif-2.1.0*.json")).read_bytes()
