"""What the build adds to a wheel: the compiled definitions, so that ncdiag starts fast, and the manual page."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Generated(BuildHookInterface):  # type: ignore[type-arg]
    """Ships what programs of this tree write: ``ncdiag/_compiled`` and ``share/man/man1/ncdiag.1``."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Run the programs for a wheel; an editable install reads the sources and has no manual page."""
        if self.target_name != "wheel" or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        compiled, page = Path(self._folder.name, "compiled"), Path(self._folder.name, "ncdiag.1")
        self._run("-m", "ncdiag.catalogue", "build", str(compiled))
        self._run("-m", "tools.man", str(page))  # a module: as a script it finds no ncdiag where pip hides this tree
        for path in compiled.glob("*.msgpack*"):
            build_data["force_include"][str(path)] = f"ncdiag/_compiled/{path.name}"
        build_data["shared_data"][str(page)] = "share/man/man1/ncdiag.1"

    def _run(self, *arguments: str) -> None:
        """Run Python in the root of the tree, with what this process can import; CalledProcessError where it fails."""
        paths = os.pathsep.join([self.root, *filter(None, sys.path)])  # what an isolated build installed is among them
        env = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}  # sets in one order, for the same bytes
        subprocess.run([sys.executable, *arguments], cwd=self.root, env=env, check=True)  # noqa: S603

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Drop the folder once its files are in the wheel, and pack them as tightly as deflate can."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
            _pack(Path(artifact_path))


def _pack(wheel: Path) -> None:
    """Write the archive anew at the highest level of deflate, which hatchling has no option for."""
    packed = wheel.with_suffix(".packed")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info, old.read(info), compresslevel=9)
    packed.replace(wheel)
