"""ncdiag: from a log, a paste or a live node to the root cause of an NCCL network failure, with a proved fix.

Public names: ``triage``, ``parse`` and ``check`` return a ``Report``; ``Options`` select what to judge.
Their dependencies are imported when they are called, so that commands that do not need them start fast.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ncdiag.base.faces import exported
from ncdiag.base.version import __version__

if TYPE_CHECKING:
    from ncdiag.diagnose import Options
    from ncdiag.report.model import Finding, Report

__all__ = ["Finding", "Options", "Report", "__version__", "check", "parse", "triage"]
__getattr__ = exported(__name__, {"diagnose": ("Options",), "report.model": ("Finding", "Report")})

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def triage(paths: Paths, options: Options | None = None) -> Report:
    """Diagnose any mixture of logs and tool outputs: files, folders, archives, bundles, globs; ``-`` is standard input.

    ``options`` None means the defaults. If one of several paths cannot be read, a note of its `Input` says so. Raises
    `ncdiag.errors.InputError` if it is the only path, `ncdiag.errors.UsageError` if the options name an unknown rule or
    NCCL release.
    """
    from ncdiag.diagnose import DEFAULTS, diagnose
    from ncdiag.machine.inputs import inputs

    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return diagnose(inputs([os.fspath(path) for path in given]), options or DEFAULTS)


def parse(paths: Paths, options: Options | None = None) -> Report:
    """Diagnose one job from its logs; like `triage`, but all paths belong to one job."""
    return triage(paths, options)


def check(
    root: str | os.PathLike[str] = "/", options: Options | None = None, *, ask_library: bool | None = None,
    pid: int | None = None,
) -> Report:  # fmt: skip
    """Diagnose this host, or a recorded tree of /sys and /proc at ``root``. Changes nothing.

    ``ask_library``: let the installed NCCL choose its interface (None: yes unless ``pid`` is given). ``pid``: use the
    environment, limits and libraries of this process. Raises `ncdiag.errors.InputError` if ``root`` or that process
    cannot be read.
    """
    from pathlib import Path

    import msgspec

    from ncdiag.diagnose import DEFAULTS, diagnose
    from ncdiag.machine.host import look

    asked = msgspec.structs.replace(options or DEFAULTS, table=True)
    return diagnose([look(Path(root), ask_library=ask_library, pid=pid)], asked)
