"""Stacks that the Python processes of a job write themselves, for a user whom Linux does not let read their memory.

Yama's ptrace_scope 1 (the default of Ubuntu) lets a plain user read descendants only; py-spy is a sibling of the ranks.
A ``sitecustomize`` module in a folder in front of PYTHONPATH lets each Python process register ``faulthandler`` for one
real-time signal, and write to a file with its process id in its name. Nothing happens before that signal comes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ncdiag.base.errors import OutputError

YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
_VARIABLE = "PYTHONPATH"
_NUMBER = signal.SIGRTMAX - 2 if hasattr(signal, "SIGRTMAX") else 0
"""The signal: glibc takes the first real-time signals, debuggers the last ones."""
_WAIT, _SETTLED, _TICK = 2.0, 0.05, 0.02
"""Seconds to wait for all stacks; a file that did not grow for the second of them is complete."""
_LIMIT = 1 << 20
"""Maximum number of bytes that are read of one process, which may have thousands of threads."""
_CAUGHT = ("SigCgt", "SigIgn")
_MODULE = '''"""Registers faulthandler for ncdiag run; then the next sitecustomize of sys.path is executed, if any."""
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _is_free(number):
    with open("/proc/self/status") as status:
        masks = [line.split()[1] for line in status if line.startswith({masks})]
    return not any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def _register():
    import faulthandler

    if _is_free({number}):
        # faulthandler keeps the file open
        faulthandler.register({number}, open(os.path.join(_FOLDER, "%d.stack" % os.getpid()), "a"))


def _go_on():
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [path for path in sys.path if path != _FOLDER]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


try:
    _register()
except Exception:  # a job must not suffer from it
    pass
_go_on()
'''


def are_wanted(mode: str, yama: Path = YAMA) -> bool:
    """True if processes have to write their stacks: requested, or this user may read no process but descendants."""
    if mode in {"never", "faulthandler"}:
        return mode == "faulthandler"
    with contextlib.suppress(OSError, ValueError):
        return int(yama.read_text()) > 0 and os.geteuid() != 0
    return False


class Handlers:
    """The folder of the module and of the stacks."""

    def __init__(self) -> None:
        """Write the module. Raises OutputError."""
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="ncdiag-stacks-"))
            text = _MODULE.format(number=int(_NUMBER), masks=_CAUGHT)
            (self._folder / "sitecustomize.py").write_text(text, encoding="utf-8")
        except OSError as error:
            msg = f"cannot create a folder for the stacks: {error.strerror}: {error.filename}"
            raise OutputError(msg) from None

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The variable that makes Python processes of this host load the module."""
        own = environment.get(_VARIABLE)
        return {_VARIABLE: f"{self._folder}{os.pathsep}{own}" if own else str(self._folder)}

    def take(self, pids: Sequence[int], proc: Path = Path("/proc")) -> dict[int, str]:
        """The stacks of those processes that have registered and can run now, by process id; the others are left out.

        A process that does not handle the signal is not sent it: it would end.
        """
        sizes = {pid: self._size(pid) for pid in pids if self._answers(pid, proc)}
        asked = {pid: size for pid, size in sizes.items() if _is_sent(pid)}
        deadline, last, since = time.monotonic() + _WAIT, dict(asked), time.monotonic()
        while asked and time.monotonic() < deadline:
            time.sleep(_TICK)
            sizes = {pid: self._size(pid) for pid in asked}
            if sizes != last:
                last, since = sizes, time.monotonic()
            elif all(sizes[pid] > size for pid, size in asked.items()) and time.monotonic() - since >= _SETTLED:
                break
        return {pid: text for pid, size in asked.items() if (text := self._text(pid, size))}

    def remove(self) -> None:
        """Remove the folder; processes that outlive it keep their open file."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _file(self, pid: int) -> Path:
        return self._folder / f"{pid}.stack"

    def _size(self, pid: int) -> int:
        with contextlib.suppress(OSError):
            return self._file(pid).stat().st_size
        return 0

    def _answers(self, pid: int, proc: Path) -> bool:
        """Has the process registered, does it still handle the signal, and can it run?"""
        with contextlib.suppress(OSError, ValueError):
            lines = (proc / str(pid) / "status").read_text(errors="replace").splitlines()
            fields = dict(line.partition(":")[::2] for line in lines)
            caught = int(fields["SigCgt"], 16) >> (_NUMBER - 1) & 1
            return bool(caught) and self._file(pid).exists() and fields["State"].split()[0] in "RS"
        return False

    def _text(self, pid: int, begin: int) -> str:
        with contextlib.suppress(OSError), self._file(pid).open("rb") as opened:
            opened.seek(begin)
            return opened.read(_LIMIT).decode("utf-8", "replace")
        return ""


def _is_sent(pid: int) -> bool:
    with contextlib.suppress(OSError):
        os.kill(pid, _NUMBER)
        return True
    return False
