"""The patterns of ``collectors.toml`` (``reads``): which files a reader needs."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex
from ncdiag.machine.command import collectors

_BRACES = lazy_regex(r"\{([^{}]*)\}")
_VARIABLES = {"@process": r"(?:self|\d+)/", "@group": "(?:[^/]+/)*"}  # the values are in `ncdiag.agent.look.variables`


def expanded(written: Iterable[str]) -> list[str]:
    """The patterns without braces: ``a/{b,c/}`` is ``a/b`` and ``a/c/``."""
    found: list[str] = []
    for text in written:
        parts = _BRACES.split(text)  # what is between braces is every second part
        choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
        found += ["".join(chosen) for chosen in itertools.product(*choices)]
    return found


@functools.cache
def every() -> tuple[str, ...]:
    """The patterns of all readers."""
    return tuple(dict.fromkeys(p for reader in collectors().reader for p in expanded(reader.reads)))


def listed() -> set[str]:
    """The folders that readers list, as patterns: those that end in a slash or continue after a ``*``."""
    found = set()
    for pattern in every():
        parts = pattern.rstrip("/").split("/")
        found |= {"/".join(parts[:index]) for index, part in enumerate(parts) if "*" in part}
        if pattern.endswith("/"):
            found.add("/".join(parts))
    return found


def regex(patterns: Iterable[str]) -> re.Pattern[str]:
    """A regular expression that matches a whole path if one of the patterns does."""
    return re.compile("|".join(_regex(pattern) for pattern in patterns))


def _regex(pattern: str) -> str:
    parts = pattern.rstrip("/").split("/")
    made = [_VARIABLES.get(part) or "[^/]*".join(map(re.escape, part.split("*"))) + "/" for part in parts]
    return "".join(made).removesuffix("/") + "/?"
