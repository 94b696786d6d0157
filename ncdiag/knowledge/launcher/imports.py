"""Modules and libraries that a program could not load: which ones, and where they come from."""

from __future__ import annotations

import re
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.facts.vocabulary.places import place
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, is_own_exception
from ncdiag.messages.vocabulary.ucx import missing_ucx_symbol, refused_ucx

_LIBRARY, _SYMBOL, _MODULE = "loader-library-missing", "loader-symbol-missing", "python-module-missing"
MISSING = (_LIBRARY, _MODULE)
"""The events of a module or library that is not there, apart from exceptions that say so."""
_JUDGED = r"(?:.*/)?lib(?:nccl|rccl|mpi|open-)[\w.-]*"
"""Libraries that other rules cover."""
_CLASSES = r"(?:builtins\.)?(?:ModuleNotFoundError|ImportError|OSError)"
_NO_MODULE = r"No module named ['\"]?([\w.]{1,120})"
_NO_NAME = (
    r"cannot import name ['\"]?(\w{1,120})['\"]? from (?P<half>partially initialized module )?['\"]?([\w.]{1,120})"
)
_NO_SYMBOL = r"undefined symbol: ?([^\s,]{1,200})"
_NO_TLS = (
    r"(?:(/?[\w.+/@-]{1,300}): |dlopen: )?"
    r"cannot (?:allocate memory in static TLS block|load any more object with static TLS)"
)
"""glibc elf/dl-reloc.c (until 2.33 also elf/dl-open.c), for a library that is loaded by dlopen."""
_NO_VERSION = r"version [`'\"]([\w.]{1,60})['`\"] not found"
_NO_CUDNN = (
    r"cuDNN version incompatibility: .{0,60}compiled +against (\(\d[\d, ]*\)) .{0,30}runtime version (\(\d[\d, ]*\))"
)
"""torch/backends/cudnn/__init__.py (1.0 to 2.9)."""
_WRAPPED = r"Failed to import ([\w.]{1,200}) because of the following error"
"""The RuntimeError if a module that is imported at its first use fails to load (transformers/utils/import_utils.py)."""
_ENDING = r"sys\.meta_path is None"
"""Errors of imports while Python shuts down, after the failure that ended the program."""
_PACKAGES = (
    "Install the same packages in the Python of every host and container: compare `python -c 'import sys; "
    "print(sys.executable)'` and `pip list` on a host that works."
)
_BUILD = "Rebuild or reinstall the extension for the installed PyTorch, CUDA and Python: its wheel was made for others."
_CANN = (
    "CANN's modules and libraries are found once its environment script is sourced in the shell that "
    "starts the program: `source /usr/local/Ascend/ascend-toolkit/set_env.sh`, on every host."
)
_DRIVER = (
    "The library comes with the GPU driver: start the container with the GPU runtime (`--gpus "
    "all`), or install the driver on the host."
)
_TOOLKIT = (
    "The library is part of CUDA or ROCm, or of the pip packages that a framework installs for itself: "
    "name its folder in LD_LIBRARY_PATH on every host, in the major release at the end of its name."
)
_OLD_SYSTEM = (
    "The program was built on a newer system: use the libstdc++ of its own environment (conda's `lib` "
    "first in LD_LIBRARY_PATH), or a build for this one."
)
_SHADOWED = (
    "One of your own files may have the name of the module (`ls *.py` next to the program); otherwise "
    "the releases of the two packages do not match."
)
_STATIC_TLS = (
    "Memory is not the matter: the library needs thread-local storage of a fixed size, and those loaded before it have "
    "used that up. Load it first: `export LD_PRELOAD=<the library that the line names>`, or import its package before "
    "the others."
)
_OTHER_CUDNN = (
    "The loader finds an older cuDNN before the one that PyTorch brings: take its folder out of LD_LIBRARY_PATH, "
    "or `unset LD_LIBRARY_PATH` in the shell that starts the job; `echo $LD_LIBRARY_PATH` on every host."
)
_FOUND_BY_LOADER = (
    "Install the package that has the library on every host, and name its folder in LD_LIBRARY_PATH "
    "there: `ldd <program> | grep 'not found'`."
)
_HOME = (
    (r"(?:te|tbe|hccl|acl|topi|auto_tune|lib(?:ascend|hccl|ge_|acl|hcom)\w*)(?:\.|$)", _CANN),
    (r"lib(?:cuda|nvidia-ml|nvidia-ptxjitcompiler)\.so", _DRIVER),
    (r"lib(?:cu[a-z]\w*|nv\w+|amdhip64|roc\w+|hip\w+|MIOpen|hsa-runtime64)\.so", _TOOLKIT),
)  # fmt: skip
"""The origin of modules and libraries that no package of the program contains."""


class _Fault(NamedTuple):
    """What could not be loaded, in words, and the fix."""

    text: str
    remedy: str


@derived_of(EXCEPTION, _LIBRARY, _SYMBOL, _MODULE)
def is_failed_import(event: Event, view: View) -> bool:
    """Did a program end because it could not load a module or library of its own?"""
    if _fault(event) is None or _came_past(event, view) or asks_mpi_for_rank(event, view):
        return False
    if missing_ucx_symbol(event.text) or refused_ucx(event.text):  # another rule covers UCX
        return False
    return bool(is_own_exception(event, view) if event.event == EXCEPTION else is_open_failure(event, view))


_NO_MPI = r"\bmpi4py\b|\blibmpi\b|cannot load MPI library"
_UNLAUNCHED = "deepspeed-without-launcher"


def asks_mpi_for_rank(event: Event, view: View) -> bool:
    """Does the process lack MPI, which DeepSpeed asks for its number because no launcher gave it one?"""
    said = " ".join(str(event.fields.get(name, "")) for name in ("python_module", "library", "error"))
    if event.event not in {EXCEPTION, *MISSING} or not re.search(_NO_MPI, said):
        return False
    notice = next((other for other in view.job.events if other.event == _UNLAUNCHED), None)
    if notice is not None:
        view.note(notice)
    return notice is not None


def _came_past(event: Event, view: View) -> bool:
    """Did the rank print NCCL lines afterwards? Where the line names none: did all ranks of the job?"""
    at = place(event)
    behind = [rank for rank in view.job.ranks if (seen := place(rank)) and at and seen[0] == at[0] and seen[1] > at[1]]
    if event.rank is not None:
        return any(rank.rank == event.rank for rank in behind)
    return bool(behind) and view.job.nranks is not None and len({rank.rank for rank in behind}) >= view.job.nranks


@derived
def import_fault(event: Event, view: View) -> str:
    """What could not be loaded, ``the module deepspeed is not there``; empty for other events."""
    found = _fault(event)
    return found.text if found else ""


@derived
def import_remedy(event: Event, view: View) -> str:
    """Where the missing module or library comes from, and what to do; empty for other events."""
    found = _fault(event)
    return found.remedy if found else ""


def _fault(event: Event) -> _Fault | None:
    fields = event.fields
    if event.event == _LIBRARY:
        name = str(fields.get("library", ""))
        return (
            None
            if re.match(_JUDGED, name)
            else _Fault(f"the library {name} is not found", _home(name, _FOUND_BY_LOADER))
        )
    if event.event == _SYMBOL:
        return _Fault(f"a library lacks {str(fields.get('symbol')).rstrip(',')}, which another one needs", _BUILD)
    if event.event == _MODULE:
        return _missing(str(fields.get("python_module", "")))
    if event.event != EXCEPTION:
        return None
    return _raised(str(fields.get("exception", "")), str(fields.get("error", "")))


def _raised(exception: str, said: str) -> _Fault | None:
    """What an exception says could not be loaded."""
    if found := re.match(_WRAPPED, said):
        return _Fault(f"the import of {found[1]} failed, for the reason on the next line", _PACKAGES)
    if found := re.match(_NO_CUDNN, said):
        return _Fault(f"cuDNN {found[2]} was found, and PyTorch needs {found[1]}", _OTHER_CUDNN)
    is_of_import = re.fullmatch(_CLASSES, exception) and not re.match(_ENDING, said)
    return _of_exception(said, is_import="OSError" not in exception) if is_of_import else None


def _of_loader(said: str) -> _Fault | None:
    """What the loader of libraries refused."""
    if found := re.search(_NO_SYMBOL, said):
        return _Fault(f"a library lacks {found[1]}, which another one needs", _BUILD)
    if found := re.search(_NO_TLS, said):
        name = (found[1] or "a library").rpartition("/")[2]
        return _Fault(f"no static thread-local storage is left for {name}", _STATIC_TLS)
    if found := re.search(_NO_VERSION, said):
        return _Fault(f"a library of the system has no {found[1]}", _OLD_SYSTEM)
    return None


def _of_exception(said: str, *, is_import: bool) -> _Fault | None:
    refused = _of_loader(said)
    if refused is not None or not is_import:
        return refused
    if found := re.match(_NO_MODULE, said):
        return _missing(found[1])
    if found := re.match(_NO_NAME, said):
        return _Fault(f"{found[3]} has no {found[1]}", _SHADOWED if found["half"] else _PACKAGES)
    return _Fault(f"an import failed ({said[:120]})" if said else "an import failed", _PACKAGES)


def _missing(module: str) -> _Fault:
    return _Fault(f"the module {module} is not there", _home(module, _PACKAGES))


def _home(name: str, default: str) -> str:
    name = name.rpartition("/")[2]
    return next((remedy for pattern, remedy in _HOME if re.match(pattern, name)), default)


_IMPORTED_AGAIN = "main-imported-again"
_OF_ITS_OWN = lazy_regex(
    r"(?:\w+\.)*(?:Import|ModuleNotFound|Syntax|Indentation|OS|FileNotFound|Permission|BrokenPipe)Error"
    r"|KeyboardInterrupt|SystemExit"
)
"""What an import may raise in a worker alone, though the program is right: its paths differ, or it ends."""


@derived
def fails_as_main_again(job: Job, view: View) -> bool:
    """Does a spawned worker fail while it imports the main program, which had come further: to the start of workers?"""
    again = [event for event in job.events if event.event == _IMPORTED_AGAIN]
    raised = [event for event in job.events if event.event == EXCEPTION]
    if not again or any(_OF_ITS_OWN.fullmatch(str(event.fields.get("exception", ""))) for event in raised):
        return False
    view.note(again[0])
    return True
