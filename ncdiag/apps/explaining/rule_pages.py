"""The rules as Markdown: one page per code and an index by area, generated only from the rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from ncdiag.apps.explaining import signs
from ncdiag.apps.explaining.conditions import meanings
from ncdiag.base.errors import OutputError
from ncdiag.engine.schema import Example, Fix, Rule

NOTE = "<!-- written by `ncdiag rules pages` from the rule; change the rule, not this page -->"
INDEX = "README.md"
_EXAMPLE_WORDS = {"fired": "It fires", "clear": "It stays clear", "unknown": "It cannot be judged"}


def write_pages(rules: Iterable[Rule], folder: Path) -> int:
    """Write the pages and the index, and remove pages of codes that no longer exist; returns the number of rules."""
    pages = texts(rules)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.md"):
            if path.name not in pages and path.read_text(encoding="utf-8").startswith(NOTE):
                path.unlink()
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        msg = f"{folder}: the pages cannot be written: {error.strerror}"
        raise OutputError(msg) from None
    return len(pages) - 1


def texts(rules: Iterable[Rule]) -> dict[str, str]:
    """File name to text."""
    held = sorted(rules, key=lambda rule: (rule.area, rule.code))
    codes = {name: rule.code for rule in held for name in (rule.name, *rule.formerly)}
    causes: dict[str, list[str]] = {}
    for rule in held:
        for name in rule.explains:
            causes.setdefault(name, []).append(rule.name)
    pages = {f"{rule.code}.md": "\n".join(_page(rule, codes, causes.get(rule.name, []))) + "\n" for rule in held}
    return {INDEX: "\n".join(_index(held)) + "\n"} | pages


def _index(rules: list[Rule]) -> Iterator[str]:
    yield from (NOTE, "# The rules", "", f"{len(rules)} rules by area. `ncdiag explain CODE` prints a page, too.")
    for area, held in groupby(rules, key=lambda rule: rule.area):
        yield from ("", f"## {area}", "", "| code | name | severity | what it finds |", "| --- | --- | --- | --- |")
        for r in held:
            role = "" if r.role == "cause" else ", symptom"
            yield f"| [{r.code}]({r.code}.md) | {r.name} | {r.severity}{role} | {_cell(r.title)} |"


def _page(rule: Rule, codes: dict[str, str], causes: list[str]) -> Iterator[str]:
    yield from (NOTE, f"# {rule.code} {rule.name}", "", f"**{_plain(rule.title)}**", "")
    yield from (f"- where {_clauses(case.when)}: **{_plain(case.text)}**" for case in rule.titles)
    yield from ([""] if rule.titles else [])
    role = f"{rule.role} (complaint: {rule.complaint})" if rule.complaint else rule.role
    yield (
        f"Area {rule.area}; severity {rule.severity}; {role}; when it fires, the fault is {rule.strength}."
        if rule.when
        else f"Area {rule.area}; {role}; never more than suspected."
    )
    if rule.formerly:
        yield f"Formerly {', '.join(f'`{name}`' for name in rule.formerly)}."
    yield from ("", _plain(rule.why))
    if rule.when:
        yield from _when(rule)
    yield from _signs(rule)
    for fix in rule.fixes:
        yield from _fix(fix)
    if rule.asks:
        yield from ("", "## What settles it when it cannot be judged", "")
        yield from (f"- {_plain(ask.missing)}: `{_code(ask.ask_for)}`" for ask in rule.asks)
    yield from _names("What it causes", rule.explains, codes)
    yield from _names("What causes it", causes, codes)
    if rule.false_positives:
        yield from ("", "## When it may be wrong", "", *(f"- {_plain(text)}" for text in rule.false_positives))
    if rule.examples:
        yield from ("", "## Examples")
    for example in rule.examples:
        yield from _example(example)
    if rule.references:
        yield from ("", "## References", "", *(f"- {_reference(text)}" for text in rule.references))


def _when(rule: Rule) -> Iterator[str]:
    yield from ("", "## When it fires", "")
    if rule.applies.nccl:
        yield f"- NCCL `{rule.applies.nccl}`"
    yield from (f"- for each `{name}` of `{path}`" for name, path in rule.each.items())
    said = meanings(rule)
    for clause in (*rule.when, *rule.unless):
        yield f"- {'not when ' if clause in rule.unless else ''}`{_code(clause)}`"
        yield from (f"  - {_plain(text)}" for text in said[clause])


def _signs(rule: Rule) -> Iterator[str]:
    """The signs that make it likely if it is not proved."""
    if rule.suspect is None:
        return
    yield from ("", "## When it is suspected", "", f"{_plain(rule.suspect.text)} ({rule.suspect.prior}).", "")
    if rule.suspect.ask:
        yield from (f"{_plain(rule.suspect.ask)} Yes speaks for it, no against it.", "")
    for sign in rule.signs:
        yield f"- {_plain(sign.text)} ({signs.standing(sign)})"
        yield from (f"  - `{_code(text)}`" for text in signs.sought(sign))


def _clauses(clauses: Iterable[str]) -> str:
    return " and ".join(f"`{_code(clause)}`" for clause in clauses)


def _fix(fix: Fix) -> Iterator[str]:
    kind = "A workaround" if fix.workaround else "What to do"
    applies = f", NCCL `{fix.applies.nccl}`" if fix.applies.nccl else ""
    yield from ("", f"## {kind}", "", f"{_plain(fix.text)} (Risk: {fix.risk}{applies}.)")
    yield from (f"- only when `{_code(clause)}`" for clause in fix.when)
    lines = [f"export {name}={value}" for name, value in fix.env.items()]
    lines += [f"unset {name}" for name in fix.unset] + list(fix.commands)
    if lines:
        yield from ("", "```", *lines, "```")
    if fix.confirm:
        yield from ("", f"It worked when {_plain(fix.confirm)}.")


def _names(title: str, names: Iterable[str], codes: dict[str, str]) -> Iterator[str]:
    held = list(dict.fromkeys(names))
    if held:
        yield from ("", f"## {title}", "")
        yield from (f"- [{name}]({codes[name]}.md)" if name in codes else f"- {name}" for name in held)


def _example(example: Example) -> Iterator[str]:
    yield from ("", f"{_EXAMPLE_WORDS[example.outcome]}: {_plain(example.name)}.")
    for kind, sections in example.sections.items():
        for text in sections:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            yield from ("", f"{fence}text {kind}", *(line.rstrip() for line in text.strip("\n").splitlines()), fence)


def _reference(text: str) -> str:
    return f"<{text}>" if text.startswith(("http://", "https://")) else text


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;")


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _code(text: str) -> str:
    return " ".join(text.split()).replace("`", "'")
