"""Write a fix as the line to paste for each launcher.

Each module of this folder is one launcher. It has ``LAUNCHER`` (its name), ``PROGRAMS`` (the programs of a Launch fact
that belong to it) and ``line(change) -> str | None``: the text to paste, None if the launcher cannot express the
change. ``TAG``, if present, is a regular expression for the prefix that the launcher, or the reader of its logs, adds
to the lines of the ranks (Rank.line_tag).
"""

from __future__ import annotations

import functools
import importlib
import itertools
import pkgutil
import re
import shlex
from collections.abc import Iterable, Mapping
from types import ModuleType

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.nccl import environment

_PATH_LIST = lazy_regex(
    r"(?=[^:]{0,2000}:)[\w/.:+-]{0,2000}(?:\$(?:[A-Za-z_]\w{0,80}|\{[A-Za-z_]\w{0,80}\})[\w/.:+-]{0,2000}){1,20}"
)
"""Paths with variables that the shell has to expand."""
USUAL = ("export", "mpirun", "docker")
"""The launchers that come first if the input shows none."""
_TAGS = 64
"""Maximum number of prefixes checked: a job has one launcher, or one within another."""
_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]{0,200}")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The change of a fix for a process: variables set and removed, and options of a container.

    ``passed`` are variables to unset that the command line of the input sets itself, with their values.
    ``endpoint_port``: the port, where the processes meet at an endpoint of torchrun's.
    ``shm_size`` is docker's size text (``8g``); ``memlock_unlimited`` lifts the limit on locked memory.
    """

    env: Mapping[str, str] = {}
    unset: tuple[str, ...] = ()
    passed: Mapping[str, str] = {}
    shm_size: str | None = None
    memlock_unlimited: bool = False
    endpoint_port: str = ""


@functools.lru_cache(maxsize=1)
def launchers() -> Mapping[str, ModuleType]:
    """The modules of this folder by launcher name."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        found[str(loaded.LAUNCHER)] = loaded
    return dict(sorted(found.items()))


def render(change: Change, wanted: Iterable[str] | None = None) -> dict[str, str]:
    """The line for each launcher that can express the change; all launchers unless ``wanted`` names some.

    Variables whose names are not identifiers are left out (input is untrusted and the line goes into a shell).
    """
    safe = msgspec.structs.replace(
        change,
        env={name: value for name, value in change.env.items() if _NAME.fullmatch(name) and "\0" not in value},
        unset=tuple(name for name in change.unset if _NAME.fullmatch(name)),
        passed={name: value for name, value in change.passed.items() if _NAME.fullmatch(name) and value.isprintable()},
    )
    names = launchers().keys() if wanted is None else [name for name in wanted if name in launchers()]
    lines = {name: launchers()[name].line(safe) for name in names}
    return {name: line for name, line in lines.items() if line}


def preferred(programs: Iterable[str], tags: Iterable[str] = ()) -> list[str]:
    """All launchers: first those seen in the input, then the usual ones, then the rest.

    They are recognised by the ``programs`` of Launch facts, in order, else by the ``tags`` before the lines of the
    ranks.
    """
    known = {program: name for name, module in launchers().items() for program in module.PROGRAMS}
    seen = [known[program] for program in programs if program in known]
    marks = {name: re.compile(module.TAG) for name, module in launchers().items() if hasattr(module, "TAG")}
    seen += [name for tag in itertools.islice(tags, _TAGS) for name, mark in marks.items() if mark.match(tag)]
    return list(dict.fromkeys([*seen, *USUAL, *launchers()]))


def prefixed(change: Change, command: str) -> str | None:
    """``env -u B A=1 command``: for launchers that pass on their environment."""
    words = [f"-u {name}" for name in change.unset] + [assignment(*item) for item in change.env.items()]
    if not words:
        return None
    return " ".join(["env", *words, command] if change.unset else [*words, command])


def emptied(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """(variables to set to nothing, variables to remove), for variables that are to be unset."""
    known, held = environment.variables(), list(names)
    empty = [name for name in held if name in known and known[name].empty_is_unset]
    return empty, [name for name in held if name not in empty]


def quote(value: str) -> str:
    """The value as one shell word.

    A leading ``=`` or ``~`` is quoted too, because zsh and bash expand it in an assignment. A path list with variables
    (``...:$LD_LIBRARY_PATH``, ``$HOME/lib``) must be expanded by the shell.
    """
    if is_expanded(value):
        return f'"{value}"'
    return f"'{value}'" if value[:1] in {"=", "~"} and "'" not in value else shlex.quote(value)


def is_expanded(value: str) -> bool:
    """Has a shell to expand the value where the program runs?"""
    return _PATH_LIST.fullmatch(value) is not None


def started_by(change: Change, removed: Iterable[str]) -> list[str]:
    """What comes before a program in a container: removes variables, and sets those that contain the container's own.

    ``env -u C sh -c 'A="/x:$A" exec "$0" "$@"'``: outside the container, another ``$A`` would be expanded, or none.
    """
    words = [word for name in removed for word in ("-u", name)]
    own = [assignment(*item) for item in change.env.items() if is_expanded(item[1])]
    shell = ["sh", "-c", " ".join([*own, 'exec "$0" "$@"'])] if own else []
    return [*(["env", *words] if words else []), *shell]


def assignment(name: str, value: str) -> str:
    """``NAME=value`` with the value quoted if a shell needs it."""
    return f"{name}={quote(value)}"
