# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""Check the translations of rules: ``python tools/translated.py zh [RULE...]``.

Prints what is wrong with ``[text.<language>]`` of the rules (default: all) and what is missing of those that are named.
A translation without faults and without ``of`` gets it: the stamp of the English texts that it translates.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ncdiag import catalogue
from ncdiag.base import toml
from ncdiag.engine.load import load_file, rule_files
from ncdiag.engine.translation import TEXT, Translation, pairs, read, stamp
from ncdiag.engine.translation_quality import missing, problems


def main(language: str, wanted: list[str]) -> int:
    """Check, print and stamp; 1 when something is wrong."""
    words = {Path(word).stem for word in wanted}
    known, wrong = catalogue.names(), 0
    translated = texts = of = 0
    for path in rule_files(catalogue.rules_dir()):
        if words and path.stem not in words:
            continue
        data = toml.definition(toml.text_of(path), str(path)).get(TEXT, {})
        said, rule = read(data, str(path)).get(language), load_file(path, known)
        lacking = missing(rule, said)
        total = sum(1 for _ in pairs(rule, Translation()))
        translated, texts, of = translated + (said is not None), texts + total - len(lacking), of + total
        found = list(problems(rule, said)) if said is not None else []
        found += [f"missing: {', '.join(lacking)}"] if lacking and words else []
        wrong += len(found)
        print(*(f"{path}: {problem}" for problem in found), sep="\n", end="\n" if found else "")
        if said is not None and not found and not said.of and not lacking:
            _write(path, language, stamp(rule))
    print(f"{translated} rules, {texts} of {of} texts in {language}, {wrong} problems")
    return 1 if wrong else 0


def _write(path: Path, language: str, made: str) -> None:
    """Put the stamp below the head of the table."""
    text = path.read_text(encoding="utf-8")
    head = re.compile(rf"^\[{TEXT}\.{language}\]\n", re.MULTILINE)
    path.write_text(head.sub(lambda found: f'{found[0]}of = "{made}"\n', text, count=1), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:  # noqa: PLR2004  (a language)
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
