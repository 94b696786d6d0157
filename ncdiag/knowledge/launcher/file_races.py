"""Files and folders that all ranks create, rename or copy at once: one is first, and the others fail."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.knowledge.launcher.placement import is_under_launcher
from ncdiag.messages.vocabulary.exceptions import EXCEPTION

Race = Literal["checkpoint", "rename", "folder", "copy", ""]

_CREATED = lazy_regex(r"\[Errno 17\] File exists: ?['\"](?P<path>[^'\"]{1,400})['\"]$")
_RENAMED = lazy_regex(r"\[Errno (?:2|17|39|66)\] [^:]{1,40}: ?'(?P<old>[^']{1,400})' -> '(?P<new>[^']{1,400})'")
"""No such file (another rank has renamed it), file exists, directory not empty (of Linux and of macOS)."""
_STAGED = lazy_regex(r"(?:^|/)tmp-checkpoint-[\w.-]{1,60}$")
_FINAL = lazy_regex(r"(?:^|/)checkpoint-\d{1,12}$")
"""transformers/trainer.py, _save_checkpoint (4.36): a folder of this name is renamed when it is complete."""
_TEMPORARY = lazy_regex(r"(?i)(?<![a-z])(?:te?mp|partial|part|incomplete|staging)(?![a-z])")
_COPIED = lazy_regex(r"\[Errno 2\] [^:]{1,40}: ?'[^']{0,300}/transformers_modules/[^']{1,300}\.py'$")
"""transformers/dynamic_module_utils.py, get_cached_module_file: each rank copies the code of the model for itself."""
_CACHES = lazy_regex(
    r"triton|torch_extensions|torch_?inductor|torch_compile_cache|flashinfer|deep_?gemm|tilelang|tvm|nv_?cache|ComputeCache"
)
"""Caches of compiled kernels, which have a rule of their own (compile-cache-race)."""
_NO_ROOM = lazy_regex(r"\[Errno (?:28|69|122)\]")
"""ENOSPC, and EDQUOT of macOS and Linux."""
_NUMBERED = {"spawned-worker-failed": "worker", "worker-failed": "local_rank"}
"""What launchers print of a process that ended, with the hole that has its number."""
_SEGMENT = lazy_regex(r"/[^/]*$|/dev/shm/")
"""A name of shared memory (shm_open), which a process that was killed leaves behind, or a folder of the root."""


@derived
def file_race(event: Event, view: View) -> Race:
    """What ranks do at once: rename a ``checkpoint`` or another file, create a ``folder``, ``copy`` a model's code.

    Empty for other failures, where one process runs, where a disk is full, and where all ranks fail alike: then the
    folder was there before.
    """
    if event.event != EXCEPTION:
        return ""
    found = _race(str(event.fields.get("error", "")), str(event.fields.get("exception", "")))
    if not found or not is_open_failure(event, view):
        return ""
    if found != "folder" and view.remembered(("no room",), lambda: _lacks_room(view)):
        return ""
    if found != "checkpoint" and not _is_one_of_several(event, view):
        return ""
    return "" if found != "checkpoint" and _fails_alike(event, view) else found


def _race(error: str, exception: str) -> Race:
    if _CACHES.search(error):
        return ""
    renamed = _RENAMED.search(error)
    if renamed is not None:
        old, new = renamed["old"], renamed["new"]
        if _STAGED.search(old) and _FINAL.search(new):
            return "checkpoint"
        return "rename" if _TEMPORARY.search(old.removeprefix(_common(old, new))) else ""
    created = _CREATED.search(error) if exception == "FileExistsError" else None
    if created is not None:
        return "" if _SEGMENT.match(created["path"]) else "folder"
    return "copy" if _COPIED.search(error) else ""


def _is_one_of_several(event: Event, view: View) -> bool:
    """Is the process one of several, by its own line, the launch, or the number of one that ended?"""
    if is_under_launcher(event, view):
        return True
    other = view.remembered(("a worker that is not the first",), lambda: _later_worker(view))
    if other is not None:
        view.note(other)
    return other is not None


def _later_worker(view: View) -> Event | None:
    """A line of a launcher about a process with a number above 0."""
    found = [
        event
        for name, hole in _NUMBERED.items()
        for event in view.events_named(name)
        if isinstance(number := event.fields.get(hole), int) and number > 0
    ]
    return min(found, key=lambda event: event.order, default=None)


def _common(old: str, new: str) -> str:
    """The folder that both paths are in, with a slash; empty if they are not in one folder."""
    folder = old.rpartition("/")[0]
    return f"{folder}/" if folder and new.startswith(f"{folder}/") else ""


def _fails_alike(event: Event, view: View) -> bool:
    """Do all ranks of the job report this error?"""
    ranks = view.remembered(("ranks by error",), lambda: _ranks_by_error(view)).get(event.fields.get("error"), set())
    count = view.job.nranks or _started(view.job)
    return count is not None and len(ranks) >= count


def _ranks_by_error(view: View) -> Mapping[object, AbstractSet[int]]:
    found: dict[object, set[int]] = defaultdict(set)
    for event in view.events_named(EXCEPTION):
        if event.rank is not None:
            found[event.fields.get("error")].add(event.rank)
    return found


def _started(job: Job) -> int | None:
    """The number of ranks by the launch lines; None where they differ or do not say it."""
    counts = {launch.np or (launch.nproc_per_node or 0) * (launch.nnodes or 1) for launch in job.launches} - {0}
    return counts.pop() if len(counts) == 1 else None


def _lacks_room(view: View) -> bool:
    """Did a process fail to write because a disk is full or a quota exceeded, so that its file is missing?"""
    return any(_NO_ROOM.search(str(other.fields.get("error", ""))) for other in view.events_named(EXCEPTION))


@derived
def raced_path(event: Event, view: View) -> str:
    """The folder or file that the ranks handle at once, as in the line; empty if the line does not name it."""
    error = str(event.fields.get("error", ""))
    found = re.search(r"'([^']{1,200})'(?: -> '([^']{1,200})')?", error)
    return (found[2] or found[1]) if found is not None else ""
