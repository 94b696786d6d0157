"""Resource limits: ``ulimit -a`` of bash, dash and zsh, ``ulimit -l`` alone, ``/proc/PID/limits``, ``prlimit``.

Sources of the formats: bash builtins/ulimit.def, dash src/miscbltin.c, BusyBox shell/shell_common.c, fish
src/builtins/ulimit, tcsh sh.func.c (``limit``), zsh Src/Builtins/rlimits.c, ksh93 src/cmd/ksh93/data/limits.c, mksh
funcs.c (c_ulimit), Linux fs/proc/base.c (proc_pid_limits), util-linux sys-utils/prlimit.c. Names are those of
setrlimit(2) in lower case; sizes become bytes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import is_elision

KIND = "ulimit"
COMMANDS: tuple[str, ...] = (
    "ulimit",
    "limit",
    "prlimit",
    "cat /proc/self/limits",
    "limits",
    "cat /proc/$(pidof",
    "cat /proc/$(pgrep",
)
ANCHOR = (
    r"[ \t]*(?:core file size|real-time non-blocking time|max locked memory|open files|data seg size|stack size"
    r"|max user processes)[ \t]+\((?:[a-z0-9 -]+, )?-[a-zA-Z]\)"
    r"|(?:core file size|(?:max )?locked memory|open files|stack size|(?:locked )?address space(?: limit)?"
    r"|nofile|nproc)"
    r"(?: \([A-Za-z]+\))?[ \t]+\(-[a-zA-Z]\)[ \t]"
    r"|time\(cpu-seconds\)[ \t]+\S+[ \t]*$|lockedmem\(KiB\)[ \t]+\S+[ \t]*$"
    r"|Maximum (?:size|number|amount) [a-zA-Z ]{5,60}[ \t]+\((?:kB, |seconds, )?-[a-zA-Z]\)[ \t]"
    r"|(?:memorylocked|cputime|descriptors|memoryuse)[ \t]+(?:\d|unlimited)"
    r"|time\(seconds\)[ \t]+\S+[ \t]*$|locked memory\(kbytes\)[ \t]+\S+[ \t]*$"
    r"|-[a-z]: [a-z -]{3,30}(?:\([a-z0-9 -]+\))?[ \t]+(?:\d+|unlimited)[ \t]*$"
    r"|Limit[ \t]+Soft Limit[ \t]+Hard Limit|Max (?:locked memory|processes|open files)[ \t]+(?:\d+|unlimited)[ \t]"
    r"|RESOURCE[ \t]+DESCRIPTION[ \t]+SOFT[ \t]+HARD"
    r"|ulimit -[a-zA-Z][ \t]*[:=][ \t]*(?:\d+|unlimited)[ \t]*$"
)

_VALUE = r"(?P<value>\d{1,20}|unlimited|not supported)"
_BASH = lazy_regex(
    r"\s*(?P<label>[a-zA-Z][a-zA-Z -]{2,60}?)\s*(?:\((?P<before>[A-Za-z0-9-]{1,20})\)\s+)?"
    r"\((?:(?P<unit>[a-zA-Z0-9 -]{1,20}), )?-(?P<letter>[a-zA-Z])\)"
    rf"\s+{_VALUE}\s*$"
)
_DASH = lazy_regex(rf"\s*(?P<label>[a-z-]{{1,20}}(?: memory)?)(?:\((?P<unit>[A-Za-z0-9-]{{1,20}})\))?\s+{_VALUE}\s*$")
_ZSH = lazy_regex(
    rf"\s*-(?P<letter>[a-zA-Z]): (?P<label>[a-z -]{{3,40}}?)\s*(?:\((?P<unit>[a-z0-9 -]{{1,20}})\))?\s+{_VALUE}\s*$"
)
_PROC = lazy_regex(
    rf"\s*(?P<label>Max [a-z -]{{3,25}}?)\s+{_VALUE}\s+(?P<hard>\d{{1,20}}|unlimited)(?:\s+(?P<unit>[a-z]+))?\s*$"
)
_PRLIMIT = lazy_regex(
    rf"\s*(?P<label>[A-Z]{{2,10}})\s+[a-zA-Z][a-zA-Z' -]{{3,50}}?\s+{_VALUE}\s+(?P<hard>\d{{1,20}}|unlimited)"
    r"(?:\s+(?P<unit>[a-z]+))?\s*$"
)
_CSH = lazy_regex(rf"\s*(?P<label>[a-z]{{5,16}})\s+{_VALUE}(?:\s+(?P<unit>kbytes|seconds))?\s*$")
_ALONE = lazy_regex(
    rf"\s*(?:(?P<host>[\w.-]{{1,64}}):\s{{1,8}})?(?:ulimit -(?P<letter>[a-zA-Z])\s*[:=]\s*)?{_VALUE}\s*$"
)
"""A value, behind the host or the number of the task where a launcher wrote it there."""
_HEADER = lazy_regex(r"\s*(?:Limit\s+Soft Limit|RESOURCE\s+DESCRIPTION)")
_ASKED = lazy_regex(
    r"ulimit\s+(?P<first>-[HS]\s+)?-(?P<hard>[HS]?)(?P<letter>[a-zA-Z])(?P<last>\s+-[HS])?[\s\"']*(?=[;&|#)]|$)"
)
"""A question of the command, which may have several: ``ulimit -l; ulimit -n``."""

_LETTERS = {
    "c": "core", "d": "data", "e": "nice", "f": "fsize", "i": "sigpending", "l": "memlock", "m": "rss", "n": "nofile",
    "p": "pipe",
    "q": "msgqueue", "r": "rtprio", "R": "rttime", "s": "stack", "t": "cpu", "u": "nproc", "v": "as", "x": "locks",
    "b": "sbsize", "k": "kqueues", "M": "as", "P": "npts", "T": "threads", "w": "swap",
}  # fmt: skip
_DASH_NAMES = {
    "time": "cpu", "file": "fsize", "data": "data", "stack": "stack", "coredump": "core", "memory": "rss",
    "locked memory": "memlock", "lockedmem": "memlock", "flocks": "locks", "sigpending": "sigpending",
    "process": "nproc", "processes": "nproc", "nofiles": "nofile", "vmemory": "as", "locks": "locks",
    "rtprio": "rtprio", "maxrtprio": "rtprio", "maxnice": "nice", "msgqueue": "msgqueue", "resident-set": "rss",
    "address-space": "as",
}  # fmt: skip
_CSH_NAMES = {
    "memorylocked": "memlock", "descriptors": "nofile", "openfiles": "nofile", "stacksize": "stack", "maxproc": "nproc",
    "coredumpsize": "core", "memoryuse": "rss", "vmemoryuse": "as", "datasize": "data", "filesize": "fsize",
    "cputime": "cpu",
}  # fmt: skip
_PROC_NAMES = {
    "Max cpu time": "cpu", "Max file size": "fsize", "Max data size": "data", "Max stack size": "stack",
    "Max core file size": "core",
    "Max resident set": "rss", "Max processes": "nproc", "Max open files": "nofile", "Max locked memory": "memlock",
    "Max address space": "as", "Max file locks": "locks", "Max pending signals": "sigpending",
    "Max msgqueue size": "msgqueue",
    "Max nice priority": "nice", "Max realtime priority": "rtprio", "Max realtime timeout": "rttime",
}  # fmt: skip
_FACTORS = {
    "kbytes": 1024,
    "kb": 1024,
    "kB": 1024,
    "KiB": 1024,
    "Kibytes": 1024,
    "kilobytes": 1024,
    "512 bytes": 512,
    "mb": 1 << 20,
    "512-byte blocks": 512,
}
_IN_KIB = frozenset({"l", "d", "s", "m", "v"})
_OF_SERVICE = lazy_regex(
    r"(?:/proc/|^prlimit\s(?:.{0,40}\s)?(?:-p|--pid)[\s=])\"?\$\((?:pidof|pgrep)(?:\s+-\w{1,3})*\s+"
    r"(?P<unit>[a-z][\w-]{1,30})\)"
)
"""``/proc/$(pidof slurmd)/limits``, ``prlimit -p $(pgrep -o slurmd)``."""
_UNIT_LIMITS = {"memlock": "LimitMEMLOCK", "nofile": "LimitNOFILE", "nproc": "LimitNPROC", "stack": "LimitSTACK"}
_BLOCKS = {"bash": 1024, "dash": 512, "zsh": 512}


def continues(lines: Sequence[str], line: str) -> bool:
    """Lines of the layout that began the section belong."""
    if is_elision(line) or (not lines and _ALONE.match(line)):
        return True
    first = next((text for text in lines if text.strip()), line)
    if (alone := _ALONE.match(first)) and not _DASH.match(first):
        told = _ALONE.match(line)
        return told is not None and (alone["host"] is None) == (told["host"] is None)
    if _HEADER.match(first) or _PROC.match(first) or _PRLIMIT.match(first):
        return bool(_PROC.match(line) or _PRLIMIT.match(line))
    if (word := _CSH.match(first)) and word["label"] in _CSH_NAMES:
        return _CSH.match(line) is not None
    return bool(_BASH.match(line) or _ZSH.match(line) or (_DASH.match(first) and _DASH.match(line)))


def parse(section: Section) -> Parsed:
    """Soft limits by name; complete when the whole table is there (it holds memlock and at least ten lines)."""
    found: list[Observation] = []
    unread: list[int] = []
    asked = list(_ASKED.finditer(section.command or ""))
    answers = _answers(section.lines, asked)
    for index, line in enumerate(section.lines):
        read = _read(line, answers.get(index))
        if read:
            name, fields = read
            alone = _ALONE.match(line)
            host = alone["host"] if alone and alone["host"] and not alone["host"].isdigit() else None
            found.append(observe(section, index, "Limit", (name,), host=host, **fields))
            found += _of_service(section, index, line)
        elif line.strip() and not _HEADER.match(line) and not is_elision(line):
            unread.append(index)
    found = [o for o in found if o.fields]
    names = {o.key[0] for o in found}
    complete = not unread and "memlock" in names and len(names) >= 10  # noqa: PLR2004  (the shortest table has twelve)
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=complete)


def _answers(lines: Sequence[str], asked: Sequence[re.Match[str]]) -> dict[int, re.Match[str]]:
    """The question that each line with only a value answers, by the index of the line; left out where it is ambiguous.

    Several questions are answered in their order, by each host or task that the lines name. Another number below the
    answer of one question may be the output of anything; the same one again is that of another task.
    """
    of_whom: dict[str | None, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if alone := _ALONE.match(line):
            of_whom[alone["host"]].append(index)
    if len(asked) > 1:
        whole = [at for at in of_whom.values() if len(at) == len(asked)]
        return {index: question for at in whole for question, index in zip(asked, at, strict=True)}
    first = {who: lines[at[0]] for who, at in of_whom.items()}
    return {i: asked[0] for who, at in of_whom.items() for i in at if asked and (who or lines[i] == first[who])}


def _of_service(section: Section, index: int, line: str) -> Iterator[Observation]:
    """A limit of the service whose process the command looks up: what it starts inherits it."""
    asked, row = _OF_SERVICE.search(section.command or ""), _PROC.match(line)
    row = row or _PRLIMIT.match(line)
    known = _PROC_NAMES.get(row["label"], row["label"].lower()) if row else ""
    name = _UNIT_LIMITS.get(known)
    if asked and row and name:
        unit = "docker" if asked["unit"] == "dockerd" else asked["unit"]
        value = "infinity" if row["value"] == "unlimited" else row["value"]
        yield observe(section, index, "Service", (unit,), limits={name: value})


def _read(line: str, asked: re.Match[str] | None) -> tuple[str, Mapping[str, Any]] | None:
    """Name and fields of one limit."""
    for layout, pattern in (("bash", _BASH), ("zsh", _ZSH)):
        found = pattern.match(line)
        if found:
            name = _LETTERS.get(found["letter"])
            before = found.groupdict().get("before")
            counted = "dash" if before else layout  # BusyBox counts blocks of 512 bytes, as dash does
            return (name, _fields(found["value"], _factor(found["unit"] or before, counted))) if name else None
    found = _PROC.match(line)
    if found and found["label"] in _PROC_NAMES:
        return _PROC_NAMES[found["label"]], {**_fields(found["value"], 1), **_hard(found["hard"])}
    found = _PRLIMIT.match(line)
    if found:
        return found["label"].lower(), {**_fields(found["value"], 1), **_hard(found["hard"])}
    found = _CSH.match(line)
    if found and found["label"] in _CSH_NAMES:
        return _CSH_NAMES[found["label"]], _fields(found["value"], _factor(found["unit"], "bash"))
    found = _DASH.match(line)
    if found and found["label"] in _DASH_NAMES:
        return _DASH_NAMES[found["label"]], _fields(found["value"], _factor(found["unit"], "dash"))
    return _alone(line, asked)


def _alone(line: str, asked: re.Match[str] | None) -> tuple[str, Mapping[str, Any]] | None:
    """A value by itself: the command (``ulimit -l``) or the words before it say which limit it is."""
    found = _ALONE.match(line)
    letter = found["letter"] or (asked["letter"] if asked else None) if found else None
    if found is None or letter not in _LETTERS:
        return None
    factor = 1024 if letter in _IN_KIB else 1
    if asked and any("H" in (part or "") for part in (asked["first"], asked["hard"], asked["last"])):
        value = found["value"]
        return _LETTERS[letter], _hard(value if value == "unlimited" else str(int(value) * factor))
    return _LETTERS[letter], _fields(found["value"], factor)


def _factor(unit: str | None, layout: str) -> int:
    if unit == "blocks":
        return _BLOCKS[layout]
    return _FACTORS.get(unit or "", 1)


def _fields(value: str, factor: int) -> dict[str, Any]:
    if value == "not supported":
        return {}
    if value == "unlimited":
        return {"unlimited": True}
    return {"soft": int(value) * factor, "unlimited": False}


def _hard(value: str) -> dict[str, Any]:
    return {"hard_unlimited": True} if value == "unlimited" else {"hard": int(value)}
