"""Run an actual NCCL library to see which interface it chooses; this needs no GPU.

``ncclGetUniqueId`` runs NCCL's whole choice of the bootstrap interface and prints it. Releases from 2.31 on print their
parameter registry as well (`ncdiag.parsers.nccl_params`). The library runs in a child process with its own process
group, so that a crash or hang of it does no harm.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ncdiag.agent import libraries
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import Version

TIMEOUT = 20.0
"""The timeout of one run in seconds; loading the library from a cold disk takes most of it."""

OUTPUT_LIMIT = 1 << 20
_TICK = 0.1  # seconds between two checks of ``cancel``

_CHILD = """
import ctypes, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
library = ctypes.CDLL(sys.argv[1])
code = ctypes.c_int(0)
library.ncclGetVersion(ctypes.byref(code))
print("ncdiag-version", code.value, flush=True)
print("ncdiag-result", library.ncclGetUniqueId(ctypes.create_string_buffer(4096)), flush=True)
if hasattr(library, "ncclParamDumpAll"):
    library.ncclParamDumpAll.restype = None
    library.ncclParamDumpAll()
    ctypes.CDLL(None).fflush(None)
"""
_VERSION = lazy_regex(r"ncdiag-version (\d+)")
_RESULT = lazy_regex(r"ncdiag-result (\d+)")
_BOOTSTRAP = lazy_regex(r"Bootstrap ?: Using (?:\[0\])?([^:\s]+):([0-9A-Fa-f:.]+(?:%[^<\s]+)?)<\d+>")


class LibraryAnswer(msgspec.Struct, frozen=True):
    """The result of running a library.

    ``interface`` and ``address`` come from its ``Bootstrap : Using`` line, None when it printed none. ``result`` is the
    ncclResult_t of ncclGetUniqueId, None when it did not return. ``log`` is everything it printed. ``problem`` is a
    sentence that says why there is no answer (not loadable, crashed, timeout), None when the call returned.
    """

    version: Version | None
    interface: str | None
    address: str | None
    result: int | None
    log: str
    problem: str | None = None


def ask(
    path: str | os.PathLike[str], env: Mapping[str, str] | None = None, timeout: float = TIMEOUT,
    inside: Sequence[str] = (), cancel: threading.Event | None = None,
) -> LibraryAnswer:  # fmt: skip
    """Load the library at ``path`` in a child process and let it choose its bootstrap interface.

    ``env`` are the NCCL variables to set; the child does not inherit those of this process, but reads conf files.
    ``inside`` is put before the command, for instance ``("ip", "netns", "exec", "node1")``. The child ends as soon as
    ``cancel`` is set. Raises nothing: errors are in ``problem``.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NCCL_")}
    logging = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,BOOTSTRAP,ENV,NET"}
    command = [*inside, sys.executable, "-I", "-c", _CHILD, os.fspath(path)]
    output, problem = _run(command, {**clean, **logging, **(env or {})}, timeout, cancel or threading.Event())
    version, result, found = _VERSION.search(output), _RESULT.search(output), _BOOTSTRAP.search(output)
    return LibraryAnswer(
        version=Version.from_code(int(version[1])) if version else None,
        interface=found[1] if found else None,
        address=found[2] if found else None,
        result=int(result[1]) if result else None,
        log="".join(line for line in output.splitlines(keepends=True) if not line.startswith("ncdiag-")),
        problem=problem,
    )


def _run(
    command: Sequence[str], env: Mapping[str, str], timeout: float, cancel: threading.Event
) -> tuple[str, str | None]:  # fmt: skip
    """Return the output of the command and what went wrong, if anything.

    The whole process group is ended in any case.
    """
    try:
        child = subprocess.Popen(  # noqa: S603  (our own interpreter, or the caller's namespace command before it)
            command, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return "", f"{command[0]} could not be started: {error.strerror}"
    try:
        output, finished = _read(child, time.monotonic() + timeout, cancel)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    text = output.decode("utf-8", "replace")
    if len(output) >= OUTPUT_LIMIT:
        return text, f"it printed more than {OUTPUT_LIMIT >> 20} MiB"
    if not finished:
        return text, f"no answer within {timeout:g} seconds"
    if child.returncode < 0 and "ncdiag-result" not in text:
        return text, f"the library ended the process with {signal.Signals(-child.returncode).name}"
    if "ncdiag-result" not in text:
        return text, "the file could not be loaded as an NCCL library"
    return text, None


def _read(child: subprocess.Popen[bytes], deadline: float, cancel: threading.Event) -> tuple[bytes, bool]:
    """Return the child's output, at most ``OUTPUT_LIMIT`` bytes.

    False with it when the deadline or the limit was reached.
    """
    if child.stdout is None:
        return b"", False
    parts: list[bytes] = []
    size = 0
    with selectors.DefaultSelector() as selector, child.stdout:
        selector.register(child.stdout, selectors.EVENT_READ)
        while (rest := deadline - time.monotonic()) > 0 and size < OUTPUT_LIMIT and not cancel.is_set():
            if not selector.select(min(rest, _TICK)):
                continue
            part = os.read(child.stdout.fileno(), 65536)
            if not part:
                try:
                    child.wait(max(0.1, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    break
                return b"".join(parts), True
            parts.append(part)
            size += len(part)
    return b"".join(parts), False


def find_libraries(environment: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """Return the files libnccl.so* that a program could load, in the order of `ncdiag.agent.libraries.found`."""
    return tuple(map(Path, libraries.found(os.environ if environment is None else environment)))


def find_plugins(environment: Mapping[str, str] | None = None) -> tuple[Path, ...]:
    """Return the plugin files (libnccl-net*.so* and the like: tuner, profiler) in the same folders, each once."""
    return tuple(map(Path, libraries.found(os.environ if environment is None else environment, libraries.PLUGINS)))
