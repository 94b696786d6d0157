"""The report as SARIF 2.1.0 (OASIS, errata 01), which code scanning and editors read.

Section numbers of the standard are given where it determines the form (docs.oasis-open.org/sarif/sarif/v2.1.0).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ncdiag.base.severity import Severity
from ncdiag.engine.schema import Rule
from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.report import digest
from ncdiag.report.in_short import told
from ncdiag.report.levels import levels
from ncdiag.report.model import Evidence, Finding, Report, Suspect
from ncdiag.report.sanitize import json_escapes, one_line
from ncdiag.report.unnamed import named

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "ncdiagFinding/v1"
"""Key of the fingerprint of a finding: rule, hosts and title.

It does not change with the line of a log that shows it.
"""
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def render(report: Report, **_: object) -> str:
    """One run; characters that could act on a terminal are JSON escapes."""
    items: list[Finding | Suspect] = [*report.findings, *report.suspects]
    told_of = {item.code: item for item in reversed(items)}
    codes = sorted(told_of)
    index = {code: place for place, code in enumerate(codes)}
    graveness = levels(report)
    run = {
        "tool": {"driver": _driver(report, [_rule(told_of[code]) for code in codes])},
        "invocations": [_invocation(report)],
        "results": [
            *(_result(report, each, index, graveness[place]) for place, each in enumerate(report.findings)),
            *(_review(report, suspect, index) for suspect in report.suspects),
        ],
        "properties": {"verdict": report.summary.verdict, "notLookedAt": list(report.summary.not_looked_at)},
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_escapes(json.dumps(log, ensure_ascii=False, indent=1)) + "\n"


def _driver(report: Report, rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    version = report.tool.version
    return {"name": report.tool.name, "version": version, "semanticVersion": version, "rules": list(rules)}


def _rule(item: Finding | Suspect) -> dict[str, Any]:
    """The description of a rule; ``helpUri`` is its first reference that is a web address."""
    known = _catalogue().get(item.code)
    is_whole = known is not None and "{" not in known.why  # else its placeholders are filled in from the input
    why = " ".join((known.why if known and is_whole else item.why).split())
    found: dict[str, Any] = {
        "id": item.code,
        "name": item.name,
        "shortDescription": {"text": f"{item.name.replace('-', ' ').capitalize()}."},
        "fullDescription": {"text": why or item.name},
        "help": {"text": "\n".join(_help(item, known, why))},
    }
    if known:
        found["defaultConfiguration"] = {"level": _LEVELS[known.severity]}
        found["properties"] = {"tags": [known.area]}
    if address := next((text for text in item.references if text.startswith("https://")), None):
        found["helpUri"] = quote(address, safe=":/?#[]@!$&'()*+,;=%~")
    return found


def _help(item: Finding | Suspect, known: Rule | None, why: str) -> Iterator[str]:
    yield why or item.name
    for text in known.false_positives if known else ():
        yield f"Not a fault: {' '.join(text.split())}"
    yield from (f"See {text}" for text in item.references)
    yield f"ncdiag explain {item.code}"


@functools.cache
def _catalogue() -> dict[str, Rule]:
    """The shipped rules by code; for private ones the report has enough data."""
    from ncdiag import catalogue

    return {rule.code: rule for rule in catalogue.rules()}


def _result(report: Report, finding: Finding, index: Mapping[str, int], severity: Severity) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": _LEVELS[severity],
        "message": {"text": _message(finding.title, digest.where(finding, report), told(report, finding))},
        "locations": _locations(report, finding.evidence, finding.hosts),
        "partialFingerprints": {FINGERPRINT: _hash(finding.name, finding.hosts, _title(finding.title))},
        "properties": {
            "confidence": finding.confidence, "role": finding.role, "hosts": finding.hosts, "ranks": finding.ranks,
            "explainedBy": list(finding.explained_by),
        },
    }  # fmt: skip


def _review(report: Report, suspect: Suspect, index: Mapping[str, int]) -> dict[str, Any]:
    """A suspect is for a person to decide: kind ``review``, whose level is ``none`` (3.27.9, 3.27.10)."""
    evidence = tuple(item for sign in suspect.supporting for item in sign.evidence)
    text = f"{suspect.likelihood}, not proved: {suspect.title}"
    return {
        "ruleId": suspect.code,
        "ruleIndex": index[suspect.code],
        "kind": "review",
        "level": "none",
        "message": {"text": _message(text, "", [suspect.why, *map(digest.question, suspect.decide[:1])])},
        "locations": _locations(report, evidence, ""),
        "partialFingerprints": {FINGERPRINT: _hash(suspect.name, "", _title(suspect.title))},
        "properties": {"likelihood": suspect.likelihood},
    }


def _message(title: str, place: str, lines: Sequence[str] | Iterator[str]) -> str:
    return "\n".join(filter(None, [f"{title}{f' ({place})' if place else ''}", *lines]))


def _title(text: str) -> str:
    """The title of which a fingerprint is made: the same with and without the secrets of the input."""
    return Hiding().text(text)


def _hash(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()


def _locations(report: Report, evidence: Sequence[Evidence], hosts: str) -> list[dict[str, Any]]:
    """The places of the evidence; without evidence the first input, because readers drop results without a place."""
    logical = {"logicalLocations": [{"name": named(hosts, report), "kind": "host"}]} if hosts else {}
    if not evidence:
        evidence = [Evidence(item.source, 0, "") for item in report.inputs[:1]]
    return [{"physicalLocation": _physical(item), **logical} for item in evidence]


def _physical(item: Evidence) -> dict[str, Any]:
    found: dict[str, Any] = {"artifactLocation": {"uri": _uri(item.source)}}
    if item.line:
        found["region"] = {"startLine": item.line, "snippet": {"text": item.text}}
    return found


def _uri(source: str) -> str:
    """A path as a URI: relative as given, else ``file:`` (3.4.3); non-ASCII characters are encoded."""
    encoded = quote(one_line(source), safe="/")
    return f"file://{encoded}" if encoded.startswith("/") else encoded


def _invocation(report: Report) -> dict[str, Any]:
    """Whether ncdiag completed all its work, and what it could not judge (3.20)."""
    failures = [("error", digest.failed(fault)) for fault in report.faults]
    failures += [("warning", f"{item.source}: {note}") for item in report.inputs for note in item.notes]
    failures += [("note", f"More input needed: {digest.ask(unknown)}") for unknown in report.unknown]
    return {
        "executionSuccessful": not report.faults,
        "toolExecutionNotifications": [{"level": level, "message": {"text": text}} for level, text in failures],
    }
