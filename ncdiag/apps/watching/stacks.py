"""Where each process of a silent job is in its program: stacks by py-spy, without stopping it unless requested.

``py-spy dump --nonblocking`` reads the memory of a Python process (process_vm_readv(2)), also of one that is stopped.
``--native`` adds the functions of compiled code and needs ptrace(2), which stops the process meanwhile. For both, Linux
requires the same user, and with Yama's ptrace_scope 1 an ancestor, which py-spy is not (Yama.rst of the kernel).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag.agent.run import Ran, run
from ncdiag.apps.watching.dumped import as_text
from ncdiag.apps.watching.handlers import YAMA, Handlers

Mode = Literal["never", "auto", "native", "faulthandler"]
MODES: tuple[Mode, ...] = ("never", "auto", "native", "faulthandler")
RANKS = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
"""Variables in which launchers give a process its rank number."""
ABSENT = "Python stacks of the processes (py-spy is not installed: pip install py-spy, or the extra 'stacks' of ncdiag)"
_LIMIT = 4.0
"""Timeout in seconds for one process."""
_ALL = 10.0
"""Seconds after which no further stack is taken."""
_AT_ONCE = 8
_MOST = 256
"""Maximum number of processes whose stacks are taken."""
_THREADS = 2000
"""Number of threads from which the note gives it: py-spy may not finish within the limit."""
_REFUSED = ("Permission", "Operation not permitted", "os error 1)", "os error 13)")


class Stacks(msgspec.Struct, frozen=True):
    """The stacks as text, as py-spy prints them; ``missing``: phrases on processes whose stacks could not be taken.

    ``stopped``: for how many seconds the process that was stopped longest was stopped at most; 0 if none was.
    """

    text: str = ""
    missing: tuple[str, ...] = ()
    stopped: float = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user: what could not be read, with the command that can; how long processes were stopped."""
        stopped = f"py-spy stopped each process for at most {self.stopped:.2f} s to read its stack"
        return (*(f"not read: {phrase}" for phrase in self.missing), *([stopped] if self.stopped else []))


def take(
    pids: Sequence[int], mode: Mode, proc: Path = Path("/proc"), yama: Path = YAMA, handlers: Handlers | None = None
) -> Stacks:  # fmt: skip
    """Take the stacks of those processes that run Python, several at once; of the processes of one rank, the first.

    Those that registered with ``handlers`` write theirs, py-spy reads the others.
    """
    if mode == "never":
        return Stacks()
    py_spy = program()
    wanted = list(_first_of_each_rank(pids[:_MOST], proc))
    written = handlers.take([pid for pid, _ in wanted], proc) if handlers is not None else {}
    own = "".join(_marked(_headed(pid, written[pid]), rank) for pid, rank in wanted if pid in written)
    wanted = [(pid, rank) for pid, rank in wanted if pid not in written]
    if py_spy is None:
        return Stacks(own, (ABSENT,) if wanted else ())
    end = time.monotonic() + _ALL
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        taken = list(pool.map(lambda pid: _taken(py_spy, pid, mode, proc, end), [pid for pid, _ in wanted]))
    texts = [own]
    refusals: dict[str, list[int]] = defaultdict(list)
    for (pid, rank), (ran, _) in zip(wanted, taken, strict=True):
        text = as_text(ran.output, pid, proc) if ran.status == 0 else ""
        if text:
            texts.append(_marked(text, rank))
        elif (proc / str(pid)).exists():
            refusals[_why(ran, py_spy, yama) + _crowded(proc / str(pid))].append(pid)
    missing = tuple(f"Python stacks of {_count(pids)} ({_filled(why, pids[0])})" for why, pids in refusals.items())
    return Stacks("".join(texts), missing, max((seconds for _, seconds in taken), default=0.0))


def _headed(pid: int, text: str) -> str:
    """The stacks of a process, as faulthandler writes them, after a line like the first one of py-spy."""
    return f"Process {pid}: python\n{text}"


def _marked(text: str, rank: str | None) -> str:
    """The lines that are not empty, each with the rank number in front if it is known."""
    mark = "" if rank is None else f"[rank{rank}]: "
    return "".join(f"{mark}{line}\n" for line in text.splitlines() if line.strip())


def program() -> str | None:
    """The path of py-spy: on the search path, or beside the Python that runs ncdiag."""
    return shutil.which("py-spy") or shutil.which("py-spy", path=str(Path(sys.executable).parent))


def _first_of_each_rank(pids: Sequence[int], proc: Path) -> Iterator[tuple[int, str | None]]:
    """(process, its rank number as its environment has it) of each process that runs Python.

    The workers that a rank starts have the same number, and come after it.
    """
    seen: set[str] = set()
    for pid in pids:
        rank = _rank(proc / str(pid))
        if rank in seen or not _is_python(proc / str(pid)):
            continue
        if rank is not None:
            seen.add(rank)
        yield pid, rank


def _rank(place: Path) -> str | None:
    variables = environment(place)
    return next((value for name in RANKS if (value := variables.get(name, "")).isdigit()), None)


def environment(place: Path) -> dict[str, str]:
    """The environment with which the process of a folder of /proc was started; empty if it may not be read."""
    try:
        read = (place / "environ").read_bytes()
    except OSError:
        return {}
    pairs = (item.partition("=") for item in read.decode("utf-8", "replace").split("\0"))
    return {name: value for name, _, value in pairs}


def _is_python(place: Path) -> bool:
    """Does the process run Python, by its program or a library of it, else by its command line, which all may read?"""
    with contextlib.suppress(OSError):
        if "python" in (place / "exe").readlink().name:
            return True
        return "libpython" in (place / "maps").read_text(errors="replace")
    with contextlib.suppress(OSError):
        return b"python" in (place / "cmdline").read_bytes().partition(b"\0")[0]
    return False


def _taken(py_spy: str, pid: int, mode: Mode, proc: Path, end: float) -> tuple[Ran, float]:
    """The output of py-spy, and for how many seconds at most the process was stopped; none after ``end``."""
    if time.monotonic() > end:
        return Ran(why=f"the other processes took {_ALL:.0f} s"), 0.0
    option = "--native" if mode == "native" else "--nonblocking"
    before = _is_stopped(proc / str(pid))
    if mode == "native" and before:  # ptrace cannot stop it once more
        option = "--nonblocking"
    began = time.monotonic()
    ran = run([py_spy, "dump", "--json", "--pid", str(pid), option], _LIMIT)
    seconds = time.monotonic() - began if option == "--native" else 0.0
    if option == "--native" and not before and _is_stopped(proc / str(pid)):
        with contextlib.suppress(OSError):  # py-spy was ended between stopping it and letting it go on
            os.kill(pid, signal.SIGCONT)
    return ran, seconds


def _is_stopped(place: Path) -> bool:
    with contextlib.suppress(OSError, IndexError):
        return (place / "stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
    return False


def _why(ran: Ran, py_spy: str, yama: Path) -> str:
    """Why py-spy gave no stack, and the command that does; ``{pid}`` is a process."""
    said = ran.errors.decode("utf-8", "replace")
    if any(word in said for word in _REFUSED):
        command = f"sudo {py_spy} dump --nonblocking --pid {{pid}}"
        with contextlib.suppress(OSError, ValueError):
            scope = int(yama.read_text())
            if scope in {1, 2}:
                allowed = "'sudo sysctl kernel.yama.ptrace_scope=0' allows them to this user"
                return f"kernel.yama.ptrace_scope is {scope}: {allowed}, '{command}' prints one"
        return f"reading another user's process, or without CAP_SYS_PTRACE, is refused: '{command}' prints one"
    if ran.why is not None:
        return f"py-spy: {ran.why}"
    return f"py-spy: {next((line for line in said.splitlines() if line.strip()), 'it printed nothing')[:200]}"


def _crowded(place: Path) -> str:
    """A note with the number of threads where py-spy may fail because of it; empty for fewer threads."""
    with contextlib.suppress(OSError):
        found = re.search(r"^Threads:\s*(\d+)$", (place / "status").read_text(errors="replace"), re.MULTILINE)
        if found is not None and int(found[1]) > _THREADS:
            return f"; it has {found[1]} threads, and the state of its main thread is all that was read"
    return ""


def _filled(why: str, pid: int) -> str:
    return why.replace("{pid}", str(pid))


def _count(pids: Sequence[int]) -> str:
    return f"process {pids[0]}" if len(pids) == 1 else f"{len(pids)} processes"
