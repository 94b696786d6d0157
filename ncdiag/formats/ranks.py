"""Ranks in the names of files, as launchers and users give them to the output of each rank."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex

_RANK = lazy_regex(r"(?:^|[^A-Za-z])rank[-_.]?(\d{1,7})(?!\d)", re.IGNORECASE)


def rank_in(path: str) -> int | None:
    """The rank in the name of a file or of its folder: ``rank3.txt``, ``py-spy-rank_3``, ``rank_3/stdout``.

    None if there is none, or several.
    """
    found = {int(number) for number in _RANK.findall("/".join(path.split("/")[-2:]))}
    return found.pop() if len(found) == 1 else None
