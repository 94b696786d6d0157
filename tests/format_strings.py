"""NCCL's format strings as lines of a log: filled in with plausible values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

CONVERSION = re.compile(
    r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh|h|ll|l|z|j|t)?[diouxXeEfgGcsp]|%%|\{[A-Za-z][A-Z_a-z0-9() ,]*\}"
)
NUMBERS = {
    **dict.fromkeys("diu", "7"),
    **dict.fromkeys("xX", "7f3a"),
    **dict.fromkeys("eEfgG", "1.50"),
    "c": "x",
    "o": "644",
}
WORDS = {
    "word": "mlx5_0", "address": "10.0.0.1<45678>", "ip": "10.0.0.1", "gid": "fe80::a288:c2ff:fe10:1",
    "number": "2", "phrase": "Connection refused by peer", "path": "/usr/lib/libnccl-net.so",
    "call": "cuMemGetHandleForAddressRange", "empty": "",
}  # fmt: skip
"""What a ``%s`` can hold."""
NEAR = (
    (re.compile(r"(?:peer|from|with|to|addr(?:ess)?|socket|remote|at|root|via)[ :=(]*$", re.IGNORECASE), "address"),
    (re.compile(r"gids?[ =]*$", re.IGNORECASE), "gid"),
    (re.compile(r"(?:error|failed|reason|returned|because|with)[ :=(]*$", re.IGNORECASE), "phrase"),
)
"""Words before a ``%s`` that tell what it holds."""


def instances(template: str) -> Iterator[str]:
    """The first line of a format string with plausible values: first what the words around tell, then other choices."""
    line = template.strip().split("\n")[0].strip()
    pieces: list[str] = []
    choices: list[tuple[str, ...]] = []
    position = 0
    after_string = False
    for found in CONVERSION.finditer(line):
        literal = line[position : found.start()]
        pieces.append(literal)
        position = found.end()
        conversion = found[0]
        if conversion == "%%":
            choices.append(("%",))
        elif conversion[0] == "{":
            choices.append((macro(conversion, line[position:]),))
        elif conversion[-1] == "p":
            choices.append(("0x7f3a5c000000",))
        elif conversion[-1] != "s":
            number = NUMBERS[conversion[-1]]
            choices.append(("0x" + number if "#" in conversion else number,))
        elif after_string and not literal:
            choices.append((WORDS["empty"],))  # a run of %s: the rest are optional additions
        elif line.startswith("%s%s", found.end()) or (not literal and line.startswith("%s", found.end())):
            choices.append((WORDS["empty"], *list(WORDS.values())[:-1]))  # a long run is all optional
        else:
            choices.append(tuple(dict.fromkeys((likely(line[: found.start()]), *WORDS.values()))))
        after_string = conversion[-1] == "s"
    pieces.append(line[position:])
    open_choices = [choice for choice in choices if len(choice) > 1]
    for chosen in combinations(open_choices):
        values = iter(chosen)
        filled = [choice[0] if len(choice) == 1 else next(values) for choice in choices]
        yield "".join(itertools.chain(*itertools.zip_longest(pieces, filled, fillvalue=""))).strip()


def combinations(choices: list[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """First the likely value everywhere, then one value everywhere, then all combinations while they are few."""
    yield tuple(choice[0] for choice in choices)
    for value in WORDS.values():
        yield (value,) * len(choices)
    if len(choices) <= 3:
        yield from itertools.product(*choices)


def likely(before: str) -> str:
    return next((WORDS[name] for pattern, name in NEAR if pattern.search(before)), WORDS["word"])


def macro(name: str, after: str) -> str:
    """What stands for a part that the compiler filled in."""
    if after.startswith("()"):
        return "nvmlDeviceGetIndex"
    if "SUFFIX" in name:
        return ""
    return "2" if "STR(" in name or "VERSION" in name else "ncclName_v4"
