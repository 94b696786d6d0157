"""Lines of ordinary text, in which no output of a tool begins: the search for beginnings has to pass them by."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ncdiag.base.toml import definition

LINES_OF_A_KIND = 200


def lines() -> Iterator[str]:
    """All lines, `LINES_OF_A_KIND` of each kind of text in background.toml; the same in every run."""
    path = Path(__file__).with_suffix(".toml")
    read = definition(path.read_text(encoding="utf-8"), path.name)
    words = {name: text.split() for name, text in read["words"].items()}
    for kind, templates in read["kinds"].items():
        chance = random.Random(kind)
        makers = _makers(words, chance)
        for _ in range(LINES_OF_A_KIND):
            yield re.sub("«(.+?)»", lambda found: makers[found[1]](), chance.choice(templates))  # noqa: B023


def _makers(words: dict[str, list[str]], chance: random.Random) -> dict[str, Callable[[], str]]:
    def number(low: int, high: int, form: str = "") -> str:
        return format(chance.randint(low, high), form)

    def one(kind: str) -> str:
        return chance.choice(words[kind])

    def sentence() -> str:
        said = [one("small" if n % 2 else "noun" if n % 4 else "verb") for n in range(chance.randint(5, 14))]
        return " ".join(said).capitalize() + chance.choice(".?:")

    return {
        "noun": lambda: one("noun"),
        "person": lambda: one("person"),
        "name": lambda: f"{one('noun')}_{one('noun')}",
        "camel": lambda: one("noun").title() + one("noun").title(),
        "path": lambda: "/".join(one("noun") for _ in range(chance.randint(2, 5))),
        "sentence": sentence,
        "digit": lambda: number(0, 9),
        "int": lambda: number(1, 99999),
        "float": lambda: f"{number(0, 99)}.{number(0, 999)}",
        "hex": lambda: number(0, 2**32 - 1, "08x"),
        "byte": lambda: number(0, 255, "02x"),
        "address": lambda: f"192.0.2.{number(1, 254)}",
        "clock": lambda: ":".join(number(0, 59, "02") for _ in range(3)),
        "day": lambda: f"2031-{number(1, 12, '02')}-{number(1, 28, '02')}",
    }
