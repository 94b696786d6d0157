"""What processes were doing, by their stacks: in a collective, in NCCL's set-up, waiting for a lock, or elsewhere.

The innermost known function decides. Functions of Python are identified by their file too, since users give their own
functions the same names (torch/distributed/distributed_c10d.py and rendezvous.py, 1.9 to 2.9); those of NCCL by name
alone (src/init.cc, src/bootstrap.cc, src/transport.cc, v2.4.6 to v2.30.7). A process that holds a lock has left the
functions that wait for it (torch/utils/file_baton.py, 1.0 to 2.9; filelock 3 and the copies of it; portalocker 2;
flock(2)). Waiting for another thread decides only where nothing else on the stack is known, since most libraries wait
so.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import StackDump, StackFrame, StackThread
from ncdiag.facts.view import View

Place = Literal[
    "rendezvous", "set-up", "collective", "gpu", "data", "checkpoint", "lock", "import", "compile", "thread",
    "operation",
]  # fmt: skip
WAITS: frozenset[Place] = frozenset({"rendezvous", "set-up", "collective", "gpu"})
"""Places in which a process waits for the other processes of its job, or for a GPU that does."""
_SET_UP = lazy_regex(
    r"(?:\w+::)*(?:ncclCommInit\w*|ncclCommSplit\w*|bootstrap(?:Init|Recv|Send|AllGather|Barrier|Net\w*)\w*"
    r"|initTransportsRank|p2pSetup|ncclTransport\w*(?:Setup|Connect)\w*|ncclSocketAccept|ncclProxyConnect"
    r"|P?MPI_Init(?:_thread)?|ompi_mpi_init)\b"
)
_GPU = lazy_regex(r"(?:cu|cuda|hip)(?:Stream|Device|Event|Ctx)Synchronize\w*|testStreamSynchronize")
_CALLED = lazy_regex(
    r"(?:i?all_?reduce|i?all_gather|reduce_scatter|all_to_all|broadcast|barrier|monitored_barrier|reduce|gather|scatter"
    r"|send|recv|batch_isend_irecv)(?:_\w+)?"
)
_NATIVE_CALL = lazy_regex(
    r"(?:\w+::)*nccl(?:AllReduce|AllGather|ReduceScatter|Broadcast|Bcast|Reduce|Send|Recv|AlltoAll)\b"
    r"|P?MPI_(?:I?(?:Allreduce|Allgather|Alltoall|Reduce|Bcast|Gather|Scatter|Barrier)\w*|Recv|Sendrecv)\b"
)
_OPERATION = lazy_regex(r"ncclLocalOpAppend\b")
"""Waits for a free entry of the pool in which operations go to the network thread (src/proxy.cc, since 2.12)."""
_THREAD = lazy_regex(r"(?:_+GI_+|_+)?(?:pthread_mutex_lock|lll_lock_wait)\w*(?:@.*)?|PyThread_acquire_lock\w*")
_COMPILER = lazy_regex(
    r"(?:nvrtc|hiprtc)CompileProgram|(?:cu|hip|nvJit)LinkComplete|nvPTXCompilerCompile"
    r"|(?:\w+::)*xla::(?:\w+::)*\w*Compile\w*"
)
_COMPILES = lazy_regex(
    r"torch/_dynamo/(?:convert_frame|symbolic_convert|output_graph|bytecode_transformation)\.py"
    r"|torch/_inductor/(?:compile_fx|async_compile|graph|lowering|scheduler)\.py|torch/_inductor/codegen/"
    r"|torch/utils/cpp_extension\.py|(?:^|/)triton/compiler/|jax/_src/compiler\.py"
)
"""Files whose functions run only while a program is compiled (PyTorch 2.0 to 2.9, Triton 2.1 to 3.5, JAX 0.4).

Compiled code itself runs below ``torch/_dynamo/eval_frame.py`` and ``torch/_inductor/output_code.py``.
"""
_RUNS = frozenset({"run", "runner"})
"""Functions of those files that call what was compiled."""
_LOCK_FILE = lazy_regex(r"(?:^|/)(?:_?filelock(?:\.py$|/)|file_baton\.py$|portalocker/|fasteners/process_lock\.py$)")
_LOCK = lazy_regex(r"(?:_+GI_+|_+)?(?:flock|lockf)(?:64)?(?:@.*)?$")
_NATIVE: tuple[tuple[Place, re.Pattern[str]], ...] = (
    ("set-up", _SET_UP), ("collective", _NATIVE_CALL), ("gpu", _GPU), ("lock", _LOCK), ("operation", _OPERATION),
    ("compile", _COMPILER), ("thread", _THREAD),
)  # fmt: skip
_FILES: tuple[tuple[Place, re.Pattern[str]], ...] = (
    ("lock", _LOCK_FILE), ("rendezvous", lazy_regex(r"torch/distributed/(?:rendezvous\.py|elastic/rendezvous/)")),
    ("data", lazy_regex(r"torch/utils/data/")),
    ("checkpoint", lazy_regex(r"torch/(?:serialization\.py|distributed/checkpoint/)")),
    ("compile", _COMPILES), ("import", lazy_regex(r"<frozen importlib\.")),
    ("collective", lazy_regex(r"(?:^|/)(?:pipeline_parallel/p2p_communication|deepspeed/runtime/pipe/p2p)\.py")),
)  # fmt: skip
"""Files of which every function is such a place; the last are of pipelines (Megatron-LM, apex, DeepSpeed).

Their functions send and receive, and wait in native code, which a stack of Python does not show.
"""
_C10D = "torch/distributed/distributed_c10d.py"
_AWAITS = {
    "fetch_sub_module": "deepspeed/runtime/zero/partitioned_param_coordinator.py",  # waits for the weights of a module
    "wait_tensor": "torch/distributed/_functional_collectives.py",
    "_wait_batch_p2p": "torch/distributed/pipelining/schedules.py",
}  # fmt: skip
"""Functions that wait for a collective started earlier, with their files (since DeepSpeed 0.6, PyTorch 2.1 and 2.8)."""
_KNOWN: dict[str, tuple[str, Place]] = {
    "synchronize": ("torch/cuda/__init__.py", "gpu"), **{name: (file, "collective") for name, file in _AWAITS.items()},
}  # fmt: skip
"""Functions that wait, with their file and what they wait for."""
_TUNES = lazy_regex(
    r"(?:bench|benchmark_all_configs|autotune_to_one_config|coordinate_descent_tuning|_?precompile\w*|_?make_launchers?)$"
)
"""Functions that compile and measure variants of a kernel when it is first called."""
_TUNER = "torch/_inductor/runtime/triton_heuristics.py"
_HELPERS = lazy_regex(
    r"torch/utils/data/_utils/(?:worker|pin_memory)\.py|torch/distributed/(?:elastic/(?:agent|multiprocessing)/|run\.py)"
    r"|torch/multiprocessing/spawn\.py|torch/_inductor/compile_worker/|multiprocessing/(?:resource_tracker|forkserver)\.py"
    r"|deepspeed/launcher/|accelerate/commands/|horovod/runner/"
)
"""Files of processes that are no ranks: launchers, which wait for their children, and workers that load or compile."""
_BEGINS = frozenset({"<module>", "main", "_start", "__libc_start_main", "_run_module_as_main"})
"""The outermost function of the main thread."""
_LIBRARIES = lazy_regex(
    r"(?:^|/)(?:torch|torchinductor_\w+|triton|jax|jaxlib|site-packages|dist-packages)/|(?:^|/)lib/python3|^<|\.so(?:\.|$)|\.cc?$|\.cpp$|\.h$"
)
_CLEARS = lazy_regex(r"(?:_+GI_+|_+)?memset\w*(?:@.*)?$")
_IN_NCCL = lazy_regex(r"(?:^|/)lib[nr]ccl[\w.-]*\.so")
_STORE = frozenset({"_store_based_barrier", "init_process_group"})
_THREAD_FILES = lazy_regex(r"(?:^|/)(?:threading|queue)\.py$")
_THREAD_WAITS = frozenset({"wait", "acquire", "join", "get", "put", "_wait_for_tstate_lock"})
_WORDS: dict[Place, str] = {
    "rendezvous": "at the rendezvous", "set-up": "during communicator setup", "collective": "in a collective",
    "gpu": "waiting for its GPU", "data": "loading data", "checkpoint": "in a checkpoint",
    "lock": "at the lock of a file", "import": "importing a module", "compile": "compiling",
    "thread": "waiting for another thread",
    "operation": "waiting for NCCL's network thread to take operations",
}  # fmt: skip


def _place(frame: StackFrame) -> Place | None:
    function, file = frame.function.rpartition(".")[2], (frame.file or "").replace("\\", "/")
    native = next((place for place, pattern in _NATIVE if pattern.match(frame.function)), None)
    if native is not None or file.endswith(_C10D):
        return native or ("rendezvous" if function in _STORE else "collective" if _CALLED.fullmatch(function) else None)
    if file.endswith(_KNOWN.get(function, ("\0", None))[0]):
        return _KNOWN[function][1]
    if file.endswith(_TUNER):
        return "compile" if _TUNES.match(function) else None
    if function in _RUNS and _COMPILES.search(file) and not file.endswith("graph.py"):
        return None
    if function in _THREAD_WAITS and _THREAD_FILES.search(file):
        return "thread"
    return next((place for place, part in _FILES if part.search(file)), None)


def main_threads(dump: StackDump) -> tuple[StackThread, ...]:
    """The threads that may be the main one: those marked so, else those that begin with the program, else all."""
    return _known_main(dump) or dump.threads


def _known_main(dump: StackDump) -> tuple[StackThread, ...]:
    marked = tuple(thread for thread in dump.threads if thread.is_main)
    return marked or tuple(t for t in dump.threads if t.frames and t.frames[-1].function in _BEGINS)


def telling_frame(dump: StackDump) -> tuple[Place, StackFrame] | None:
    """The innermost known frame of the main thread with its place, or None.

    If the main thread is not known, it is one of the first thread that has a known frame. A process that has failed is
    nowhere.
    """
    if dump.has_failed:
        return None
    found = [(place, frame) for t in main_threads(dump) for frame in t.frames if (place := _place(frame)) is not None]
    return next((each for each in found if each[0] != "thread"), found[0] if found else None)


def is_helper(dump: StackDump) -> bool:
    """True for a process that is not a rank: a launcher, or a worker that loads data or compiles."""
    return any(_HELPERS.search(frame.file or "") for thread in main_threads(dump) for frame in thread.frames)


def called_by(dump: StackDump) -> StackFrame | None:
    """The function of the user's own program that called the known one; None if the stack shows none."""
    found = telling_frame(dump)
    for thread in main_threads(dump):
        if found is None or found[1] in thread.frames:
            rest = thread.frames[thread.frames.index(found[1]) if found else 0 :]
            return next((frame for frame in rest if is_own(frame)), None)
    return None


def awaited_by(dump: StackDump) -> StackFrame | None:
    """The function on the stack that waits for a collective which was started earlier; None if there is none."""
    frames = (frame for thread in main_threads(dump) for frame in thread.frames)
    return next((each for each in frames if (each.file or "").endswith(_AWAITS.get(each.function, "\0"))), None)


def is_own(frame: StackFrame) -> bool:
    """True for a function of a file that belongs neither to Python nor to an installed package."""
    file = (frame.file or "").replace("\\", "/")
    module = file.partition("/")[0].removesuffix(".py")
    is_python = not file.startswith("/") and module in sys.stdlib_module_names
    return frame.line is not None and not is_python and not _LIBRARIES.search(file)


def entered(dump: StackDump) -> tuple[Place, StackFrame] | None:
    """The place, with the outermost function of that place next to the innermost one, which a reader knows by name.

    ``__next__`` of the data loader where the innermost known function is ``_try_get_data``.
    """
    found = telling_frame(dump)
    if found is None:
        return None
    for thread in main_threads(dump):
        if found[1] in thread.frames:
            *_, last = _run(thread.frames[thread.frames.index(found[1]) :], found[0])
            return found[0], last
    return found


def _run(frames: tuple[StackFrame, ...], place: Place) -> Iterator[StackFrame]:
    """The frames up to the first that is not of the place."""
    for frame in frames:
        if _place(frame) != place:
            return
        yield frame


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
    for thread in main_threads(dump):
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


@derived
def clears_memory(dump: StackDump, view: View) -> bool:
    """Was NCCL, in the setup of a communicator, writing zeros into new memory? It then waits for nobody."""
    view.note(dump)
    for frames in (thread.frames for thread in dump.threads if len(thread.frames) > 1):
        if _CLEARS.match(frames[0].function) and _IN_NCCL.search(frames[1].file or ""):
            return any(_place(frame) == "set-up" for frame in frames)
    return False


def own_frame(dump: StackDump) -> StackFrame | None:
    """The innermost function of the main thread whose line is known; None without one."""
    frames = (frame for thread in _known_main(dump) for frame in thread.frames)
    return next((frame for frame in frames if frame.line is not None), None)


def process_name(dump: StackDump) -> str:
    """The process of a stack, ``process 77 on n1``, as far as its dump shows it."""
    who = (
        f"rank {dump.rank}" if dump.rank is not None else f"process {dump.pid}" if dump.pid is not None else "a process"
    )
    return f"{who} on {dump.host}" if dump.host and dump.rank is None else who


def place_words(place: str) -> str:
    """What a process does at a place, in words: ``loading data``."""
    return next(words for known, words in _WORDS.items() if known == place)


@derived
def stands_text(dump: StackDump, view: View) -> str:
    """What the process was doing: ``process 4242 on n3 is in a collective (all_reduce)``."""
    return f"{process_name(dump)} is {place_text(dump)}"
