"""Recognise quickly whether an archive, folder or text holds a machine: a bundle, an sos report, a recorded root."""

from __future__ import annotations

from pathlib import Path

from ncdiag.base.patterns import lazy_regex

SCRIPT_MARK = b"# ncdiag "
"""First bytes of the output of the program of ``ncdiag collect --script``."""

PARTIAL_MARK = b'{"ncdiag_partial":'
"""First bytes of a partial reading (`ncdiag.text.reading.partial`)."""

SOS_COMMANDS = "sos_commands"
"""The folder of an sos report that holds the outputs of programs."""

MEMBER_LIMIT = 400_000
"""Maximum number of entries checked in the archive of a machine; a large sos report has 50,000."""

_MARKS = {
    "bundle": lazy_regex(r"ncdiag-bundle/manifest\.json$"),  # ncdiag.agent.pack
    "sos": lazy_regex(r"(?:\./)?sosreport-[^/]{1,255}/"),  # sos/report/__init__.py: the name of the archive
    "tree": lazy_regex(
        r"(?:\./)?(?:[^/]{1,255}/)?(?:(?:sys|proc)/[^/]|dev/(?:infiniband|nvidia)|etc/(?:hostname|nccl\.conf)$|\.dockerenv$)"
    ),
}


def form_of(name: str) -> str | None:
    """``bundle``, ``sos`` or ``tree``, by the name of the first member of an archive; None for other archives."""
    return next((form for form, mark in _MARKS.items() if mark.match(name)), None)


def is_root(folder: str) -> bool:
    """True if a folder holds files of a machine at their usual paths."""
    return any(Path(folder, part).is_dir() for part in ("sys/class", "sys/bus", "proc/net", SOS_COMMANDS))


def is_sos(folder: str) -> bool:
    """True if a folder is an unpacked sos report."""
    return Path(folder, SOS_COMMANDS).is_dir()
