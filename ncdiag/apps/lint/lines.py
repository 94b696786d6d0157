"""Files of ``NAME=VALUE`` lines: nccl.conf as NCCL reads it, env files, and the environment of a process."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.apps.lint.model import Document, Edit, Place, Setting
from ncdiag.base.patterns import lazy_regex

_LINE = lazy_regex(r"[^\n]*\n?")
_NAME = lazy_regex(r"[A-Za-z_]\w*")


def _rows(document: Document, place: Place, indent: int = 0) -> Iterator[tuple[Place, str]]:
    """(place of the line with its end, text without indentation and end) of each line of a stretch."""
    start = place.start
    while start < place.end:
        found = _LINE.match(document.text, start, place.end)
        stop = found.end() if found else place.end
        line = document.text[start:stop].removesuffix("\n")
        inset = min(indent, len(line) - len(line.lstrip(" ")))
        yield Place(start + inset, stop), line[inset:]
        start = max(stop, start + 1)


def read_conf(document: Document, place: Place, group: int = 0, indent: int = 0) -> None:
    """Parse lines of an nccl.conf, as NCCL does.

    ``indent``: the number of blanks before each line that belong to the text around it.
    """
    from ncdiag.apps.lint.findings import finding
    from ncdiag.nccl.selection.settings import setting_of
    from ncdiag.nccl.versions import CONF_COMMENTS

    for at, line in _rows(document, place, indent):
        if not line.strip() or line.startswith("#"):
            continue
        written, value = setting_of(line, CONF_COMMENTS) or ("", "")  # it keeps the carriage returns that 2.30 removes
        name = _NAME.search(written.split()[-1]) if written.strip() else None
        where = Place(at.start, at.start + len(line))
        mended = f"{written.split()[-1]}={value}" if name else ""
        if not name:
            document.found.append(
                finding("conf-line-without-effect", where, what="A line without NAME=VALUE sets nothing",
                        edits=(Edit(where.start, where.start, "# "),), fixable=True)
            )  # fmt: skip
            continue
        if written != name[0]:
            document.found.append(
                finding("conf-line-without-effect", where, variable=name[0],
                        what=f"NCCL reads {written!r} as the variable name, including 'export' and spaces",
                        edits=(Edit(where.start, where.start + len(written), name[0]),), fixable=bool(mended))
            )  # fmt: skip
            continue
        split = at.start + len(written) + 1
        document.settings.append(
            Setting(
                name=name[0], value=value, name_at=Place(at.start, split - 1),
                value_at=Place(split, split + len(value)),
                removal=Edit(document.text.rfind("\n", 0, at.start) + 1, at.end, ""), quoting="raw", group=group,
            )
        )  # fmt: skip


def read_env(document: Document, place: Place, group: int = 0) -> None:
    """Parse lines of an env file (docker ``--env-file``, compose ``env_file``, systemd, ``.env``)."""
    for at, line in _rows(document, place):
        found = re.match(r"[ \t]*(\w+)[ \t]*=[ \t]*", line)
        if found is None or line.lstrip().startswith("#"):
            continue
        start = at.start + found.end()
        value = line[found.end() :]
        document.settings.append(
            Setting(
                name=found[1], value=None if "$" in value else value, quoting="raw", group=group,
                name_at=Place(at.start + found.start(1), at.start + found.end(1)),
                value_at=Place(start, at.start + len(line)), removal=Edit(at.start, at.end, ""), reaches="all",
            )
        )  # fmt: skip


def read_process(document: Document) -> None:
    """Parse the environment of a live process, one variable per line; nothing can be fixed there."""
    for at, line in _rows(document, Place(0, len(document.text))):
        name, equals, value = line.partition("=")
        if equals:
            split = at.start + len(name) + 1
            document.settings.append(
                Setting(
                    name=name, value=value, name_at=Place(at.start, split - 1),
                    value_at=Place(split, at.start + len(line)), quoting="none",
                )
            )  # fmt: skip
