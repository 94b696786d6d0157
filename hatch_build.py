"""What the build adds to a wheel: rules, messages and variables, compiled, so that an installed ncdiag starts fast."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCatalogue(BuildHookInterface):  # type: ignore[type-arg]
    """Runs ``python -m ncdiag.catalogue build`` and ships what it wrote under ``ncdiag/_compiled``."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile for a wheel; an editable install reads the sources."""
        if self.target_name != "wheel" or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        command = [sys.executable, "-m", "ncdiag.catalogue", "build", self._folder.name]
        paths = os.pathsep.join([self.root, *filter(None, sys.path)])  # what an isolated build installed is among them
        env = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}  # sets in one order, for the same bytes
        subprocess.run(command, cwd=self.root, env=env, check=True)  # noqa: S603
        for path in Path(self._folder.name).glob("*.msgpack"):
            build_data["force_include"][str(path)] = f"ncdiag/_compiled/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Drop the folder once its files are in the wheel."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()
