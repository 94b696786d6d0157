# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""List English that is left in the holes of rules: ``python tools/untranslated.py zh [RULE...]``.

Every example that fires is judged in the language, with texts of which only the holes and the quotes around them are
left: what remains in English comes from Python (``{e.because}``) and belongs in ``facts.toml`` of the language.
Quotes, commands, paths and names are left as they are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ncdiag import catalogue
from ncdiag.diagnose import view_of
from ncdiag.engine.evaluate import applicable_fixes, judge, render
from ncdiag.engine.load import load_file, rule_files
from ncdiag.engine.schema import Rule
from ncdiag.engine.templates import pieces
from ncdiag.engine.translation import Translation, english, translated
from ncdiag.facts.view import View
from ncdiag.fixes.values import Values
from ncdiag.language import phrase, speaking
from ncdiag.text.reading.job import facts_of

BAR = "\uff5c"
"""Stands in the place of a rule's own words."""
PARTS = re.compile(r"[\u3001-\u9fff\uff01-\uff5e]+|\uff5c")
MARKS = re.compile(r"[`'\"\u201c\u201d]")
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|\u201c[^\u201d]*\u201d|(?<!\w)'[^']*'(?!\w)")
ENGLISH = re.compile(r"(?<![\w.=/:-])(?!ranks? )[A-Za-z]?[a-z]+,? (?=\S)|(?<=\S) (?!ranks? )[a-z]{2,}(?![\w.=/:-])")
"""A plain word beside another one or a name."""


def bare(text: str) -> str:
    """A template without its words: its holes, and the marks of quotes."""
    return "".join(f"{{{hole}}}" if hole else BAR + "".join(MARKS.findall(words)) + BAR for hole, words in pieces(text))


def stripped(rule: Rule) -> Rule:
    """The rule with nothing but holes in its texts."""
    texts = msgspec.structs.asdict(english(rule))
    made = {name: bare(text) if isinstance(text, str) else tuple(map(bare, text)) for name, text in texts.items()}
    return translated(rule, msgspec.convert(made, Translation))


def remaining(rule: Rule) -> Iterator[str]:
    """What is English in the titles, reasons and fixes of the examples that fire, and is not quoted from them."""
    for example in rule.examples:
        if example.outcome == "fired":
            view = view_of(facts_of(example.sections, example.host))
            pasted = " ".join(" ".join(text for texts in example.sections.values() for text in texts).split())
            for part in PARTS.split(QUOTED.sub(BAR, BAR.join(rendered(rule, view)))):
                if ENGLISH.search(part) and (text := part.strip(" ,:;().")) not in pasted:
                    yield text


def rendered(rule: Rule, view: View) -> Iterator[str]:
    """The texts of a rule's findings."""
    values = Values(view)
    for found in judge([rule], view, values)[0].findings:
        yield from (found.title, found.why)
        for fix, _ in applicable_fixes(found, view):
            yield from (render(found, text, view, values) for text in (fix.text, fix.confirm))
            yield phrase(render(found, fix.scope, view, values))


def main(language: str, wanted: list[str]) -> int:
    """Print what remains by rule, and a count."""
    words, names, count = {Path(word).stem for word in wanted}, catalogue.names(), 0
    with speaking(language):
        for path in rule_files(catalogue.rules_dir()):
            if not words or path.stem in words:
                found = dict.fromkeys(remaining(stripped(load_file(path, names))))
                print(*(f"{path.stem}: {text}" for text in found), sep="\n", end="\n" if found else "")
                count += len(found)
    print(f"{count} phrases are not in {language}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2:  # noqa: PLR2004  (a language)
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
