"""``ncdiag explain THING``: a rule (and its trace on an input), a log line, a variable, a code, a word, a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ncdiag.commands import _complete
from ncdiag.commands._options import Lang, Language, application, language_of
from ncdiag.commands._output import for_people, write

if TYPE_CHECKING:
    from ncdiag.apps.explaining import Answer, Explanation
    from ncdiag.engine.results import Finding, Verdict
    from ncdiag.engine.schema import Rule
    from ncdiag.facts.scalars import Version
    from ncdiag.facts.view import View
    from ncdiag.suspects.weigh import Scales

app = application()


@app.command(
    help="Explain a rule, a log line, an NCCL_* variable, an error code (Xid 79, SXid 20034, status 12, errno "
    "111, ncclSystemError), a release (2.28.7: the known defects that it fixes and still has), a path type, a "
    "technical term, a file in /sys or /proc, or how to get a useful log ('logging'). With a rule and FILE: show, "
    "condition by condition, why the rule did or did not fire on that input. With two rules and FILE: show why "
    "one comes before the other in the report."
)
def explain(  # noqa: PLR0917  (typer's parameters)
    thing: Annotated[str | None, typer.Argument(metavar="[THING]", autocompletion=_complete.variables)] = None,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...]")] = None,
    lines: Annotated[str | None, typer.Option("--lines", metavar="FILE", help="Explain each line of FILE.")] = None,
    format_: Annotated[
        Literal["text", "json", "jsonl"],
        typer.Option("--format", help="Output format (jsonl: one JSON object per line)."),
    ] = "text",
    nccl: Annotated[str | None, typer.Option(metavar="VERSION", help="NCCL version for which to explain.")] = None,
    rules: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Also use the rules in this folder (repeatable).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
    lang: Lang = None,
) -> int:
    """Print what is known of the thing."""
    from ncdiag import catalogue, language
    from ncdiag.base.errors import UsageError

    asked = language_of(lang or (None if format_ == "text" else Language.en))
    language.speak(asked)
    if lines is not None:
        write("".join(_every_line(lines, format_)), output, encoding=None if format_ == "text" else "utf-8")
        return 0
    if thing is None:
        msg = "give a rule, log line, variable, error code, term or path to explain, or --lines FILE"
        raise UsageError(msg)
    rule = _rule(thing, rules or ())
    if rule is not None:
        (rule,) = catalogue.localised([rule], asked, rules or ())
    if rule is not None and files:
        second = _rule(files[0], rules or ()) if files[1:] and not Path(files[0]).exists() else None
        if second is not None:
            return _compared((rule, second), files[1:], nccl, output, quiet=quiet)
        return _traced(rule, files, nccl, output, quiet=quiet)
    return _answered(thing, rule, rules or (), format_, _version(nccl), output)


def _version(text: str | None) -> Version | None:
    from ncdiag.base.errors import UsageError
    from ncdiag.facts.scalars import Version

    version = Version.parse(text) if text is not None else None
    if text is not None and version is None:
        msg = f"{text!r} is not an NCCL version (example: 2.18.3)"
        raise UsageError(msg)
    return version


def _rule(word: str, folders: Sequence[Path]) -> Rule | None:
    from ncdiag import catalogue

    if len(word.split()) != 1:
        return None
    lower = word.lower()
    return next((r for r in catalogue.rules(folders) if lower in {r.code.lower(), r.name, *r.formerly}), None)


def _check(word: str) -> tuple[Answer, ...]:
    """A check of ``ncdiag lint``, by its code or name."""
    from ncdiag.apps.explaining import Answer
    from ncdiag.apps.lint import checks

    found = [check for check in checks().values() if word in {check.code, check.code.lower(), check.name}]
    return tuple(
        Answer(
            kind="check of ncdiag lint", name=check.name, meaning=check.reason or check.what,
            details={"code": check.code, "severity": check.severity}
            | ({"advice": check.advice} if check.advice else {}),
        )
        for check in found
    )  # fmt: skip


def _rules_about(words: str, folders: Sequence[Path]) -> tuple[Answer, ...]:
    """The rules that a word of the field belongs to, by their name or the cause that they name."""
    from ncdiag import catalogue
    from ncdiag.apps.explaining import Answer, rules_about

    return tuple(
        Answer(
            kind="rule", name=rule.name, meaning=rule.suspect.text if rule.suspect else rule.title,
            details={"code": rule.code},
        )
        for rule in rules_about(words, catalogue.rules(folders))
    )  # fmt: skip


def _answered(  # noqa: PLR0917  (the options)
    thing: str, rule: Rule | None, folders: Sequence[Path], format_: str, version: Version | None, output: Path | None
) -> int:
    """Print every meaning of the thing; if there is none, suggest similar names."""
    from ncdiag import catalogue
    from ncdiag.apps.explaining import answers_to, is_pasted, rule_text, suggestions, text_of
    from ncdiag.base.errors import UsageError

    found = () if rule is not None else (*_check(thing), *answers_to(thing, version))
    if rule is None and not found:
        found = _rules_about(thing, folders)
    near: tuple[str, ...] = ()
    if rule is None and not found:
        near = suggestions(thing, [name for r in catalogue.rules(folders) for name in (r.code, r.name)])
    if format_ != "text":
        told = [_rule_fields(rule)] if rule is not None else [_fields(answer) for answer in found]
        content = {"thing": thing, "nccl_version": None if version is None else str(version), "answers": told,
                   "suggestions": list(near)}  # fmt: skip
        write(_as_json(content, format_), output, encoding="utf-8")
        return 0 if told else UsageError.exit_code
    if rule is not None:
        for_people(rule_text.page(rule), output)
        return 0
    if not found:
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else ("'ncdiag rules list' lists all rules")
        msg = f"ncdiag does not know {thing!r}; {hint}"
        raise UsageError(msg)
    to_paste = {
        line.strip()
        for answer in found for value in answer.details.values() if is_pasted(value) for line in value.splitlines()
    }  # fmt: skip
    for_people("\n".join(map(text_of, found)), output, to_paste)
    return 0


def _as_json(content: dict[str, Any], format_: str) -> str:
    import json

    from ncdiag.report.sanitize import json_escapes

    return json_escapes(json.dumps(content, ensure_ascii=False, indent=1 if format_ == "json" else None)) + "\n"


def _fields(answer: Answer) -> dict[str, Any]:
    """An answer as one flat object; details have their labels as keys."""
    details = {name.replace(" ", "_"): value for name, value in answer.details.items()}
    return {"kind": answer.kind, "name": answer.name, "meaning": answer.meaning, **details}


def _rule_fields(rule: Rule) -> dict[str, Any]:
    import msgspec

    from ncdiag.apps.explaining import meanings

    held: dict[str, Any] = msgspec.to_builtins(rule)
    kept = ("code", "formerly", "area", "severity", "role", "title", "when", "unless", "explains", "false_positives",
            "references")  # fmt: skip
    conditions = {clause: list(words) for clause, words in meanings(rule).items()}
    fixes = [{"kind": fix.kind, "text": fix.text, "env": dict(fix.env), "unset": list(fix.unset)} for fix in rule.fixes]
    return {"kind": "rule", "name": rule.name, "meaning": " ".join(rule.why.split()),
            **{name: held.get(name) for name in kept}, "conditions": conditions, "fixes": fixes}  # fmt: skip


def _traced(rule: Rule, files: Sequence[str], nccl: str | None, output: Path | None, *, quiet: bool) -> int:
    """The trace of the rule on the facts of the files."""
    from ncdiag.apps.explaining import rule_text, signs
    from ncdiag.engine.evaluate import trace
    from ncdiag.formats.secrets.hiding import Hiding

    judged = _judged([rule], files, nccl, quiet=quiet)
    verdict = next(verdict for verdict in judged.verdicts if verdict.rule is rule)
    text = rule_text.judged(verdict, trace(rule, judged.view))
    if rule.suspect is not None:
        text += signs.summed(judged.scales.one(rule))
    for_people(Hiding().text(text), output)
    return 0


def _compared(
    rules: Sequence[Rule], files: Sequence[str], nccl: str | None, output: Path | None, *, quiet: bool
) -> int:  # fmt: skip
    """The terms of the sums of two rules on the facts of the files."""
    from ncdiag.apps.explaining import order_text
    from ncdiag.engine.order import basis, terms
    from ncdiag.suspects.choose import candidate

    judged = _judged(rules, files, nccl, quiet=quiet)
    on = basis(judged.findings, judged.view)
    held = [terms(candidate(rule, judged.findings, judged.scales), on) for rule in rules]
    for_people(order_text.compared([rule.name for rule in rules], held), output)
    return 0


class _Judged(NamedTuple):
    """The facts of an input, the verdicts of all rules, the findings, and the scores of suspects."""

    view: View
    verdicts: Sequence[Verdict]
    findings: Sequence[Finding]
    scales: Scales


def _judged(rules: Sequence[Rule], files: Sequence[str], nccl: str | None, *, quiet: bool) -> _Judged:
    """Judge the files by all rules; ``rules`` replace those of the same code."""
    from ncdiag import catalogue
    from ncdiag.commands._judge import told
    from ncdiag.diagnose import scales_of, view_of
    from ncdiag.engine.causes import conclude
    from ncdiag.engine.fallback import judge_all
    from ncdiag.fixes.values import Values
    from ncdiag.machine.inputs import inputs
    from ncdiag.text import read_all

    case = read_all(told(inputs(files), quiet=quiet))
    view = view_of(case.job(), nccl)
    own = {rule.code for rule in rules}
    others = (other for other in catalogue.rules() if other.code not in own)
    verdicts = judge_all([*others, *rules], view, Values(view))
    findings = conclude(verdicts, view).findings
    return _Judged(view, verdicts, findings, scales_of(case, view, findings, verdicts))


def _every_line(path: str, format_: str) -> Iterator[str]:
    """Each line of a file explained, one JSON object or one line of text per line."""
    import msgspec

    from ncdiag.apps.explaining import lines
    from ncdiag.base.errors import InputError
    from ncdiag.formats.secrets.hiding import Hiding
    from ncdiag.report.sanitize import json_escapes, one_line
    from ncdiag.text import Text, Unreadable, open_sources

    hiding = Hiding()
    for source in open_sources([path]):
        if not isinstance(source, Text):
            reason = (
                source.reason if isinstance(source, Unreadable) else ("it contains a recorded host and no log lines")
            )
            raise InputError(f"{source.name}: {reason}")  # noqa: EM102, TRY003
        for buffer in source.buffers():
            raw = buffer.decode("utf-8", "replace").splitlines()
            for told, shown in zip(map(lines.line, raw), hiding.lines(raw), strict=True):
                if format_ != "text":
                    fields = {n: hiding.text(v) if isinstance(v, str) else v for n, v in told.fields.items()}
                    record = {**_record(told), "fields": fields, "text": shown}
                    yield json_escapes(msgspec.json.encode(record).decode()) + "\n"
                else:
                    yield one_line(f"{told.event or '-'}: {shown}") + "\n"


def _record(told: Explanation) -> dict[str, object]:
    """The documented fields, with null for unknown values."""
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
    """cause, echo, harmless or fact: a symptom is a cause to check if it is a warning, else a fact."""
    if told.kind != "symptom":
        return told.kind
    return "fact" if told.level == "INFO" else "cause"
