"""``lsmod``, ``cat /proc/modules`` and both behind grep: loaded kernel modules, and those known to be absent.

Source of the format: kmod tools/lsmod.c (``Module  Size  Used by``), BusyBox modutils/lsmod.c (which adds whether the
kernel is tainted) and kernel/module/procfs.c (name, size, users, state, address). An empty answer to ``lsmod | grep
NAME`` is a fact: no module with that text in its line is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section, span
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision
from ncdiag.formats.shell import pipeline

KIND = "lsmod"
COMMANDS: tuple[str, ...] = ("lsmod", "cat /proc/modules", "grep /proc/modules")
_KNOWN = (
    r"(?:nvidia|nv_peer|nvme|ib_|iw_|mlx[45]|mlxfw|rdma|gdrdrv|efa|bnxt|irdma|i40iw|hns_roce|nouveau|amdgpu|xpmem|knem"
    r"|cxi)\w*"
)
ANCHOR = (
    r"\s{0,8}Module[ \t]+Size[ \t]+Used[ \t]{1,8}by"
    rf"|[ \t]{{0,8}}{_KNOWN}[ \t]+\d{{4,9}}[ \t]+-?\d{{1,5}}(?:[ \t]|$)(?:[ \t]*[\w,\[\]-]+)?"
    r"(?:[ \t]+Live .{0,80})?[ \t]*$"
)
STRUCTURE = " \tabceghikmnrx"
SIGNS = ("Used",)

_HEADER = lazy_regex(r"\s*Module\s+Size\s+Used\s{1,8}by(?:\s+(?:Not tainted|Tainted: [A-Z ]{1,30}))?\s*$")
_ROW = lazy_regex(
    r"\s*(?P<name>[A-Za-z0-9_]{1,64})\s+(?P<size>\d{3,10})\s+(?P<used>-?\d{1,6})(?:\s+(?P<by>[\w,\[\]-]*))?(?:\s+Live\s.*)?\s*$"
)
_WRAPPED = lazy_regex(r"\s*[\w,]+\s*$")
_FAILED = lazy_regex(r".{0,80}\blsmod: .{0,40}not found")
_COUNT = lazy_regex(r"\s*\d{1,4}\s*$")
"""What ``grep -c`` and ``wc -l`` print."""
_LITERAL = lazy_regex(r"[\w-]+$")

WATCHED = (
    "nvidia_peermem", "nv_peer_mem", "nvidia", "nvidia_uvm", "nvidia_fs", "gdrdrv", "nouveau", "mlx5_core", "mlx5_ib",
    "ib_core",
    "ib_uverbs", "ib_umad", "ib_ipoib", "rdma_ucm", "rdma_cm", "efa", "irdma", "bnxt_re",
)  # fmt: skip
"""Modules whose absence matters; a grep that would have shown one and did not makes it known absent."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows belong, and the rest of a list of users that was wrapped behind a comma."""
    if _ROW.match(line) or _FAILED.match(line) or is_elision(line) or (not lines and _COUNT.match(line)):
        return True
    if not line.strip():
        return bool(lines) and bool(lines[-1].strip())
    return bool(lines) and lines[-1].rstrip().endswith(",") and _WRAPPED.match(line) is not None


def parse(section: Section) -> Parsed:
    """Modules with size and use count; complete when the listing begins with its header and was not filtered."""
    found: list[Observation] = []
    unread: list[int] = []
    header = elided = failed = False
    counts = any(_counts(stage) for stage in pipeline(section.command)[1:])
    for index, line in enumerate(section.lines):
        row = _ROW.match(line)
        if row:
            fields: dict[str, Any] = {"size": int(row["size"]), "used_by": max(int(row["used"]), 0)}
            users = [name for name in (row["by"] or "").split(",") if name not in {"", "-", "[permanent]"}]
            fields |= {"users": users} if users and not line.rstrip().endswith(",") else {}
            found.append(observe(section, index, "KernelModule", (row["name"],), **fields))
        elif _HEADER.match(line):
            header = True
        elif counts and _COUNT.match(line):
            failed = int(line) > 0  # their number does not say which they are
        elif is_elision(line):
            elided = True
        elif _FAILED.match(line):
            failed = True
        elif line.strip() and not (index and section.lines[index - 1].rstrip().endswith(",")):
            unread.append(index)
    stages = pipeline(section.command)
    sound = not unread and not elided and not failed
    if sound and len(stages) > 1:
        found += _absent(section, stages[1:], {o.key[0] for o in found})
    whole = header or (bool(found) and bool(stages) and stages[0][0].endswith("cat"))
    complete = sound and whole and bool(found) and not stages[1:]
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=complete)


def _counts(stage: Sequence[str]) -> bool:
    """Does the command print the number of lines in place of the lines?"""
    read = _grep(stage)
    return stage[0] == "wc" or (read is not None and "c" in read[1])


def _absent(section: Section, filters: Sequence[Sequence[str]], listed: set[object]) -> list[Observation]:
    """What the filters would have shown and did not: one observation with the names of the absent modules."""
    absent: set[str] | None = None
    for stage in filters:
        if stage[0] == "wc":
            continue
        tested = _would_show(stage)
        if tested is None:
            return []
        absent = tested if absent is None else absent & tested
    names = sorted((absent or set()) - {str(name) for name in listed})
    if not names:
        return []
    line = section.span(0) if section.lines else span(section.source, section.first_line, section.command or "")
    return [Observation(entity="Host", host=section.host, span=line, fields={"absent_modules": names})]


def _would_show(stage: Sequence[str]) -> set[str] | None:
    """Module names that this grep passes; None for one that cannot be read (another program, -v, patterns)."""
    read = _grep(stage)
    if read is None:
        return None
    patterns, flags = read
    literals = {part for pattern in patterns for part in pattern.replace("\\|", "|").split("|") if part}
    if not literals or not all(_LITERAL.match(part.removeprefix("^")) for part in literals):
        return None
    beginnings = {part.removeprefix("^") for part in literals if part.startswith("^")}
    if beginnings:  # of names that are in a row, no module that nobody names is known to be meant
        within = {part for part in literals if not part.startswith("^")}
        if "w" in flags:
            return set(WATCHED) & (beginnings | within)
        return {name for name in WATCHED if name.startswith(tuple(beginnings)) or any(part in name for part in within)}
    known = {part for part in literals if "-" not in part and not any(part in name for name in WATCHED)}
    if "i" in flags:
        literals = {part.lower() for part in literals}
    if "w" in flags:
        return (known | set(WATCHED)) & literals
    return {name for name in known | set(WATCHED) if any(part in name for part in literals)}


def _grep(stage: Sequence[str]) -> tuple[list[str], str] | None:
    """Patterns and flags of a grep; None for another program, a file argument, or flags that turn its meaning."""
    if stage[0].rsplit("/", 1)[-1] not in {"grep", "egrep", "fgrep"}:
        return None
    options = [word for word in stage[1:] if word.startswith("-") and not word.startswith("--color")]
    patterns = [word for word in stage[1:] if not word.startswith("-")]
    flags = "".join(option.lstrip("-") for option in options)
    many = flags.count("e")
    if set(flags) - set("ieEFwnPc") or len(patterns) != max(many, 1):
        return None
    return patterns, flags
