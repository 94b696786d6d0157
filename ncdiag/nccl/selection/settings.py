"""Where settings come from: the process environment, then the conf files, with the pitfalls of their syntax.

Files are applied with ``setenv(name, value, 0)``: they never overwrite, so the environment wins over files and the
first file over the second (src/misc/param.cc:27-69 and src/os/linux.cc:107, v2.30.7-1; in older tags all in
misc/param.cc, include/param.h).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import versions

SOURCE = "src/misc/param.cc:27 (v2.30.7-1)"
SYSTEM_FILE = "/etc/nccl.conf"
NEWEST = Version(2, 30, 7)
"""Conf files are read as by this release where the release is not known."""
_VALUE_LIMIT = 1023
_BUFFER = 4095


class ConfLine(msgspec.Struct, frozen=True):
    """A line of a conf file that sets a variable; ``line`` counts from 1.

    ``problems`` are sentences about what the writer may not have intended: quotes and blanks that become part of the
    value, ``export`` that becomes part of the name, a comment sign that this version does not support.
    """

    line: int
    name: str
    value: str
    problems: tuple[str, ...] = ()


class Source(msgspec.Struct, frozen=True):
    """The value of a variable in force and its source: ``environment`` or the path of a file."""

    value: str
    origin: str
    line: int = 0


def user_file(environment: Mapping[str, str], home: str, version: Version | VersionRange | None) -> str | None:
    """Return the path of the user's conf file: $NCCL_CONF_FILE if set (2.23 and later), else ~/.nccl.conf.

    ``home`` is the home directory of the passwd entry; from 2.30.3 on NCCL uses $HOME instead. None when the possible
    versions differ. The file /etc/nccl.conf is read after it in any case.
    """

    def path(exact: Version) -> str:
        named = environment.get("NCCL_CONF_FILE")
        if named and exact >= versions.CONF_FILE_VARIABLE:
            return named
        folder = environment.get("HOME", home) if exact >= versions.CONF_HOME_VARIABLE else home
        return f"{folder}/.nccl.conf"

    return versions.agreed(version, (versions.CONF_FILE_VARIABLE, versions.CONF_HOME_VARIABLE), path)


def read_conf(text: str, version: Version) -> tuple[ConfLine, ...]:
    """Return the settings of a conf file as that version reads it; lines without ``=`` are skipped."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        read = setting_of(line, version)
        if read is not None:
            found.append(ConfLine(number, *read, tuple(_problems(*read))))
    return tuple(found)


def setting_of(line: str, version: Version = NEWEST) -> tuple[str, str] | None:
    """Return the name and value that a line of a conf file sets, with blanks and quotes.

    None for a line that sets none.
    """
    if version >= versions.CONF_HOME_VARIABLE:
        line = line[:_BUFFER].removesuffix("\r")
    if line.startswith("#") and version >= versions.CONF_COMMENTS:
        return None
    name, equals, value = line.partition("=")
    return (name[:_VALUE_LIMIT], value[:_VALUE_LIMIT]) if equals else None


def _problems(name: str, value: str) -> list[str]:
    problems = []
    if name.startswith("#"):
        problems.append(f"before 2.26 this is not a comment: it sets a variable called {name!r}")
    elif name.strip().startswith("export "):
        problems.append(f"'export' is not part of this syntax: it sets a variable called {name!r}")
    elif name != name.strip():
        problems.append(f"the blanks belong to the name {name!r}")
    if value[:1] in {'"', "'"}:
        problems.append(f"the quotes belong to the value {value!r}")
    elif value.endswith("\r"):
        problems.append("the carriage return belongs to the value (cut since 2.30.3)")
    elif value != value.strip():
        problems.append(f"the blanks belong to the value {value!r}")
    if len(value) == _VALUE_LIMIT:
        problems.append(f"the value is cut at {_VALUE_LIMIT} characters")
    return problems


def effective(environment: Mapping[str, str], files: Sequence[tuple[str, str]], version: Version) -> dict[str, Source]:
    """Return the variables in force; ``files`` are (path, text) in the order in which NCCL reads them, the first wins.

    A variable that the environment sets to the empty text is set: files do not replace it, and NCCL uses its default.
    """
    found = {name: Source(value, "environment") for name, value in environment.items()}
    for path, text in files:
        for entry in read_conf(text, version):
            found.setdefault(entry.name, Source(entry.value, path, entry.line))
    return found
