"""Which variables a job is given, so that NCCL and PyTorch write what a diagnosis needs; never one that is set already.

NCCL (src/debug.cc, read at seven tags from 2.3.5 to 2.30.7):

- NCCL_DEBUG_FILE is opened by each process when NCCL_DEBUG is WARN or more. ``%h`` is the host name up to its first
  dot, ``%p`` the process id, ``%%`` a percent sign; anything else stays as it is. WARN and INFO then go to the file
  alone. If it cannot be opened (no such folder on that host), everything goes to standard output.
- NCCL_DEBUG_SUBSYS replaces the default. Up to 2.30.4 names that a release does not know are passed over; from 2.30.7
  one such name makes it fall back to its default. Those of `SUBSYSTEMS` are known to it.

PyTorch (torch/csrc/distributed/c10d): the flight recorder is off by default in older releases (0 entries, no dump on a
timeout), and on with 2000 entries in newer ones.
Newer names (TORCH_FR_...) are read by releases whose headers have them, which warn of the older ones; the older ones
are read by all (`ncdiag.apps.watching.torch`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ncdiag.agent.ask import conf_files
from ncdiag.apps.watching.torch import Names
from ncdiag.nccl.selection.settings import setting_of

LEVEL = "INFO"
SUBSYSTEMS = "INIT,BOOTSTRAP,ENV,NET,GRAPH"
"""The subsystems that show the start of a job, without lines for each collective."""
LOG = "nccl.%h.%p.log"
DUMP = "nccl_trace_rank_"
PIPE = "dump_now_"
ENTRIES = "2000"


class Settings(msgspec.Struct, frozen=True):
    """``given`` are set for the job. ``logs``: patterns of NCCL's logs, ``dumps``: prefix of the dumps' names.

    ``pipes``: prefix of the names of pipes that request a dump from PyTorch. ``notes`` are sentences for the user.
    """

    given: dict[str, str]
    logs: tuple[str, ...] = ()
    dumps: str = ""
    pipes: str = ""
    notes: tuple[str, ...] = ()
    own_log: str = ""
    """The user's own NCCL_DEBUG_FILE, which ncdiag must not remove."""
    printed: bool = False
    """True if the user set NCCL_DEBUG without a file: NCCL then still writes to standard output."""


def settings(environment: Mapping[str, str], place: str, torch: Names) -> Settings:
    """The variables to set. ``place`` is the prefix of the paths of all files, such as a folder and a slash."""
    known = {**_of_files(environment), **environment}
    if not known.get("NCCL_DEBUG_FILE"):  # NCCL treats an empty name as none and prints
        known.pop("NCCL_DEBUG_FILE", None)
    wanted = {
        torch.size: ENTRIES, torch.on_timeout: "1", torch.file: place + DUMP, torch.pipe: place + PIPE,
    }  # fmt: skip
    printed = "NCCL_DEBUG" in known and "NCCL_DEBUG_FILE" not in known
    if not printed:
        wanted |= {"NCCL_DEBUG": LEVEL, "NCCL_DEBUG_SUBSYS": SUBSYSTEMS, "NCCL_DEBUG_FILE": log_in(place)}
    held = {name: next((known[alias] for alias in torch.aliases(name) if alias in known), None) for name in wanted}
    given = {name: value for name, value in wanted.items() if held[name] is None}
    kept = [f"{name}={known[name]}" for name in ("NCCL_DEBUG", "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE") if name in known]
    return Settings(
        given,
        () if printed else (pattern_of(known.get("NCCL_DEBUG_FILE") or log_in(place)),),
        held[torch.file] or place + DUMP,
        held[torch.pipe] or place + PIPE,
        (f"{', '.join(kept)} is already set and was not changed",) if kept else (),
        known.get("NCCL_DEBUG_FILE", ""),
        printed,
    )


def log_in(place: str) -> str:
    """NCCL_DEBUG_FILE for a place, whose own percent signs must not be expanded."""
    return f"{place.replace('%', '%%')}{LOG}"


def _of_files(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings in NCCL's configuration files on this host, which the environment would override."""
    found: dict[str, str] = {}
    for path in conf_files(environment):
        try:
            text = Path("/", path).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        for line in text.splitlines():
            read = setting_of(line)
            if read is not None:
                found.setdefault(read[0], read[1])
    return found


def pattern_of(value: str) -> str:
    """The glob for the files of a NCCL_DEBUG_FILE, of any host and process.

    >>> pattern_of("/tmp/[a]%h.%p.%%log")
    '/tmp/[[]a]*.*.%log'
    """
    made, position = "", 0
    while position < len(value):
        sign = value[position]
        following = value[position + 1 : position + 2]
        if sign == "%" and following in {"h", "p", "%"}:
            made += "%" if following == "%" else "*"
            position += 2
            continue
        made += f"[{sign}]" if sign in "*?[" else sign
        position += 1
    return made
