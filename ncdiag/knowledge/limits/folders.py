"""Folders that the user of a job cannot write, and files in folders from which no program may be run."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.files import for_shell
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

_DENIED = lazy_regex(r"\[Errno 13\][^:'\"]{0,40}: ?['\"](?P<path>[^'\"]{1,400})")
_CACHE = lazy_regex(
    r"/\.(?!docker|singularity|snapshots?/|zfs/|Trash|auto(?:fsck|relabel))[a-z][\w.-]{0,60}(?:/.*)?"
    r"|.*/(?:\.cache|\.config|\.triton|\.nv|\.cupy|\.keras|huggingface|torch_extensions|torchinductor_[^/]{1,60})(?:/.*)?"
)
"""A hidden file or folder at the root, which programs make where HOME is /, or a folder that a cache usually has.

File systems and containers have hidden ones at the root as well: snapshots of btrfs, ZFS and filers, marks of Docker.
"""
_UNCACHED = lazy_regex(r"cannot cache function .{1,200}: no locator available for file (?!'<)(?P<path>'?/.{1,300})")
"""Numba found no folder for its cache; code from a string or a notebook has no file (numba/core/caching.py)."""
_AT_ROOT = "/."


@derived_of(EXCEPTION)
def is_cache_refused(event: Event, view: View) -> bool:
    """Could a program not use the folder of its cache or its home folder, for want of rights?"""
    return cache_refused(event, view) != "" and is_open_failure(event, view)


@derived
def cache_refused(event: Event, view: View) -> str:
    """The file or folder in question; empty if the line is about something else."""
    said = str(event.fields.get("error", ""))
    if found := _UNCACHED.search(said):
        return found["path"].strip("'")
    found = _DENIED.search(said)
    return found["path"] if found is not None and _CACHE.fullmatch(found["path"]) else ""


@derived
def is_home_the_root(event: Event, view: View) -> bool:
    """Is the folder hidden and at the root, as where the user has no home folder and HOME is /?"""
    return cache_refused(event, view).startswith(_AT_ROOT)


_COMPILED = lazy_regex(r"/\.triton|/torch_extensions|/torchinductor_")


@derived
def is_compile_cache(event: Event, view: View) -> bool:
    """Is it a folder of compiled kernels or extensions, which can be made anew anywhere?"""
    return _COMPILED.search(cache_refused(event, view)) is not None


_UNMAPPED = lazy_regex(
    r"(?P<path>/[^\s:'\"]{1,300}\.(?:so|pyd)[\w.]{0,40}): failed to map segment from shared object"
    r"(?P<why>: [A-Z].{0,60})?"
)
_FORBIDDEN = ": Operation not permitted"
"""EPERM of mmap(2) for the code of a program on a file system that is mounted noexec."""
_SCRATCH = lazy_regex(
    r"(?:/(?:tmp|var/tmp|dev/shm|run)/|.*/(?:\.triton|\.cache|torch_extensions|torchinductor_[^/]{1,60})/)"
    r"(?!.*(?:site|dist)-packages/).*"
)
"""Folders for temporary files and compiled code; a library that is elsewhere lacks address space (ulimit -v)."""


@derived_of(EXCEPTION, "loader-segment-refused")
def is_code_refused(event: Event, view: View) -> bool:
    """Did the kernel refuse to map the code of a library, as on a file system that is mounted noexec?"""
    return refused_library(event, view) != "" and is_open_failure(event, view)


@derived
def refused_library(event: Event, view: View) -> str:
    """That library; empty otherwise. glibc adds the words of the error in some releases only (elf/dl-load.c)."""
    found = _UNMAPPED.search(event.text) if "failed to map segment" in event.text else None
    if found is None:
        return ""
    why = found["why"] or ""
    return found["path"] if why.startswith(_FORBIDDEN) or (not why and _SCRATCH.match(found["path"])) else ""


@derived
def refused_path(event: Event, view: View) -> str:
    """The folder or library that was refused, for a command."""
    return for_shell(cache_refused(event, view) or refused_library(event, view))
