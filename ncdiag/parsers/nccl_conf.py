"""``/etc/nccl.conf`` and ``~/.nccl.conf``: settings that apply where the environment does not say otherwise.

Lines are read as NCCL reads them (`ncdiag.nccl.selection.settings.setting_of`); the first setting of a name wins.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats.shell import is_variable, without_secrets
from ncdiag.nccl.selection.settings import setting_of

KIND = "nccl_conf"
_FILES = (
    "/etc/nccl.conf",
    "~/.nccl.conf",
    "$HOME/.nccl.conf",
    "/root/.nccl.conf",
    "nccl.conf",
    ".nccl.conf",
    "./nccl.conf",
)
COMMANDS: tuple[str, ...] = tuple(f"{tool} {name}" for name in _FILES for tool in ("cat", "more", "less")) + _FILES
_PATH = r"(?:/etc/nccl\.conf|(?:~|\$HOME|/root|/home/[\w.-]{1,40})/\.nccl\.conf|\$NCCL_CONF_FILE)"
ANCHOR = rf"(?:#[ \t]*)?(?:cat[ \t]+)?{_PATH}[ \t]*:?[ \t]*(?:$|[A-Z][A-Z0-9_]{{2,60}}=)"

_HEADING = lazy_regex(rf"(?:#\s*)?(?:cat\s+)?{_PATH}\s*:?\s*")
_NAME = lazy_regex(r"[A-Za-z_]\w{0,100}")
_HOME_PATH = lazy_regex(r"/(?:root|home/[\w.-]{1,64})/\.nccl\.conf$")
_CONF_PATH = lazy_regex(r"(?:[/~]|\$HOME)[\w./$-]{0,200}\.conf(?![\w.])")
_IN_VAIN = lazy_regex(r"\s*(?:export\s+)?[A-Z][A-Z0-9_]{2,60}\s*=")
"""Lines that people write and NCCL does not understand; they stay unread."""
_ABSENT = lazy_regex(r"cat: \S*nccl\.conf'?: No such file or directory")


def continues(lines: Sequence[str], line: str) -> bool:
    """Assignments, comments and blank lines belong."""
    patterns = (_ABSENT, _IN_VAIN)
    read = setting_of(line)
    sets = read is not None and _NAME.fullmatch(read[0]) is not None
    return sets or not line.strip() or line.startswith("#") or any(pattern.match(line) for pattern in patterns)


def _path(text: str | None) -> str | None:
    """The conf file that a command, a heading or a source names: a path whose name ends in ``.conf``."""
    found = _CONF_PATH.search(text or "")
    return found[0] if found else None


def _read_from(source: str) -> str | None:
    """The path on its host of a conf file that was read itself, also out of a recorded tree or an archive."""
    if source.endswith("/etc/nccl.conf"):
        return "/etc/nccl.conf"
    home = _HOME_PATH.search(source)
    if home:
        return home[0]
    inside = source.rpartition(":")[2]
    return _path(inside) if inside.startswith("/") else None


def parse(section: Section) -> Parsed:
    """A setting for each name; the first one counts."""
    section = without_secrets(section)
    found: dict[str, Observation] = {}
    unread: list[int] = []
    file = _path(section.command) or _read_from(section.source)
    for index, raw in enumerate(section.lines):
        file = file or (_path(raw) if _HEADING.match(raw) else None)
        line = _HEADING.sub("", raw, count=1) if _HEADING.match(raw) else raw
        if not line.strip() or line.startswith("#") or _ABSENT.match(line):
            continue
        name, text = setting_of(line) or ("", "")
        if not _NAME.fullmatch(name):
            unread.append(index)
        elif is_variable(name) and name not in found:
            found[name] = observe(
                section, index, "Setting", (name,), standing="conf", is_set=True, text=text, origin="conf file",
                file=file,
            )  # fmt: skip
    return Parsed(observations=tuple(found.values()), unread=tuple(unread))
