"""A running job that ncdiag did not start: its processes on this host, by what their environment has in common."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

import msgspec
import psutil

from ncdiag.apps.watching.job import descendants
from ncdiag.apps.watching.stacks import Mode, Stacks, environment, take
from ncdiag.apps.watching.standing import standing
from ncdiag.base.errors import UsageError
from ncdiag.machine.host import Machine
from ncdiag.machine.nvml_use import use
from ncdiag.text import Reading, TextSource, read_source

AUTO = "auto"
"""The word for the only job of this host."""
_EXAMINED = "{count} processes of the job {name} on this host were examined at {since}"
_STARTED = "; the oldest started at {started}"
"""The catalogue has both as ``job-examined``."""
_SLURM = "SLURM_JOB_ID="
_SHOWN = 8
"""Maximum number of jobs that an error names."""


def of_process(pid: int, proc: Path = Path("/proc")) -> tuple[str, list[int]]:
    """The name of the job of a process, and its processes on this host, the given one first.

    They are its descendants, and all that have the job's variables in common with it or with one of them. Raises
    UsageError if the process does not exist.
    """
    if not (proc / str(pid)).is_dir():
        msg = f"there is no process {pid}"
        raise UsageError(msg)
    known = [pid, *descendants(pid)]
    names = [name for each in known if (name := _name(environment(proc / str(each))))]
    name = names[0] if names else ""
    found = [*known, *(_jobs(proc).get(name, ()) if name else ())]
    return name or f"of process {pid}", [each for each in dict.fromkeys(found) if each != os.getpid()]


def of_name(wanted: str, proc: Path = Path("/proc")) -> tuple[str, list[int]]:
    """The job with this name or id of Slurm, or the only one of this host if the word is ``auto``, and its processes.

    Raises UsageError, which lists the jobs, if there is none or more than one.
    """
    jobs = _jobs(proc)
    number = wanted.removeprefix(_SLURM)
    if found := jobs.get(wanted) or ([] if wanted == AUTO else _of_slurm(number, proc)):
        return (wanted if wanted in jobs else f"{_SLURM}{number}"), found
    if wanted == AUTO and len(jobs) == 1:
        return next(iter(jobs.items()))
    named = list(jobs.items())[:_SHOWN]
    listed = "; ".join(f"{each} ({len(pids)} processes): --pid {pids[0]}" for each, pids in named)
    what = f"no process of job {wanted} on this host" if wanted != AUTO else "which job?"
    msg = f"{what}; the jobs here are {listed}" if jobs else "no process that this user may see belongs to a job"
    raise UsageError(msg)


def writing(files: Collection[tuple[int, int]], proc: Path = Path("/proc")) -> list[int]:
    """The processes that have one of these files or pipes (device, inode) open for writing, and others of their job.

    Only those that this user may see; without this process.
    """
    found = [int(place.name) for place in proc.glob("[0-9]*") if place.name.isdigit() and _writes(place, files)]
    names = {name for pid in found if (name := _name(environment(proc / str(pid))))}
    others = (pid for name, pids in _jobs(proc).items() if name in names for pid in pids) if names else ()
    return [pid for pid in sorted({*found, *others}) if pid != os.getpid()]


def _writes(place: Path, files: Collection[tuple[int, int]]) -> bool:
    """Has the process of a folder of /proc one of the files open for writing, as the mode of the link says?"""
    with contextlib.suppress(OSError):
        for link in (place / "fd").iterdir():
            with contextlib.suppress(OSError):  # it was closed meanwhile
                status = link.stat()
                if (status.st_dev, status.st_ino) in files and link.lstat().st_mode & stat.S_IWUSR:
                    return True
    return False


def examined(machine: Machine, name: str, pids: list[int], mode: Mode) -> tuple[Machine, Stacks]:
    """The machine with what the processes of a job on it do now: states, stacks, and the use of the GPUs."""
    told = _EXAMINED.format(count=len(pids), name=name, since=_stamp(time.time()))
    started = _oldest(pids)
    head = told if started is None else told + _STARTED.format(started=_stamp(started))
    states = [head, *standing(pids)]
    taken = take(pids, mode)
    texts = {"/proc": "\n".join([*states, ""]), "py-spy dump": taken.text, "NVML": use()}
    readings = tuple(_read(source, text, machine.host) for source, text in texts.items() if text)
    return msgspec.structs.replace(machine, examined=readings), taken


def _stamp(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%dT%H:%M:%SZ}"


def _oldest(pids: Iterable[int]) -> float | None:
    """When the oldest of the processes started, in seconds since 1970; None if all have ended or cannot be read."""
    starts = []
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            starts.append(psutil.Process(pid).create_time())
    return min(starts, default=None)


def _read(source: str, text: str, host: str) -> Reading:
    """The reading of a text about a host."""
    reading = read_source(TextSource.of_bytes(source, text.encode("utf-8", "replace")))
    observations = tuple(msgspec.structs.replace(found, host=host) for found in reading.observations)
    return msgspec.structs.replace(reading, observations=observations)


def _name(variables: Mapping[str, str]) -> str:
    """What the environment of a process says of its job, as ``NAME=value``; empty if nothing.

    A rendezvous is the closest name, since a job of Slurm may start several programs.
    """
    if variables.get("MASTER_ADDR") and variables.get("MASTER_PORT"):
        return f"MASTER_ADDR={variables['MASTER_ADDR']} MASTER_PORT={variables['MASTER_PORT']}"
    return next((f"{key}={variables[key]}" for key in ("PMIX_NAMESPACE", "SLURM_JOB_ID") if variables.get(key)), "")


def _jobs(proc: Path) -> dict[str, list[int]]:
    """The processes of each job that this user may see."""
    found: dict[str, list[int]] = defaultdict(list)
    for pid, variables in _environments(proc):
        name = _name(variables)
        if name:
            found[name].append(pid)
    return dict(found)


def _of_slurm(job: str, proc: Path) -> list[int]:
    return [pid for pid, variables in _environments(proc) if variables.get("SLURM_JOB_ID") == job]


def _environments(proc: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The environment of each other process, in the order of their ids."""
    numbers = sorted(int(place.name) for place in proc.glob("[0-9]*") if place.name.isdigit())
    own = {os.getpid(), os.getppid()}
    yield from ((pid, environment(proc / str(pid))) for pid in numbers if pid not in own)
