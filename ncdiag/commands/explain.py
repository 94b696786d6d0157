"""``ncdiag explain THING``: a rule (and its trace on an input), a log line, a variable, a code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ncdiag.commands._options import application
from ncdiag.commands._output import write

if TYPE_CHECKING:
    from ncdiag.engine.schema import Rule
    from ncdiag.explaining import Explanation

app = application()


@app.command(
    help="Explain a rule, any line of a log, an NCCL_* variable, or a code (Xid 79, status 12, ncclSystemError). "
    "A rule with FILE: clause by clause, why it fired on that input or did not."
)
def explain(  # noqa: PLR0917  (typer's parameters)
    thing: Annotated[str | None, typer.Argument(metavar="[THING]")] = None,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]")] = None,
    lines: Annotated[str | None, typer.Option("--lines", metavar="FILE", help="Explain every line of FILE.")] = None,
    format_: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", help="With --lines: text, or one JSON object a line.")
    ] = "text",
    nccl: Annotated[str | None, typer.Option(metavar="VERSION", help="The NCCL version to assume.")] = None,
    rules: Annotated[list[Path] | None, typer.Option(metavar="DIR", help="Add the rules of this folder.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")] = None,
) -> int:
    """Print what is known of the thing."""
    from ncdiag.errors import UsageError
    from ncdiag.report.sanitize import clean

    if lines is not None:
        write("".join(_every_line(lines, format_)), output, encoding="utf-8" if format_ == "jsonl" else None)
        return 0
    if thing is None:
        msg = "name a rule, a line, a variable or a code, or give --lines FILE"
        raise UsageError(msg)
    rule = _rule(thing, rules or ())
    if rule is not None:
        return _explain_rule(rule, files or (), nccl, output)
    text = _described(thing, nccl)
    if text is None:
        msg = f"nothing is known of {thing!r}; {_correction(thing, rules or ())}"
        raise UsageError(msg)
    write(clean(text), output)
    return 0


def _rule(word: str, folders: Sequence[Path]) -> Rule | None:
    from ncdiag import catalogue

    if len(word.split()) != 1:
        return None
    return next((r for r in catalogue.rules(folders) if word in {r.code, r.name, *r.formerly}), None)


def _correction(word: str, folders: Sequence[Path]) -> str:
    from ncdiag import catalogue
    from ncdiag.engine.kinds import suggestion

    names = [name for rule in catalogue.rules(folders) for name in (rule.code, rule.name)]
    return suggestion(word, names, "ncdiag rules list shows the rules")


def _explain_rule(rule: Rule, files: Sequence[str], nccl: str | None, output: Path | None) -> int:
    """The rule's page, or its trace over the facts of the files."""
    from ncdiag.commands import _rulebook
    from ncdiag.report.sanitize import clean

    if not files:
        write(clean(_rulebook.page(rule)), output)
        return 0
    from ncdiag.commands._judge import told
    from ncdiag.diagnose import view_of
    from ncdiag.engine.evaluate import judge, trace
    from ncdiag.fixes.values import Values
    from ncdiag.read import job_of, read_source
    from ncdiag.sources.files import open_sources

    sources = told(open_sources(files), quiet=False)
    view = view_of(job_of([read_source(source) for source in sources if hasattr(source, "buffers")]), nccl)
    (verdict,) = judge([rule], view, Values(view))
    write(clean(_rulebook.judged(verdict, trace(rule, view))), output)
    return 0


def _described(thing: str, nccl: str | None) -> str | None:
    """What is known of a variable, a code or a line; None when it is none of them."""
    from ncdiag import explaining
    from ncdiag.facts.scalars import Version

    variable = explaining.variable(thing, Version.parse(nccl) if nccl else None)
    if variable is not None:
        return "".join(f"{part}\n" for part in _variable(variable))
    code = explaining.number(thing)
    if code is not None:
        return f"{code.kind} {code.number}: {code.name}\n  {code.meaning}\n"
    told = explaining.line(thing)
    return "".join(f"{part}\n" for part in _line(told)) if told.event is not None else None


def _variable(variable: object) -> Iterator[str]:
    from ncdiag.explaining import Variable

    assert isinstance(variable, Variable)  # noqa: S101  (a type for the checker)
    yield variable.name
    yield f"  {variable.meaning}"
    if variable.suggestions:
        yield f"  Did you mean {' or '.join(variable.suggestions[:3])}?"
    if variable.type:
        yield f"  type {variable.type}, default {variable.default}, {variable.versions}"


def _line(told: Explanation) -> Iterator[str]:
    yield f"{told.event} ({told.kind}{f', {told.level}' if told.level else ''})"
    if told.meaning:
        yield f"  {told.meaning}"
    if told.next:
        yield f"  Next: {told.next}"
    yield from (f"  {name} = {value}" for name, value in told.fields.items())
    if told.versions:
        yield f"  printed by NCCL {told.versions}"


def _every_line(path: str, format_: str) -> Iterator[str]:
    """Each line of a file explained, one JSON object or one line of text a line."""
    import msgspec

    from ncdiag import explaining
    from ncdiag.errors import InputError
    from ncdiag.report.sanitize import json_escapes, one_line
    from ncdiag.sources.files import TextSource, open_sources

    for source in open_sources([path]):
        if not isinstance(source, TextSource):
            raise InputError(f"{source.name}: {source.reason}")  # noqa: EM102, TRY003
        for buffer in source.buffers():
            for raw in buffer.decode("utf-8", "replace").splitlines():
                told = explaining.line(raw)
                if format_ == "jsonl":
                    yield json_escapes(msgspec.json.encode(_record(told)).decode()) + "\n"
                else:
                    yield one_line(f"{told.event or '-'}: {raw}") + "\n"


def _record(told: Explanation) -> dict[str, object]:
    """The fields that are promised, with null for what is not known."""
    return {
        "event": told.event,
        "level": told.level,
        "meaning": told.meaning or None,
        "kind": _plain_kind(told),
        "next": told.next or None,
        "fields": told.fields,
        "versions": told.versions or None,
        "text": told.text,
    }


def _plain_kind(told: Explanation) -> str | None:
    """cause, echo, harmless or fact: a symptom is what somebody has to look at when it is a warning, else a state."""
    if told.kind != "symptom":
        return told.kind
    return "fact" if told.level == "INFO" else "cause"
