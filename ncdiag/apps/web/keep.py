"""Keep an analysis for ``--keep``: the upload and its outcome, in a new folder."""

from __future__ import annotations

import secrets
import shutil
import time
from pathlib import Path

from ncdiag.apps.web.worker import FILES, INPUT, Outcome


def keep(folder: Path, outcome: Outcome, place: Path) -> Path:
    """Copy the input of an analysis and its answers into a new folder below ``place``. Raises OSError.

    Only the user who runs the server can access it.
    """
    made = place / f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{secrets.token_hex(4)}"
    made.mkdir(mode=0o700)
    shutil.copytree(folder / INPUT, made / INPUT)
    for name, text in outcome.files.items():
        (made / f"answer.{FILES.get(name, 'txt')}").write_text(text, encoding="utf-8")
    return made
