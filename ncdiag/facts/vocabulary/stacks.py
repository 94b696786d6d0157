"""What processes were doing, by their stacks: in a collective, in NCCL's set-up, waiting for a lock, or elsewhere.

The innermost known function decides. Functions of Python are identified by their file too, since users give their own
functions the same names (torch/distributed/distributed_c10d.py and rendezvous.py, 1.9 to 2.9); those of NCCL by name
alone (src/init.cc, src/bootstrap.cc, src/transport.cc, v2.4.6 to v2.30.7). A process that holds a lock has left the
functions that wait for it (torch/utils/file_baton.py, 1.0 to 2.9; filelock 3 and the copies of it; portalocker 2;
flock(2)).
"""

from __future__ import annotations

import re
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import StackDump, StackFrame
from ncdiag.facts.view import View

Place = Literal["rendezvous", "set-up", "collective", "gpu", "data", "checkpoint", "lock"]
_SET_UP = lazy_regex(
    r"(?:\w+::)*(?:ncclCommInit\w*|ncclCommSplit\w*|bootstrap(?:Init|Recv|Send|AllGather|Barrier|Net\w*)\w*"
    r"|initTransportsRank|p2pSetup|ncclTransport\w*(?:Setup|Connect)\w*|ncclSocketAccept|ncclProxyConnect)\b"
)
_GPU = lazy_regex(r"(?:cu|cuda|hip)(?:Stream|Device|Event|Ctx)Synchronize\w*|testStreamSynchronize")
_CALLED = lazy_regex(
    r"(?:i?all_?reduce|i?all_gather|reduce_scatter|all_to_all|broadcast|barrier|monitored_barrier|reduce|gather|scatter"
    r"|send|recv|batch_isend_irecv)(?:_\w+)?"
)
_NATIVE_CALL = lazy_regex(
    r"(?:\w+::)*nccl(?:AllReduce|AllGather|ReduceScatter|Broadcast|Bcast|Reduce|Send|Recv|AlltoAll)\b"
)
_LOCK_FILE = r"(?:^|/)(?:_?filelock(?:\.py$|/)|file_baton\.py$|portalocker/|fasteners/process_lock\.py$)"
_LOCK = r"(?:_+GI_+|_+)?(?:flock|lockf)(?:64)?(?:@.*)?"
_FILES: tuple[tuple[Place, str], ...] = (
    ("rendezvous", "torch/distributed/rendezvous.py"), ("rendezvous", "torch/distributed/elastic/rendezvous/"),
    ("data", "torch/utils/data/"), ("checkpoint", "torch/serialization.py"),
    ("checkpoint", "torch/distributed/checkpoint/"),
)  # fmt: skip
_C10D = "torch/distributed/distributed_c10d.py"
_STORE = frozenset({"_store_based_barrier", "init_process_group"})
_WORDS: dict[Place, str] = {
    "rendezvous": "at the rendezvous", "set-up": "during communicator setup", "collective": "in a collective",
    "gpu": "waiting for its GPU", "data": "loading data", "checkpoint": "in a checkpoint",
    "lock": "at the lock of a file",
}  # fmt: skip


def _place(frame: StackFrame) -> Place | None:
    function, file = frame.function.rpartition(".")[2], (frame.file or "").replace("\\", "/")
    if _SET_UP.match(frame.function):
        return "set-up"
    if _NATIVE_CALL.match(frame.function):
        return "collective"
    if re.search(_LOCK_FILE, file) or re.fullmatch(_LOCK, frame.function):
        return "lock"
    if _GPU.match(frame.function) or (function == "synchronize" and file.endswith("torch/cuda/__init__.py")):
        return "gpu"
    if file.endswith(_C10D):
        return "rendezvous" if function in _STORE else "collective" if _CALLED.fullmatch(function) else None
    return next((place for place, part in _FILES if part in file), None)


def telling_frame(dump: StackDump) -> tuple[Place, StackFrame] | None:
    """The innermost known frame with its place, or None.

    It is one of the main thread, else of the first thread that has a known frame.
    """
    main = [thread for thread in dump.threads if thread.is_main]
    for thread in main or dump.threads:
        for frame in thread.frames:
            place = _place(frame)
            if place is not None:
                return place, frame
    return None


def place_text(dump: StackDump) -> str:
    """What the process was doing when its stack was taken, ``in a collective (ncclAllReduce)``; empty if unknown."""
    found = telling_frame(dump)
    if found is not None:
        return f"{_WORDS[found[0]]} ({found[1].function})"
    own = own_frame(dump)
    return f"in {own.function} ({own.file}:{own.line})" if own else "at a place that its stack does not show"


def waits_for_lock_in(dump: StackDump) -> str:
    """The function that requested the lock, ``_jit_compile (torch/utils/cpp_extension.py)``.

    Empty if not in the stack.
    """
    main = [thread for thread in dump.threads if thread.is_main]
    for thread in main or dump.threads:
        places = [_place(frame) for frame in thread.frames]
        if "lock" in places:
            outside = thread.frames[places.index("lock") :]
            asked = next((frame for frame in outside if _place(frame) != "lock"), outside[-1])
            return f"{asked.function} ({asked.file})" if asked.file else asked.function
    return "an unknown function"


@derived
def stands(dump: StackDump, view: View) -> Place | None:
    """The kind of function that the process was in; None if none of its functions is known."""
    found = telling_frame(dump)
    if dump.threads:
        view.note(dump)
    return found[0] if found else None


def own_frame(dump: StackDump) -> StackFrame | None:
    """The innermost function of the main thread whose line is known; None without one."""
    frames = (frame for thread in dump.threads if thread.is_main for frame in thread.frames)
    return next((frame for frame in frames if frame.line is not None), None)


def process_name(dump: StackDump) -> str:
    """The process of a stack, ``process 77 on n1``, as far as its dump shows it."""
    who = (
        f"rank {dump.rank}" if dump.rank is not None else f"process {dump.pid}" if dump.pid is not None else "a process"
    )
    return f"{who} on {dump.host}" if dump.host and dump.rank is None else who
