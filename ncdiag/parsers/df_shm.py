"""``df`` with any unit: mounted file systems with their sizes; /dev/shm is the one NCCL depends on.

Source of the format: GNU coreutils src/df.c, BusyBox coreutils/df.c. Without a header and suffix the unit is df's
own, 1 KiB. Under ``--output`` the header says which columns there are; suffixes are powers of 1000 under ``-H``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.basics import arguments, is_elision
from ncdiag.formats.units import size_bytes

KIND = "df_shm"
COMMANDS: tuple[str, ...] = ("df",)
_NUMBER = r"\d[\d.,]{0,18}[KMGTPE]?i?B?"
_FIRST = (
    r"(?:Filesystem|Dateisystem|Sys\. de fichiers|S\.ficheros"
    r"|\u6587\u4ef6\u7cfb\u7edf|\u30d5\u30a1\u30a4\u30eb\u30b7\u30b9)"
)
_LAST = (
    r"(?:Mounted on|Eingeh\u00e4ngt auf|Mont\u00e9 sur|Montado en"
    r"|\u6302\u8f7d\u70b9|\u30de\u30a6\u30f3\u30c8\u4f4d\u7f6e)"
)
"""The ends of the heading as coreutils translates them (po/de, fr, es, zh_CN, ja)."""
ANCHOR = (
    rf"[ \t]*{_FIRST}[ \t]*.{{0,80}}{_LAST}[ \t]*$"
    rf"|[ \t]*[A-Za-z0-9_/][\w/.:-]{{0,80}}[ \t]+{_NUMBER}[ \t]+{_NUMBER}[ \t]+{_NUMBER}[ \t]+\d{{1,3}}%[ \t]+/"
)
STRUCTURE = " \t/_0" + ascii_lowercase

_HEADER = lazy_regex(rf"\s*{_FIRST}.*{_LAST}\s*$")
_BLOCK = lazy_regex(r"(\d{0,6}[KMG]?i?B?)-(?:blocks|Bl\u00f6cke|\u5757|\u30d6\u30ed\u30c3\u30af)$")
_BLOCKS_OF = lazy_regex(r"[Bb]lo(?:cs|ques) de 1K\b")
_PERCENT = lazy_regex(r"(?:\d{1,3}%|-)$")
_OPTION = lazy_regex(r"-[hHkmPTal]+$")
_SI = lazy_regex(r"\s(?:-[a-zA-Z]{0,6}H|--si)\b")
_COLUMNS = {
    "Filesystem": "filesystem", "Type": "fstype", "Size": "size_bytes", "Used": "used_bytes",
    "Avail": "available_bytes", "Available": "available_bytes", "Use%": "", "Capacity": "", "Inodes": "", "IUsed": "",
    "IFree": "", "IUse%": "", "Mounted": "path", "File": "",
}  # fmt: skip
"""Fields of Mount by the names of columns (df.c, field_data); empty for what is not kept."""
_USUAL = ["size_bytes", "used_bytes", "available_bytes", "", "path"]
_NOISE = lazy_regex(r".{0,40}\bdf: ")
_MOUNT = 4
"""Words before the mount point at least: three sizes and the share, behind the file system's name."""


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows belong, df's own complaints, a long device name on a line of its own and the row behind it."""
    if not line.strip() or _NOISE.match(line) or is_elision(line):
        return True
    if _HEADER.match(line):
        return all(_NOISE.match(text) or not text.strip() for text in lines)
    alone, chosen = line.split(), _chosen(lines[0].split())
    if _row(alone) is not None or (chosen and _cells(chosen, alone)):
        return True
    return len(alone) == 1 and len(line) > 20 and alone[0].startswith("/")  # noqa: PLR2004  (df wraps behind 20 columns)


def parse(section: Section) -> Parsed:
    """Mounts by path; complete when the listing has its header and no filter or path chose the rows."""
    found: list[Observation] = []
    unread: list[int] = []
    unit: int | None = 1024
    typed = header = False
    device = ""
    chosen: list[str] = []
    step = 1000 if _SI.search(section.command or "") else 1024
    for index, line in enumerate(section.lines):
        words = line.split()
        if _HEADER.match(line) or (index == 0 and _chosen(words)):
            header, unit, typed, chosen = True, _unit(words), "Type" in words, _chosen(words)
        elif not words or _NOISE.match(line) or is_elision(line):
            continue
        elif chosen:
            cells = _cells(chosen, words)
            if cells is None or unit is None:
                unread.append(index)
            else:
                found.append(_observed(section, index, cells, unit, step))
        elif len(words) == 1 and words[0].startswith("/"):
            device = words[0]
        else:
            place = _row([device, *words] if device else words)
            words, device = [device, *words] if device else words, ""
            if place is None or unit is None:
                unread.append(index)
                continue
            found.append(_observed(section, index, _usual(words, place, typed=typed), unit, step))
    asked = arguments(section.command, "df") if section.command else []
    plain = asked is not None and all(_OPTION.match(word) for word in asked)
    complete = header and not unread and len(found) > 2 and plain  # noqa: PLR2004  (a machine has more than two)
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=complete)


def _unit(words: Sequence[str]) -> int | None:
    """Bytes that a number without a suffix counts; None for a table of inodes."""
    if any(word.startswith(("Inodes", "IUse")) for word in words):
        return None
    if _BLOCKS_OF.search(" ".join(words)):
        return 1024
    for word in words:
        block = _BLOCK.match(word)
        if block:
            return size_bytes(block[1]) or 1024 if block[1][:1].isdigit() else 1024
    return 1


def _row(words: Sequence[str]) -> int | None:
    """Place of the mount point among the words of a row; None when it is none."""
    for place in range(_MOUNT, min(len(words), 12)):
        if words[place].startswith("/") and _PERCENT.match(words[place - 1]):
            sizes = words[place - 4 : place - 1]
            if all(size == "-" or size_bytes(size) is not None for size in sizes):
                return place
    return None


def _usual(words: Sequence[str], place: int, *, typed: bool) -> dict[str, str]:
    """A row's texts by field.

    Rows without a device name begin with the sizes; the type of the file system comes before them under -T.
    """
    size, used, available = words[place - 4 : place - 1]
    before = words[: place - 4]
    return {
        "path": " ".join(words[place:]), "size_bytes": size, "used_bytes": used, "available_bytes": available,
        "filesystem": " ".join(before[:-1] if typed else before), "fstype": before[-1] if typed and before else "",
    }  # fmt: skip


def _chosen(heading: Sequence[str]) -> list[str]:
    """Fields of the columns that ``--output`` chose; empty where the heading is the usual one or not in English."""
    words = [word for word in heading if word != "on"]
    fields = [_COLUMNS.get(word, "size_bytes" if _BLOCK.match(word) else None) for word in words]
    known = [field for field in fields if field is not None]
    usual = known[-5:] == _USUAL
    return known if len(known) == len(fields) and "path" in known and not usual else []


def _cells(fields: Sequence[str], words: Sequence[str]) -> dict[str, str] | None:
    """A row's texts by chosen field; None when it has other columns. A path at the end may have blanks."""
    last = len(fields) - 1
    texts = [*words[:last], " ".join(words[last:])] if fields[-1] == "path" else list(words)
    cells = dict(zip(fields, texts, strict=False))
    sizes = [text for name, text in cells.items() if name.endswith("_bytes")]
    shaped = len(texts) == len(fields) and cells["path"].startswith("/")
    return cells if shaped and all(text == "-" or size_bytes(text) is not None for text in sizes) else None


def _observed(section: Section, index: int, cells: Mapping[str, str], unit: int, step: int) -> Observation:
    """The mount of a row; a dash stands for a size that there is not."""
    fields: dict[str, Any] = {
        name: (size_bytes(text, unit, step) if name.endswith("_bytes") else text) if text not in {"", "-"} else None
        for name, text in cells.items()
        if name not in {"", "path"}
    }
    return observe(section, index, "Mount", (cells["path"],), **fields)
