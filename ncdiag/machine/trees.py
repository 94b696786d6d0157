"""Machines as files in archives: recorded roots, and sos reports (https://github.com/sosreport/sos).

Only the files that the readers of ``collectors.toml`` need are kept, in memory and with limits. An sos report contains
only some files of /proc and /sys: a missing folder says nothing about the machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ncdiag.agent.ask import CONF_FILES
from ncdiag.agent.hide import file_without_secrets
from ncdiag.agent.look import READ_LIMIT, natural
from ncdiag.base.patterns import lazy_regex
from ncdiag.machine import outputs, patterns
from ncdiag.machine.recording import Recorded
from ncdiag.text import BROKEN, Member, machines, reason_of

SIZE_LIMIT = 256 << 20
"""Maximum number of bytes kept of one machine."""

_TOP = lazy_regex(
    r"(?:\./)?(?:(?!(?:sys|proc|etc|dev|run|usr|root|home|commands|sos_commands)/)[^/]{1,255}/)?(?P<path>.+)"
)
_NAMES = ("etc/hostname", "proc/sys/kernel/hostname")
_REST = "the rest of the archive"
_PARTIAL = "sys/class/net"
"""sos stores flags and statistics of interfaces, but not their kind."""


def recorded(members: Iterable[Member], form: str, label: str) -> Recorded:
    """The recording of a machine from the members of an archive; ``label`` is its name if they do not contain one."""
    made = Recorded(host=label, replies=False)
    try:
        _keep(made, members)
    except BROKEN as error:
        made.failures[_REST] = reason_of(error)
    if form == "sos":
        _without_partial(made)
    _list_folders(made)
    if form == "sos":
        absent = {folder for folder in patterns.listed() if "*" not in folder} - {*made.folders}
        made.refused |= dict.fromkeys(absent, "not in the sos report")
    names = (made.files.get(path, b"").decode("utf-8", "replace").strip() for path in _NAMES)
    made.host = next((name.split(".", 1)[0] for name in names if name), made.host)
    return made


def _keep(made: Recorded, members: Iterable[Member]) -> None:
    """Keep the members that the readers need. Raises the errors of reading a damaged archive."""
    wanted, left = patterns.regex((*patterns.every(), *CONF_FILES, *_NAMES, "commands/*")), SIZE_LIMIT
    for number, member in enumerate(members):
        found = _TOP.match(member.name)
        path = found["path"].rstrip("/") if found else ""
        if number >= machines.MEMBER_LIMIT or left <= 0:
            made.failures[_REST] = "it is too much"
            return
        if not member.name and member.reason:
            made.failures[_REST] = member.reason
        elif member.link and wanted.fullmatch(path):
            made.links[path] = member.link
        elif member.reader is not None and (wanted.fullmatch(path) or _is_output(path)):
            data = file_without_secrets(path, _beginning(member))
            made.files[path] = data
            left -= len(data)


def _is_output(path: str) -> bool:
    return path.startswith(f"{machines.SOS_COMMANDS}/") and path.count("/") == 2 and outputs.of_sos(path) is not None  # noqa: PLR2004


def _beginning(member: Member) -> bytes:
    """The start of a file, up to the limit for files on a live machine; ten times as much of a program's output."""
    limit = READ_LIMIT * (10 if "commands/" in member.name else 1)
    parts = []
    while member.reader is not None and limit > 0 and (part := member.reader.read(min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _without_partial(made: Recorded) -> None:
    if not any(path.startswith(f"{_PARTIAL}/") and path.endswith("/type") for path in made.files):
        for kept in (made.files, made.links):
            for path in [path for path in kept if path.startswith(f"{_PARTIAL}/")]:
                del kept[path]


def _list_folders(made: Recorded) -> None:
    """Derive the folders and their entries from the kept paths."""
    entries: dict[str, set[str]] = {}
    for path in (*made.files, *made.links):
        parts = path.split("/")
        for index in range(1, len(parts)):
            entries.setdefault("/".join(parts[:index]), set()).add(parts[index])
        entries.setdefault("", set()).add(parts[0])
    made.folders |= {folder: sorted(names, key=natural) for folder, names in entries.items()}


def members_below(folder: Path) -> Iterator[Member]:
    """The files of a folder on disk, as members of an archive; links are not followed."""
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(place, name)
            label = str(path.relative_to(folder))
            if path.is_symlink():
                yield Member(label, link=str(path.readlink()))
            elif path.is_file():
                yield from _opened(path, label)


def _opened(path: Path, label: str) -> Iterator[Member]:
    try:
        opened = path.open("rb")
    except OSError as error:
        yield Member(label, reason=reason_of(error))
        return
    with opened:
        yield Member(label, opened)
