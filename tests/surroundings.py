"""What tests and the processes that they start inherit is the same, whoever starts the tests and however."""

from __future__ import annotations

import atexit
import contextlib
import locale
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path
from types import FrameType

_BY_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}
"""Signals that Python itself ignores."""
_SET = {"LANG": "C.UTF-8", "NCDIAG_LANG": "en", "TERM": "xterm", "TZ": "UTC"}
_DROPPED = frozenset({
    "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LANGUAGE", "LINES", "LOCAL_RANK", "MASTER_ADDR",
    "MASTER_PORT", "NCDIAG_CONFIG", "NCDIAG_DEBUG", "NO_COLOR", "PAGER", "PYTHONDONTWRITEBYTECODE", "RANK",
    "WORLD_SIZE",
})  # fmt: skip
"""Variables that change what programs print, or how fast they start."""
_FAMILIES = (
    "BASH_", "CUDA_", "FI_", "HCCL_", "HIP_", "KUBERNETES_", "LC_", "NCCL_", "OMPI_", "PMIX_", "PRTE_", "RCCL_",
    "SBATCH_", "SLURM_", "SRUN_", "TORCH_", "UCX_", "XDG_",
)  # fmt: skip


def make_equal(cache: Path) -> None:
    """Set signals, umask, variables, time zone and locale of this process, and a new home; worker processes keep it.

    ``cache`` is the folder for what ncdiag and others keep from one run to the next, if it can be written.
    """
    _heed_signals()
    os.umask(0o022)
    if "PYTEST_XDIST_WORKER" not in os.environ:  # a worker has the variables of the process that started it
        _set_variables(cache)
    time.tzset()
    with contextlib.suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, "")


def _heed_signals() -> None:
    """No signal is ignored or blocked in what is started from here.

    What is ignored here (by nohup, by a shell in the background) gets a handler that does nothing instead: it does not
    end the tests either, and a program that is started has the default.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - _BY_PYTHON:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL if number == signal.SIGCHLD else _do_nothing)


def _do_nothing(_number: int, _frame: FrameType | None) -> None: ...


def _set_variables(cache: Path) -> None:
    for name in list(os.environ):
        if name in _DROPPED or name.startswith(_FAMILIES):
            del os.environ[name]
    with contextlib.suppress(RuntimeError):  # what is needed of the home of the person who tests
        home = Path.home()
        for name, place in (("PIP_CONFIG_FILE", ".config/pip/pip.conf"), ("PYENV_ROOT", ".pyenv")):
            if os.access(home / place, os.R_OK):
                os.environ.setdefault(name, str(home / place))
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.access(folder, os.X_OK)]
    own = Path(tempfile.mkdtemp(prefix="ncdiag-home-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    os.environ.update(_SET, HOME=str(own), PATH=os.pathsep.join(folders))
    os.environ["XDG_CACHE_HOME"] = str(cache if _can_be_written(cache) else own / ".cache")


def _can_be_written(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK) and folder.stat().st_uid == os.geteuid()
    return False
