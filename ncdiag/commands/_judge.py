"""What every judging command does: diagnose, print, and say with its exit code how it went."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ncdiag.commands._interrupt import Interruption
from ncdiag.commands._options import FailOn, Options
from ncdiag.commands._output import say, write
from ncdiag.commands._progress import showing
from ncdiag.errors import INTERNAL
from ncdiag.report.model import SEVERITIES, Report, Severity

FOUND, NOTHING_UNDERSTOOD, INTERRUPTED = 1, 3, 130


def judge(paths: Sequence[str], options: Options) -> int:
    """Diagnose what the paths hold, print the report and return the exit code. Bundles may be among them."""
    from ncdiag.diagnose import diagnose
    from ncdiag.machine.inputs import Inputs

    asked, inputs = options.judging(), Inputs(paths)

    def find(interruption: Interruption) -> Report:
        texts = interruption.watch(told(inputs, quiet=options.quiet))
        with showing(quiet=options.quiet) as progress:
            return diagnose(inputs.followed(texts), asked, inputs.looks(), progress)

    return answer(find, options)


def answer(find: Callable[[Interruption], Report], options: Options) -> int:
    """Print the report that ``find`` makes; a format that does not exist is refused before that."""
    from ncdiag.report import renderer

    render = renderer(options.format)
    with Interruption(quiet=options.quiet) as interruption:
        report = find(interruption)
    if options.redact:
        from ncdiag.redact import report_cleaned

        report = report_cleaned(report)
    shown = at_least(report, options.min_severity.value)
    text = render(shown, width=shutil.get_terminal_size().columns, colour=wants_colour(options))
    write(text, options.output, encoding="utf-8" if options.format == "json" else None)
    return INTERRUPTED if interruption.happened else exit_code(report, options.fail_on)


def told(sources: Iterable[Any], *, quiet: bool) -> Iterable[Any]:
    """The same sources; what cannot be read is told on stderr as well."""
    for source in sources:
        if not quiet and hasattr(source, "reason"):
            say(f"{source.name}: {source.reason}")
        yield source


def at_least(report: Report, severity: Severity) -> Report:
    """The report without the findings below a severity; its counts stay those of all findings."""
    allowed = SEVERITIES[: SEVERITIES.index(severity) + 1]
    kept = tuple(finding for finding in report.findings if finding.severity in allowed)
    return msgspec.structs.replace(report, findings=kept)


def exit_code(report: Report, fail_on: FailOn) -> int:
    """0, 1 when something at or above ``fail_on`` was found, 3 when nothing was understood, 5 for a fault of ncdiag."""
    failing = SEVERITIES[: SEVERITIES.index(fail_on.value) + 1] if fail_on is not FailOn.never else ()
    if any(finding.severity in failing for finding in report.findings):
        return FOUND
    if report.faults:
        return INTERNAL
    return NOTHING_UNDERSTOOD if report.summary.verdict == "nothing-understood" else 0


def wants_colour(options: Options) -> bool:
    """Colour only on a terminal that has it, and never against the user's wish."""
    if options.no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or options.output:
        return False
    return sys.stdout is not None and sys.stdout.isatty()
