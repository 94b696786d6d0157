"""Regular expressions that are compiled when they are first used.

Compiling the patterns of all that might be read takes `re` longer than reading a short log with the few that it needs.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    """Compiles its pattern when it is first asked for a method, and keeps the method: the next use costs no more."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (called only for what is not kept yet)
        found = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """What ``re.compile`` gives, but for the time when it is compiled: for patterns of a module that is imported."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
