"""``ncdiag diff BEFORE AFTER``: what differs between two runs, hosts or states, the most important first.

``ncdiag diff --jobs REPORT...``: what failed jobs share that good ones do not.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.commands._options import Lang, Language, Since, Until, application, language_of, window_of

if TYPE_CHECKING:
    from ncdiag.report.model import Report

app = application()

Ends = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="DURATION",
        help="Also show which kinds of log lines differ first in the last 10m of the two, up to the first failure of "
        "each, else to its end.",
    ),
]


@app.command(
    help="Show what differs between two runs, hosts or bundles (a good one and a bad one), most important "
    "first. Exit code: 0 if nothing important differs, 1 if something does, 3 if nothing in one of the "
    "inputs was recognised. --jobs: compare the JSON reports of many jobs, good and bad, and show what the failed "
    "ones share that the good ones do not: hosts, leaf switches, HCAs, images, drivers, NCCL releases."
)
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="File, folder or bundle of the good run.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="File, folder or bundle of the bad run.")],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[REPORT]...", show_default=False, help="With --jobs: more reports.")
    ] = None,
    *,
    jobs: Annotated[
        bool, typer.Option("--jobs", help="Compare many jobs: all inputs are reports of 'ncdiag ... --format json'.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Report format: text, html, json or markdown.")
    ] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    nccl: Annotated[
        str | None, typer.Option(metavar="VERSION", help="NCCL version, if the inputs do not show it.")
    ] = None,
    redact: Annotated[bool, typer.Option("--redact", help="Replace names and addresses with placeholders.")] = False,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Show passwords, keys and tokens of the inputs.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print all differences instead of one screen.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes on standard error.")] = False,
    since: Since = None,
    until: Until = None,
    ends: Ends = None,
    lang: Lang = None,
) -> int:
    """Set two inputs side by side, or many reports."""
    if jobs and ends:
        from ncdiag.base.errors import UsageError

        msg = "--jobs compares reports, which have no lines; --window needs two logs"
        raise UsageError(msg)
    if jobs:
        return _of_jobs([before, after, *(more or ())], form, output, lang, whole=verbose, quiet=quiet)
    if more:
        from ncdiag.base.errors import UsageError

        msg = f"diff compares two inputs, and {more[0]!r} is one more; --jobs compares the reports of many jobs"
        raise UsageError(msg)
    import shutil

    from ncdiag.base.errors import FOUND, NOTHING_UNDERSTOOD
    from ncdiag.commands._beside import case_of, is_understood, lines_compared
    from ncdiag.commands._output import say, write
    from ncdiag.diagnose import Options, difference
    from ncdiag.language import speak
    from ncdiag.report import changes
    from ncdiag.text import Reading

    render = changes.renderer(form)
    speak(language := language_of(lang or (Language.en if form == "json" else None)))
    window = window_of(since, until)
    cases = [case_of(path, window) for path in (before, after)]
    lines = lines_compared((before, after), window, ends) if ends else None
    found = difference(
        (before, cases[0]), (after, cases[1]), Options(nccl=nccl, language=language, show_secrets=show_secrets), lines
    )
    if ends and found.lines is None and not quiet:
        say("the lines at the ends were not compared: one of the two has no file with stamps")
    if redact:
        from ncdiag.apps.redact import difference_cleaned

        found = difference_cleaned(found)
    write(
        render(found, width=shutil.get_terminal_size().columns, whole=verbose), output,
        encoding="utf-8" if form in {"html", "json"} else None,
    )  # fmt: skip
    if not quiet:
        empty = (text for case in cases for text in case.texts if isinstance(text, Reading) and not text.lines)
        for text in empty if window is not None else ():
            for note in text.notes:
                say(f"{text.source}: {note}")
    lost = [path for path, case in zip((before, after), cases, strict=True) if not is_understood(case)]
    if lost and not quiet:
        say(f"nothing in {' and '.join(lost)} was recognised")
    return NOTHING_UNDERSTOOD if lost else FOUND if found.matters else 0


def _of_jobs(
    paths: list[str], form: str, output: Path | None, lang: Language | None, *, whole: bool, quiet: bool
) -> int:  # fmt: skip
    """The comparison of many reports; 1 if something tells the failed jobs from the good ones."""
    import shutil

    from ncdiag.base.errors import FOUND, UsageError
    from ncdiag.commands._output import say, write
    from ncdiag.comparing.jobs import Named, compared
    from ncdiag.language import speak
    from ncdiag.report.jobs import written

    speak(language_of(lang or (Language.en if form == "json" else None)))
    found = compared([Named(path, _report(path)) for path in paths])
    if found.left_out and not quiet:
        say(f"left out, because nothing in them was recognised: {', '.join(found.left_out)}")
    if not found.failed or not found.good:
        msg = f"{len(found.failed)} failed and {len(found.good)} good jobs: at least one of each is needed"
        raise UsageError(msg)
    text = written(found, form, width=shutil.get_terminal_size().columns, whole=whole)
    write(text, output, encoding="utf-8" if form == "json" else None)
    return FOUND if found.shared else 0


def _report(path: str) -> Report:
    """The report in a file. Raises InputError."""
    import msgspec

    from ncdiag.base.errors import InputError
    from ncdiag.report.model import Report

    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Report)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise InputError(msg) from error
    except msgspec.DecodeError as error:
        msg = f"cannot read {path}: it is not a report of ncdiag (--format json): {error}"
        raise InputError(msg) from error
