"""Build the table of checks from verdicts and facts: each check on each host with its result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.checks.book import Area, Book, Look, book
from ncdiag.engine.fields import read
from ncdiag.engine.results import Finding, Verdict
from ncdiag.engine.templates import show
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.report import model
from ncdiag.report.choices import Told, chosen

_HOLE = lazy_regex(r"\{(\w+)\}")
_SENTENCE = 160
"""Maximum length of a collector's reason, in characters."""


class Seen(msgspec.Struct, frozen=True):
    """The input of the table: all verdicts, the findings of the report, and what could not be read on each host."""

    view: View
    verdicts: Mapping[str, Verdict]
    findings: Sequence[Finding]
    not_seen: Mapping[str, Sequence[str]]


def table(
    view: View, verdicts: Iterable[Verdict], findings: Sequence[Finding], not_seen: Mapping[str, Sequence[str]],
    looks: Book | None = None,
) -> tuple[model.Look, ...]:  # fmt: skip
    """Every check on every host in ``not_seen``, by area; other findings are at the end of their area.

    ``looks`` is the table of checks, by default that of `ncdiag check`.
    """
    looks = looks or book()
    seen = Seen(view, {verdict.rule.name: verdict for verdict in verdicts}, findings, not_seen)
    hosts = [host for host in view.job.hosts if host.name in not_seen]
    told = {host.name: chosen(host, view, beside_others=len(hosts) > 1) for host in hosts}
    rows: list[model.Look] = []
    for area in looks.area:
        for look in (look for look in looks.look if look.area == area.name):
            found = (
                [_of_job(look, seen)] if look.job else [_of_host(look, host, told[host.name], seen) for host in hosts]
            )
            scope, actor = look.scope or area.scope, look.actor or area.actor
            rows += [msgspec.structs.replace(row, scope=scope, actor=actor) for row in found]
        rows += _others(area, seen, looks)
    return tuple(_folded(rows))


def with_actions(looks: Iterable[model.Look], findings: Iterable[model.Finding]) -> tuple[model.Look, ...]:
    """The lines, each WARN and FAIL with the first fix of its findings as the next action."""
    fixes: dict[str, str] = {}
    for finding in findings:
        if finding.fixes:
            fixes.setdefault(finding.name, finding.fixes[0].text)
    return tuple(
        msgspec.structs.replace(look, next=next((fixes[name] for name in look.findings if name in fixes), ""))
        if look.status in {"WARN", "FAIL"}
        else look
        for look in looks
    )


def _folded(rows: Iterable[model.Look]) -> Iterator[model.Look]:
    """Hosts with the same result merged into one line, at the place of the first."""
    alike: dict[model.Look, list[str]] = {}
    for row in rows:
        alike.setdefault(msgspec.structs.replace(row, host=""), []).append(row.host)
    for row, hosts in alike.items():
        named = [host for host in hosts if host]
        yield msgspec.structs.replace(row, host=fold_hosts(named) if named else hosts[0], nhosts=len(named))


def _of_host(look: Look, host: Host, told: Mapping[str, Told], seen: Seen) -> model.Look:
    found = [
        f for f in seen.findings if f.rule.name in look.rules and (not f.where.hosts or host.name in f.where.hosts)
    ]
    answer = told[look.choice] if look.choice is not None else Told(_shown(read(host, look.seen, seen.view)), "")
    row = model.Look(
        area=look.area, what=look.what, status="SKIP", host=host.name, seen=answer.seen or "",
        expected=_expected(look, host, seen.view), why=answer.why,
    )  # fmt: skip
    return _judged(row, look, found, seen, is_known=answer.seen is not None)


def _of_job(look: Look, seen: Seen) -> model.Look:
    found = [finding for finding in seen.findings if finding.rule.name in look.rules]
    value = _shown(read(seen.view.job, look.seen, seen.view))
    row = model.Look(area=look.area, what=look.what, status="SKIP", seen=value or "", expected=look.expected)
    return _judged(row, look, found, seen, is_known=value is not None)


def _judged(row: model.Look, look: Look, found: Sequence[Finding], seen: Seen, *, is_known: bool) -> model.Look:
    """The row with the status from the findings and verdicts of its rules."""
    serious = [finding for finding in found if finding.severity != "info"]
    judged = [v for name in look.rules if (v := seen.verdicts.get(name)) is not None]
    status: model.Status = "SKIP"
    why, ask = row.why, ""
    if serious:
        status = "FAIL" if any(finding.severity == "error" for finding in serious) else "WARN"
        why = " ".join(serious[0].title.split())
    elif not is_known:
        why = why or _reason(look, row.host, seen)
    elif not row.seen:
        why = look.none or "does not exist"
    else:
        open_ = [verdict for verdict in judged if verdict.outcome == "unknown"]
        needed = [verdict for verdict in open_ if verdict.rule.name in look.needs]
        if any(verdict.outcome in {"clear", "fired"} for verdict in judged) and not needed:
            status = "WARN" if found else "PASS"  # if a note is about exactly this value
            why = " ".join(found[0].title.split()) if found else why
        else:
            why, ask = _open(needed or open_), _asked(needed or open_)
    if status == "PASS" and look.whole and (failed := _failure(look, row.host, seen)):
        status, why = "SKIP", failed
    names = tuple(dict.fromkeys(finding.rule.name for finding in found))
    return msgspec.structs.replace(row, status=status, why=why, findings=names, next=ask)


def _open(open_: Sequence[Verdict]) -> str:
    """The input that the unknown rules would need."""
    lacking = dict.fromkeys(ask.missing for verdict in open_ for ask in verdict.rule.asks)
    return f"needs {next(iter(lacking))}" if lacking else "no rule could check it"


def _asked(open_: Sequence[Verdict]) -> str:
    """The commands whose output the unknown rules would need; empty for none."""
    return next((ask.ask_for for verdict in open_ for ask in verdict.rule.asks), "")


def _reason(look: Look, host: str, seen: Seen) -> str:
    """The collector's reason for a missing value."""
    return _failure(look, host, seen) or "not seen"


def _failure(look: Look, host: str, seen: Seen) -> str:
    """The reason why the collector of a check failed on the host; empty if it did not."""
    head = f"{look.collector}: "
    told = next((text for text in seen.not_seen.get(host, ()) if look.collector and text.startswith(head)), "")
    text = told.removeprefix(head)
    return text if len(text) <= _SENTENCE else f"{text[:_SENTENCE]} ..."


def _others(area: Area, seen: Seen, looks: Book) -> Iterator[model.Look]:
    """Findings of the areas of rules that are listed here, if no check names their rule."""
    named = {name for look in looks.look for name in look.rules}
    for finding in seen.findings:
        if finding.rule.area in area.rules and finding.rule.name not in named and finding.severity != "info":
            status: model.Status = "FAIL" if finding.severity == "error" else "WARN"
            yield model.Look(
                area=area.name, what=finding.rule.name.replace("-", " "), status=status, host=", ".join(finding.hosts),
                why=" ".join(finding.title.split()), findings=(finding.rule.name,), scope=area.scope,
                actor=area.actor,
            )  # fmt: skip


def _expected(look: Look, host: Host, view: View) -> str:
    def fill(hole: re.Match[str]) -> str:
        return _shown(read(host, hole[1], view)) or ""

    filled = _HOLE.sub(fill, look.expected)
    return filled.strip(" ;")


def _shown(value: Any) -> str | None:  # noqa: ANN401  (the value of any field)
    return None if value is None else show(value)
