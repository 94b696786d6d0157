"""The program as functions: paths in, a `Report` out. What the commands of the same names do, without a terminal."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ncdiag.diagnose import DEFAULTS, Options, diagnose
from ncdiag.machine.inputs import inputs
from ncdiag.report.model import Report

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def triage(paths: Paths, options: Options = DEFAULTS) -> Report:
    """Judge any mixture of logs and tool outputs: files, folders, archives, bundles, globs; ``-`` is standard input.

    One of several paths that cannot be read is a note of its `Input`. Raises `ncdiag.errors.InputError` when it is the
    only one, and `ncdiag.errors.UsageError` for options that name no rule or no NCCL release.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return diagnose(inputs([os.fspath(path) for path in given]), options)


def parse(paths: Paths, options: Options = DEFAULTS) -> Report:
    """Judge one job by its logs; like `triage`, the paths are taken as parts of one job."""
    return triage(paths, options)


def check(
    root: str | os.PathLike[str] = "/", options: Options = DEFAULTS, *, ask_library: bool | None = None,
    pid: int | None = None,
) -> Report:  # fmt: skip
    """Judge this host, or a recorded tree of /sys and /proc at ``root``. Changes nothing.

    ``ask_library``: let the installed NCCL choose its interface (None: unless ``pid`` is given). ``pid``: a process
    whose environment, limits and libraries count. Raises `ncdiag.errors.InputError` when ``root`` or that process
    cannot be read.
    """
    from ncdiag.machine.host import look

    asked = msgspec.structs.replace(options, table=True)
    return diagnose([look(Path(root), ask_library=ask_library, pid=pid)], asked)
