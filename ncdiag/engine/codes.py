"""Codes of rules: permanent; a rule that is being written has a placeholder until a number is assigned.

Two branches that each take the next free code would take the same one. A new rule is therefore written with the code
``NCD???``, and `number` assigns the numbers once the branches are merged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from ncdiag.base import toml
from ncdiag.base.errors import OutputError
from ncdiag.base.patterns import lazy_regex

UNNUMBERED = "???"
"""The placeholder for the number."""
CODE = lazy_regex(r"[A-Z]{2,6}(?:\d{3,4}|\?\?\?)\Z")
"""The form of a rule's code."""
_LINE = lazy_regex(r"^(code\s*=\s*[\"'])([A-Z]{2,6})\?\?\?(?=[\"'])", re.MULTILINE)


def code_of(code: str, name: str) -> str:
    """The code of a rule; ``NCD-gdr-disabled`` while it has no number."""
    return f"{code.removesuffix(UNNUMBERED)}-{name}" if code.endswith(UNNUMBERED) else code


def next_code(prefix: str, taken: Iterable[str]) -> str:
    """The code after the highest one with that prefix."""
    numbers = [int(code[len(prefix) :]) for code in taken if re.fullmatch(prefix + r"\d{3,4}", code)]
    return f"{prefix}{max(numbers, default=0) + 1:03d}"


def number(paths: Iterable[Path], taken: Collection[str]) -> list[tuple[str, Path]]:
    """Write the next free code into each rule file that has none; returns the codes with their files.

    ``taken``: all codes in use. Raises OutputError if a file cannot be written.
    """
    held, made = set(taken), list[tuple[str, Path]]()
    for path in paths:
        text = toml.text_of(path)
        found = _LINE.search(text)
        if found:
            code = next_code(found[2], held)
            try:
                path.write_text(f"{text[: found.end(1)]}{code}{text[found.end() :]}", encoding="utf-8")
            except OSError as error:
                msg = f"{path} cannot be written: {error.strerror}"
                raise OutputError(msg) from None
            held.add(code)
            made.append((code, path))
    return made
