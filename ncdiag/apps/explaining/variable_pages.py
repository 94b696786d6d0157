"""The variables of NCCL and related programs as Markdown: a page each and an index, generated from their table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ncdiag.apps.explaining.answers import Answer, answers_to
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.schema import Rule
from ncdiag.nccl import environment

INDEX = "README.md"
_NAME = lazy_regex(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


def texts(rules: Iterable[Rule]) -> dict[str, str]:
    """The text of each file by name; links to rules expect their pages in the folder ``rules`` next to this one."""
    known = environment.variables()
    used = _used(rules, known)
    pages = {f"{name}.md": "\n".join(_page(answers_to(name)[0], used.get(name, ()), known)) + "\n" for name in known}
    return {INDEX: "\n".join(_index()) + "\n"} | pages


def _used(rules: Iterable[Rule], known: Mapping[str, Any]) -> dict[str, list[Rule]]:
    """For each variable, the rules whose explanation or fixes name it, in the order of their codes."""
    found: dict[str, list[Rule]] = {}
    for rule in sorted(rules, key=lambda rule: rule.code):
        words = [rule.title, rule.why, *(case.text for case in rule.titles)]
        for fix in rule.fixes:
            words += [fix.text, *fix.env, *fix.unset, *fix.commands]
        for name in set(_NAME.findall(" ".join(words))) & known.keys():
            found.setdefault(name, []).append(rule)
    return found


def _index() -> Iterator[str]:
    known = environment.variables().values()
    held = sorted(known, key=lambda v: (v.owner != environment.OURS, v.owner, v.name))
    yield from ("# The variables", "", f"{len(held)} variables. `ncdiag explain NAME` prints a page, too.")
    for owner, group in groupby(held, key=lambda v: v.owner):
        title = "NCCL" if owner == environment.OURS else owner
        yield from ("", f"## {title}", "", "| variable | what it does |", "| --- | --- |")
        yield from (f"| [{v.name}]({v.name}.md) | {_cell(v.means)} |" for v in group)


def _page(answer: Answer, rules: Iterable[Rule], known: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"# {answer.name}", "", _plain(answer.meaning), "", "| | |", "| --- | --- |")
    details = dict(answer.details)
    related = details.pop("related", [])
    yield from (f"| {label} | {_cell(value)} |" for label, value in details.items())
    if related:
        names = ", ".join(f"[{name}]({name}.md)" if name in known else f"`{name}`" for name in related)
        yield f"| related | {names} |"
    held = list(rules)
    if held:
        yield from ("", "## Rules that name it", "")
        yield from (f"- [{rule.code} {rule.name}](../rules/{rule.code}.md): {_plain(rule.title)}" for rule in held)


def _plain(value: object) -> str:
    return " ".join(str(value).split()).replace("<", "&lt;").replace("*", "\\*")


def _cell(value: object) -> str:
    return _plain(", ".join(map(str, value)) if isinstance(value, list) else value).replace("|", "\\|")
