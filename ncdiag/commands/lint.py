"""``ncdiag lint FILE...`` and ``ncdiag lint -- COMMAND``: the NCCL settings of files and commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
import typer.core

from ncdiag.base.errors import NOTHING_UNDERSTOOD
from ncdiag.commands._options import FailOn, Lang, Least, application, language_of
from ncdiag.commands._output import say, write

if TYPE_CHECKING:
    from ncdiag.apps.lint import Document, Form, Options, Result
    from ncdiag.facts.scalars import Version

app = application()

_COMMAND = "ncdiag.apps.lint.command"


class _Splitting(typer.core.TyperCommand):
    """Takes the words after ``--`` as a command line to be linted, not as files."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  (the class moved between releases)
        """Keep the words after the first ``--``."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = args[at + 1 :]
            args = args[:at]
        return list(super().parse_args(ctx, args))


@app.command(
    cls=_Splitting,
    help="Check the NCCL settings in launch commands, shell and Slurm scripts, Dockerfiles, Kubernetes, "
    "compose and other YAML files, JSON, TOML and Python files, env files, nccl.conf, hostfiles, HCCL "
    "rank tables, and commands quoted in other text. FILE may be a folder, or - for standard input. To "
    "check a command line, put it after --: ncdiag lint -- mpirun -np 2 ...",
)
def lint(  # noqa: PLR0917  (typer's parameters)
    ctx: typer.Context,
    files: Annotated[list[str] | None, typer.Argument(metavar="[FILE...] [-- COMMAND]")] = None,
    pid: Annotated[
        list[int] | None, typer.Option(metavar="PID", help="Check the environment of this running process.")
    ] = None,
    nccl: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="NCCL version to check for (default: the version named in the file, otherwise all versions).",
        ),
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORM",
            help="Read the files as this type: shell, dockerfile, kubernetes, compose, json, toml, python, env, conf, "
            "hostfile or ranktable.",
        ),
    ] = None,
    one_job: Annotated[
        bool,
        typer.Option("--one-job", help="Treat the files as those of the hosts of one job and compare their settings."),
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Print the corrections as a patch, without changing any file.")
    ] = False,
    format_: Annotated[Literal["text", "json", "github"], typer.Option("--format", help="Output format.")] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="CHECK", help="Use only this check or rule (code or name; repeatable).")
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CHECK", help="Skip this check or rule (code or name; repeatable).")
    ] = None,
    rules: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="Also use the rules in this folder (repeatable).")
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Configuration file: private rules, ignored rules, baseline (default: $NCDIAG_CONFIG or ncdiag.toml).",
        ),
    ] = None,
    min_severity: Annotated[Least, typer.Option(help="Lowest severity of the findings to show.")] = Least.info,
    fail_on: Annotated[
        FailOn, typer.Option(help="Exit with code 1 if a finding has at least this severity.")
    ] = FailOn.error,
    fail_on_no_effect: Annotated[
        bool,
        typer.Option("--fail-on-no-effect", help="Exit with code 1 also for a setting that has no effect."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
    lang: Lang = None,
) -> int:
    """Print the findings, or the patch."""
    from ncdiag.apps.lint import has_no_effect
    from ncdiag.apps.lint import lint as judged
    from ncdiag.apps.lint import output as printing
    from ncdiag.base.errors import UsageError
    from ncdiag.language import ENGLISH, speak
    from ncdiag.report.sanitize import json_escapes

    asked = language_of(lang) if format_ == "text" else ENGLISH  # the other formats are for programs
    speak(asked)
    command = ctx.meta.get(_COMMAND)
    if not files and not pid and command is None:
        msg = "nothing to check was given: use ncdiag lint FILE... or ncdiag lint -- COMMAND"
        raise UsageError(msg)
    options = _options(nccl, (select, ignore), (rules, config), one_job=one_job or len(pid or ()) > 1, language=asked)
    documents = _documents(files or [], pid or [], command, as_, quiet=quiet)
    if not documents:
        if not quiet:
            say("the input sets no NCCL variable and starts no job")
        return NOTHING_UNDERSTOOD
    if fix:
        write(_patches(documents, options, quiet=quiet), output, encoding="utf-8")
    results = [_shown(result, min_severity.value) for result in judged(documents, options)]
    if not fix and format_ == "json":
        write(json_escapes(printing.as_json(results)), output, encoding="utf-8")
    elif not fix:
        text = printing.as_text(results) if format_ == "text" else printing.as_github(results)
        write(_on_terminal(text) if format_ == "text" and output is None else text, output)
    found = [each for result in results for each in result.findings]
    order = ("error", "warning", "info")
    failing = order[: order.index(fail_on.value) + 1] if fail_on is not FailOn.never else ()
    fails = any(each.severity in failing or (fail_on_no_effect and has_no_effect(each.name)) for each in found)
    if not fails and not any(result.document.is_understood for result in results):
        return NOTHING_UNDERSTOOD
    return int(fails)


def _on_terminal(text: str) -> str:
    """The text wrapped to the terminal, except the corrected lines."""
    from ncdiag.apps.lint import label
    from ncdiag.commands._output import for_terminal
    from ncdiag.language import cells

    corrected = (label(), " " * cells.width(label()))
    return for_terminal(text, {line.strip() for line in text.splitlines() if line.startswith(corrected)})


def _options(
    nccl: str | None, chosen: tuple[list[str] | None, list[str] | None], book: tuple[list[Path] | None, Path | None],
    *, one_job: bool, language: str,
) -> Options:  # fmt: skip
    """Options from the command line and the configuration file: release, selected and ignored rules, private rules."""
    import datetime as dt

    from ncdiag import catalogue
    from ncdiag.apps.lint import Options, checks
    from ncdiag.base import config
    from ncdiag.base.errors import UsageError

    site = config.load(book[1])
    folders = (*site.packs(), *(book[0] or ()))
    select, ignore = (frozenset(words or ()) for words in chosen)
    known = {word: rule.name for rule in catalogue.rules(folders) for word in (rule.code, rule.name, *rule.formerly)}
    known |= {word: check.name for check in checks().values() for word in (check.code, check.name)}
    for word in sorted(select | ignore):
        if word not in known:
            msg = f"there is no check {word!r}"
            raise UsageError(msg)
    ignore |= {item.rule for item in site.left_out(dt.datetime.now(tz=dt.timezone.utc).date())}
    named = [frozenset(known.get(word, word) for word in words) for words in (select or site.select, ignore)]
    return Options(
        nccl=_version(nccl), select=named[0], ignore=named[1], rules=folders, one_job=one_job, language=language
    )


def _version(text: str | None) -> Version | None:
    from ncdiag.base.errors import UsageError
    from ncdiag.facts.scalars import Version

    version = Version.parse(text) if text is not None else None
    if text is not None and version is None:
        msg = f"{text!r} is not an NCCL version (example: 2.18.3)"
        raise UsageError(msg)
    return version


def _documents(
    files: list[str], pids: list[int], command: list[str] | None, form: str | None, *, quiet: bool
) -> list[Document]:
    from ncdiag.apps.lint import inputs

    documents, notes = inputs.opened(files, _form(form))
    if command is not None:
        documents.append(inputs.command(command))
    for pid in pids:
        documents += inputs.process(pid)
    for note in () if quiet else notes:
        say(note)
    return documents


def _form(text: str | None) -> Form | None:
    import typing

    from ncdiag.apps.lint import Form
    from ncdiag.base.errors import UsageError

    known: tuple[Form, ...] = typing.get_args(Form)
    if text is not None and text not in known:
        msg = f"{text!r} is not a file type; the types are {', '.join(known)}"
        raise UsageError(msg)
    return next((form for form in known if form == text), None)


def _shown(result: Result, least: str) -> Result:
    import msgspec

    order = ("error", "warning", "info")
    kept = tuple(found for found in result.findings if order.index(found.severity) <= order.index(least))
    return msgspec.structs.replace(result, findings=kept)


def _patches(documents: list[Document], options: Options, *, quiet: bool) -> str:
    """The patches of all documents; one that would print a secret is left out and reported."""
    from ncdiag.apps.lint import mended, patch
    from ncdiag.formats.shell import hide_secrets
    from ncdiag.report.sanitize import clean

    found = []
    for document in documents:
        if document.form == "process" or document.is_excerpt:
            continue
        text = patch(document.source, document.text, mended(document, options))
        reason = ""
        if any(hide_secrets(line) != line for line in text.split("\n")):
            reason = "the lines around the corrections contain a secret"
        elif not text.isascii() and text.encode("utf-8", "replace") != text.encode("utf-8", "surrogateescape"):
            reason = "it is not UTF-8"
        if reason:
            if not quiet:
                say(f"{document.source}: no patch is printed: {reason}")
            continue
        found.append(text)
    joined = "".join(found)
    shown_to_person = sys.stdout is not None and sys.stdout.isatty()
    return clean(joined) if shown_to_person else joined
