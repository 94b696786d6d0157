"""Print the findings of lint: text for people, JSON for tools, annotations for GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ncdiag.apps.lint import mentions
from ncdiag.apps.lint.edits import corrected
from ncdiag.apps.lint.findings import has_no_effect
from ncdiag.apps.lint.model import Finding
from ncdiag.apps.lint.run import Result
from ncdiag.base.severity import SEVERITIES
from ncdiag.base.version import __version__
from ncdiag.formats.shell import hide_secrets
from ncdiag.language import cells, counted, lead_in, phrase, say, sentences
from ncdiag.report.sanitize import one_line

SCHEMA_VERSION = 1


def as_text(results: Sequence[Result]) -> str:
    """``file:line:column: severity CODE name: message``, the reason, and the corrected line."""
    lines: list[str] = []
    for result in results:
        for found in result.findings:
            lines += _block(result, found)
        if result.findings and result.document.nccl is not None:
            named = say("checked for NCCL {version}, the version in the file", version=result.document.nccl.low)
            lines.append(_of_file(result, named))
        if result.document.unread:
            lines.append(_of_file(result, phrase(mentions.spoken(result.document.unread))))
        if result.document.unknown:
            lines.append(_of_file(result, phrase(mentions.not_judged(result.document.unknown))))
    counts = _counts(results)
    files = len({result.document.source for result in results})
    told = (counted(counts["error"], "error"), counted(counts["warning"], "warning"), counted(counts["info"], "note"))
    summed = say("{findings} in {files}", findings=say(", ").join(told), files=counted(files, "file"))
    more = say("; ") + say("--fix shows how to fix {n} of them", n=counts["fixable"]) if counts["fixable"] else ""
    lines.append(f"{summed}{more}")
    return "\n".join(lines) + "\n"


def _of_file(result: Result, sentence: str) -> str:
    return one_line(f"{result.document.source}: {sentence}")


def label() -> str:
    """The label before a corrected line; its other lines are indented by the same width."""
    return f"    {lead_in('write')}"


def _block(result: Result, found: Finding) -> Iterator[str]:
    document = result.document
    line, column = document.line(found.place.start), document.column(found.place.start)
    head = f"{document.source}:{line}:{column}: {found.severity} {found.code} {found.name}: {phrase(found.message)}"
    yield one_line(hide_secrets(head))
    if found.reason or found.versions:
        versions = f" (NCCL {found.versions})" if found.versions else ""
        yield one_line(f"    {lead_in('why')}{sentences(found.reason)}{versions}")
    text = corrected(document, found)
    if text is not None:
        for number, each in enumerate(text.split("\n") if text.strip() not in {"", ":"} else [say("(remove it)")]):
            yield one_line(f"{label()}{each.strip()}" if not number else f"{' ' * cells.width(label())}{each}")
    elif found.advice:
        yield one_line(f"    {lead_in('do')}{sentences(found.advice)}")


def _counts(results: Sequence[Result]) -> dict[str, int]:
    found = [each for result in results for each in result.findings]
    counts: dict[str, int] = {severity: sum(each.severity == severity for each in found) for severity in SEVERITIES}
    fixable = (each.fixable and not result.document.is_excerpt for result in results for each in result.findings)
    return {**counts, "fixable": sum(fixable)}


def as_json(results: Sequence[Result]) -> str:
    """One object; its field names are a stable interface, like those of the report."""
    counts = _counts(results)
    answer = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ncdiag", "version": __version__},
        "inputs": [
            {
                "source": result.document.source,
                "form": result.document.form,
                "settings": len(result.document.settings),
                "unread": list(result.document.unread),
                "unknown": list(result.document.unknown),
                "nccl": str(result.nccl.low) if result.nccl else None,
            }
            for result in results
        ],
        "summary": {
            "errors": counts["error"],
            "warnings": counts["warning"],
            "infos": counts["info"],
            "fixable": counts["fixable"],
        },
        "findings": [_record(result, found) for result in results for found in result.findings],
    }
    return json.dumps(answer, ensure_ascii=False, indent=1) + "\n"


def _record(result: Result, found: Finding) -> dict[str, object]:
    document = result.document
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity,
        "source": document.source,
        "line": document.line(found.place.start),
        "column": document.column(found.place.start),
        "variable": found.variable,
        "message": hide_secrets(found.message),
        "reason": found.reason,
        "versions": found.versions or None,
        "corrected": corrected(document, found),
        "fixable": found.fixable,
        "no_effect": has_no_effect(found.name),
        "advice": found.advice or None,
        "references": list(found.references),
    }


def as_github(results: Sequence[Result]) -> str:
    """Workflow commands (`ncdiag.report.github`)."""
    from ncdiag.report.github import LEVELS, command

    lines = []
    for result in results:
        document = result.document
        for found in result.findings:
            text = corrected(document, found)
            remedy = f"\nwrite: {text.strip() or '(remove it)'}" if text is not None else ""
            message = hide_secrets(f"{found.message}\n{found.reason}") + (remedy or f"\n{found.advice}".rstrip())
            start = found.place.start
            lines.append(
                command(
                    LEVELS[found.severity], message, title=f"{found.code} {found.name}", file=document.source,
                    line=document.line(start), column=document.column(start),
                )
            )  # fmt: skip
        lines += [
            command("notice", mentions.spoken([line]), file=document.source, line=line) for line in document.unread
        ]
        lines += [
            command("notice", mentions.not_judged([line]), file=document.source, line=line) for line in document.unknown
        ]
    return "".join(f"{line}\n" for line in lines)
