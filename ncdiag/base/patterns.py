"""Regular expressions that are compiled on first use.

Compiling the patterns of all parsers takes longer than reading a short log, which needs only a few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

from ncdiag.base.programs import compile_once


class _Lazy:
    """A pattern that is compiled when one of its methods is first used; later calls of the method cost no more."""

    def __init__(self, pattern: Any, flags: int) -> None:  # noqa: ANN401  (str or bytes)
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (called only for what is not kept yet)
        found = getattr(compile_once(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like ``re.compile``, but compiled on first use: for patterns at module level."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))
