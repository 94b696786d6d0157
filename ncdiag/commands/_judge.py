"""Steps of every judging command: diagnose, print, and return the exit code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from ncdiag import language
from ncdiag.base.errors import FOUND, INTERNAL, INTERRUPTED, NOTHING_UNDERSTOOD
from ncdiag.base.severity import SEVERITIES, Severity
from ncdiag.commands._interrupt import interruptible
from ncdiag.commands._options import ExitStyle, FailOn, Options
from ncdiag.commands._output import say, write
from ncdiag.commands._progress import showing
from ncdiag.report.model import Report
from ncdiag.text import Item, Stop, Unreadable

if TYPE_CHECKING:
    from ncdiag.diagnose import Diagnosed
    from ncdiag.text import Window

_UNCUT = 2000


def judge(paths: Sequence[str], options: Options, window: Window | None = None) -> int:
    """Diagnose what the paths hold, print the report and return the exit code. Bundles may be among them.

    ``window``: of logs, read only the lines in this window of time.
    """
    from ncdiag.diagnose import diagnosed
    from ncdiag.machine.inputs import inputs

    asked = msgspec.structs.replace(options.judging(), window=window)

    def find(stop: Stop) -> Diagnosed:
        with showing(quiet=options.quiet) as progress:
            found = diagnosed(told(inputs(paths), quiet=options.quiet), asked, progress=progress, stop=stop)
        if not options.quiet:
            say_empty(found.report)
        return found

    return answer(find, options)


def say_empty(report: Report) -> None:
    """Say on stderr which inputs have no line in the window, and which times they have."""
    for item in report.inputs if report.window is not None else ():
        for note in item.notes if not item.lines else ():
            say(f"{item.source}{language.say(': ')}{note}")


def judge_asking(paths: Sequence[str], options: Options, window: Window | None = None) -> int:
    """Like `judge`, but with questions that separate suspects; raises UsageError if nobody can be asked."""
    from ncdiag.base.errors import UsageError
    from ncdiag.commands._ask import Answers, converse
    from ncdiag.diagnose import diagnosed
    from ncdiag.machine.inputs import inputs
    from ncdiag.text import TextSource

    if "-" in paths or sys.stdin is None or not sys.stdin.isatty():
        msg = "--ask needs a terminal for the questions, and the input in a file"
        raise UsageError(msg)
    asked = msgspec.structs.replace(options.judging(), window=window)
    items = list(told(inputs(paths), quiet=options.quiet))

    last: list[Diagnosed] = []

    def find(answers: Answers) -> Report:
        more = [TextSource.of_bytes(f"answer {n}", text.encode()) for n, text in enumerate(answers.pasted, 1)]
        last[:] = [diagnosed([*items, *more], msgspec.structs.replace(asked, answers=answers.told))]
        return last[0].report

    def talk(_: Stop) -> Diagnosed:
        converse(find)
        return last[0]

    return answer(talk, options)


def answer(find: Callable[[Stop], Report | Diagnosed], options: Options) -> int:
    """Print the report that ``find`` returns; an unknown format is rejected first.

    If ``find`` also returns the facts, a format with pictures can draw them.
    """
    from ncdiag.report import FOR_PEOPLE, renderer

    answers_in = options.answers_in
    language.speak(options.language)
    renderer(answers_in)
    if answers_in == "nagios" and options.exit_style is ExitStyle.ncdiag:
        from ncdiag.base.errors import UsageError

        msg = "--format nagios prints a state that must also be the exit code; remove --exit-style ncdiag"
        raise UsageError(msg)
    with interruptible(quiet=options.quiet) as stop:
        found = find(stop)
    if options.is_plugin and stop.happened:
        raise KeyboardInterrupt  # a monitoring state from half the input would be wrong
    report, more = public(found, options)
    fail_on = options.fail_on
    write(rendered(report, options, **more), options.output, encoding=None if answers_in in FOR_PEOPLE else "utf-8")
    if options.is_plugin:
        from ncdiag.report.nagios import state

        return int(state(report, fail_on.value))
    return INTERRUPTED if stop.happened else exit_code(report, fail_on)


def public(found: Report | Diagnosed, options: Options) -> tuple[Report, dict[str, Any]]:
    """The report as it may be published, and further data for the format: facts, and lines around the cited ones."""
    from ncdiag.report import WITH_FACTS

    if isinstance(found, Report) or options.answers_in not in WITH_FACTS:
        report = found if isinstance(found, Report) else found.report
        if options.redact:
            from ncdiag.apps.redact import report_cleaned

            report = report_cleaned(report)
        return report, {}
    from ncdiag.diagnose import hiding_of
    from ncdiag.report.hidden import hidden_lines
    from ncdiag.report.html.evidence import around

    report, case, view = found
    lines = case.lines(around(report))
    if not options.show_secrets:
        lines = hidden_lines(lines, hiding_of(case))
    if options.redact:
        from ncdiag.apps.redact import judged_cleaned
        from ncdiag.diagnose import view_of

        report, job, lines = judged_cleaned(report, view.job, lines)
        view = view_of(job)
    return report, {"view": view, "lines": lines}


def rendered(report: Report, options: Options, stream: TextIO | None = None, **more: Any) -> str:  # noqa: ANN401
    """The report as text in the requested format, for ``stream`` (standard output) or a file.

    ``more``: further data for the format, as returned by `public`.
    """
    from ncdiag.report import renderer

    stream = stream or sys.stdout
    shown = at_least(report, options.min_severity.value)
    detail = "whole" if options.verbose else "brief" if options.brief else "screen"
    return renderer(options.answers_in)(
        shown, width=_width(options, stream), colour=wants_colour(options, stream), detail=detail,
        fail_on=options.fail_on.value, **more,
    )  # fmt: skip


def _width(options: Options, stream: TextIO | None) -> int:
    """The columns of the terminal; lines for programs (``--brief`` to a pipe or a file) are not cut."""
    into_terminal = options.output is None and stream is not None and stream.isatty()
    return _UNCUT if options.brief and not into_terminal else shutil.get_terminal_size().columns


def told(items: Iterable[Item], *, quiet: bool) -> Iterator[Item]:
    """The same items; those that cannot be read are also reported on stderr."""
    for item in items:
        if not quiet and isinstance(item, Unreadable):
            say(f"{item.name}{language.say(': ')}{language.phrase(item.reason)}")
        yield item


def at_least(report: Report, severity: Severity) -> Report:
    """The report without findings below a severity; its counts remain those of all findings."""
    allowed = SEVERITIES[: SEVERITIES.index(severity) + 1]
    kept = tuple(finding for finding in report.findings if finding.severity in allowed)
    return msgspec.structs.replace(report, findings=kept)


def exit_code(report: Report, fail_on: FailOn) -> int:
    """0; 1 if a finding is at or above ``fail_on``; 3 if nothing was understood; 5 after an error of ncdiag."""
    failing = SEVERITIES[: SEVERITIES.index(fail_on.value) + 1] if fail_on is not FailOn.never else ()
    if any(finding.severity in failing for finding in report.findings):
        return FOUND
    if report.faults:
        return INTERNAL
    return NOTHING_UNDERSTOOD if report.summary.verdict == "nothing-understood" else 0


def wants_colour(options: Options, stream: TextIO | None = None) -> bool:
    """True if output is coloured: on a terminal that supports it if the user allows it, or with FORCE_COLOR."""
    if options.no_color or os.environ.get("NO_COLOR") or options.output:
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if os.environ.get("TERM") == "dumb":
        return False
    stream = stream or sys.stdout
    return stream is not None and stream.isatty()
