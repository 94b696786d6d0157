"""Write many ranks or hosts short: ``0-7,16`` and ``node[1-3,7]``."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_TRAILING = re.compile(r"^(.*?)(\d+)$")


def fold_numbers(numbers: Iterable[int]) -> str:
    """``0-7,16`` of the distinct numbers, in rising order."""
    ordered = sorted(set(numbers))
    runs: list[list[int]] = []
    for number in ordered:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def fold_hosts(names: Iterable[str]) -> str:
    """``node[1-3,7],login`` of the distinct names; zero padding is kept (``n[01-04]``)."""
    groups: dict[tuple[str, int], list[int]] = defaultdict(list)
    plain: list[str] = []
    for name in sorted(set(names)):
        found = _TRAILING.match(name)
        if found and "." not in name and ":" not in name:
            width = len(found[2]) if found[2].startswith("0") and len(found[2]) > 1 else 0
            groups[found[1], width].append(int(found[2]))
        else:
            plain.append(name)
    parts = []
    for (stem, width), numbers in groups.items():
        if len(numbers) == 1:
            parts.append(f"{stem}{numbers[0]:0{width}d}")
        else:
            runs = re.sub(r"\d+", lambda m, width=width: f"{int(m[0]):0{width}d}", fold_numbers(numbers))
            parts.append(f"{stem}[{runs}]")
    return ",".join(parts + plain)
