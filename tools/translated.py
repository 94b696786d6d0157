# ruff: noqa: INP001, T201  (a script beside the package that prints)
"""List the gaps in the translation of the rules: ``python tools/translated.py LANGUAGE [--holes] [RULE...]``.

For each file of ``ncdiag/language/LANGUAGE/rules``: its errors; texts whose English was changed or removed (stale);
texts without a translation (missing), as the line to write, with the English. Without a RULE, for all rules. The exit
code is 1 if anything is listed.

``--holes``: instead, list the English in the placeholders of the texts. Every example that fires is judged in the
language, with texts reduced to their placeholders and the quotes around them: the remaining English comes from Python
(``{e.because}``) and belongs in ``facts.toml`` of the language. Quotes, commands, paths and names are ignored.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterator

from ncdiag import catalogue
from ncdiag.diagnose import view_of
from ncdiag.engine.evaluate import applicable_fixes, judge, render
from ncdiag.engine.load import load_folder
from ncdiag.engine.schema import Rule
from ncdiag.engine.templates import pieces
from ncdiag.engine.translation import Translation, of_folder, pairs, stamp, translated
from ncdiag.engine.translation_quality import missing, problems, stale
from ncdiag.facts.view import View
from ncdiag.fixes.values import Values
from ncdiag.language import LANGUAGES, phrase, speaking
from ncdiag.text.reading.job import facts_of

BAR = "\uff5c"
"""Replaces a rule's own words."""
PARTS = re.compile(r"[\u3001-\u9fff\uff01-\uff5e]+|\uff5c")
MARKS = re.compile(r"[`'\"\u201c\u201d]")
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|\u201c[^\u201d]*\u201d|(?<!\w)'[^']*'(?!\w)")
ENGLISH = re.compile(r"(?<![\w.=/:-])(?!ranks? )[A-Za-z]?[a-z]+,? (?=\S)|(?<=\S) (?!ranks? )[a-z]{2,}(?![\w.=/:-])")
"""A plain word next to another word or a name."""


def listed(rules: Collection[Rule], language: str) -> Iterator[str]:
    """Errors, stale and missing texts in the translations of the rules, one line each."""
    said, wrong = of_folder(catalogue.translations_dir(language))
    yield from map(str, wrong)
    known = {rule.name for rule in catalogue.rules()}
    yield from (f"there is no rule {name!r}: remove its texts" for name in said if name not in known)
    for rule in rules:
        held = said.get(rule.name, {})
        found = [f"wrong: {problem}" for problem in problems(rule, held)]
        found += [f"stale, the English was changed or removed: {key}" for key in stale(rule, held)]
        found += [f'missing: {key} = ""  # {text}' for key, text in missing(rule, held)]
        yield from (f"{rule.area}.toml [{rule.name}] {line}" for line in found)


def bare(text: str) -> str:
    """A template without its words: only its placeholders and quotation marks."""
    return "".join(f"{{{hole}}}" if hole else BAR + "".join(MARKS.findall(words)) + BAR for hole, words in pieces(text))


def stripped(rule: Rule) -> Rule:
    """The rule with only placeholders in its texts."""
    made: Translation = {}
    for place, text, _ in pairs(rule, {}):
        made.setdefault(place, {})[stamp(text)] = bare(text)
    return translated(rule, made)


def in_holes(rules: Collection[Rule], language: str) -> Iterator[str]:
    """The English in the placeholders of the texts, by rule."""
    with speaking(language):
        for rule in rules:
            yield from (f"{rule.name}: {text}" for text in dict.fromkeys(remaining(stripped(rule))))


def remaining(rule: Rule) -> Iterator[str]:
    """The English in the titles, reasons and fixes of the examples that fire, except quotes from them."""
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


def main() -> int:
    """Print the list and a count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=LANGUAGES[1:])
    parser.add_argument("rules", nargs="*", metavar="RULE")
    parser.add_argument("--holes", action="store_true")
    asked = parser.parse_args()
    rules = [
        rule for rule in load_folder(catalogue.rules_dir(), catalogue.names())
        if not asked.rules or {rule.name, rule.code} & set(asked.rules)
    ]  # fmt: skip
    count = 0
    for line in in_holes(rules, asked.language) if asked.holes else listed(rules, asked.language):
        print(line)
        count += 1
    total = sum(1 for rule in rules for _ in pairs(rule, {}))
    print(f"{len(rules)} rules, {total} texts, {count} to translate or mend")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main())
