"""``ncdiag parse --each``: every input is a separate job, judged in parallel; one line per job, worst first."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack

import msgspec

from ncdiag import diagnose
from ncdiag.base.errors import FOUND, INTERNAL, INTERRUPTED, NOTHING_UNDERSTOOD, UsageError
from ncdiag.commands._interrupt import interruptible
from ncdiag.commands._judge import at_least, exit_code, told
from ncdiag.commands._options import Options
from ncdiag.commands._output import write
from ncdiag.commands._progress import showing
from ncdiag.language import speak
from ncdiag.machine.inputs import inputs
from ncdiag.report import overview
from ncdiag.report.model import Report
from ncdiag.text import File, Item, Reading, Stop, Window, processors_at_hand

_WAIT = 0.1
_WORST = (FOUND, INTERNAL)
"""Exit codes that a single job causes for the whole command."""


def judge_each(paths: Sequence[str], options: Options, window: Window | None = None) -> int:
    """Diagnose each input separately, print the overview and return the worst exit code."""
    if options.is_plugin:
        msg = "--each reports many jobs, but a monitoring plugin returns one state; remove --each or --exit-style"
        raise UsageError(msg)
    render = overview.renderer(options.answers_in)
    asked = msgspec.structs.replace(options.judging(), window=window)
    speak(asked.language)
    jobs: list[tuple[str, Report]] = []
    with interruptible(quiet=options.quiet) as stop, showing(quiet=options.quiet) as progress:
        items = told(inputs(paths), quiet=options.quiet)
        for name, report in _reports(stop.until(items), asked, stop, progress):
            jobs.append((name, _cleaned(report) if options.redact else report))
    text = render([(name, at_least(report, options.min_severity.value)) for name, report in jobs], _width(options))
    write(text, options.output, encoding="utf-8" if options.answers_in == "json" else None)
    codes = {exit_code(report, options.fail_on) for _, report in jobs}
    if stop.happened:
        return INTERRUPTED
    return next((code for code in _WORST if code in codes), NOTHING_UNDERSTOOD if codes == {NOTHING_UNDERSTOOD} else 0)


def _reports(
    items: Iterator[Item], asked: diagnose.Options, stop: Stop, progress: Callable[[int, int], None] | None
) -> Iterator[tuple[str, Report]]:
    """The report on each item, in any order: files by workers, streams at once in this process."""
    with ExitStack() as held:
        count = processors_at_hand()
        pool = held.enter_context(ProcessPoolExecutor(count, initializer=_begin)) if count > 1 else None
        waiting: dict[Future[Report], File] = {}
        read = total = 0
        for item in items:
            if pool is None or not isinstance(item, File):
                name = item.source if isinstance(item, Reading) else item.name
                yield name, diagnose.diagnose([item], asked, stop=stop)
            else:
                waiting[pool.submit(_report, item, asked)] = item
                total += item.size
        while waiting:
            done, _ = wait(waiting, _WAIT, FIRST_COMPLETED)
            if stop.happened and pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                return
            for future in done:
                item = waiting.pop(future)
                read += item.size
                if progress is not None:
                    progress(read, total)
                yield item.name, _result(future, item, asked)


def _result(future: Future[Report], item: File, asked: diagnose.Options) -> Report:
    try:
        return future.result()
    except (BrokenExecutor, OSError):  # a worker died, perhaps for lack of memory: repeat it here
        return diagnose.diagnose([item], asked)


def _report(item: File, asked: diagnose.Options) -> Report:
    return diagnose.diagnose([item], asked)


def _begin() -> None:
    """Set up a worker: Ctrl-C is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _cleaned(report: Report) -> Report:
    from ncdiag.apps.redact import report_cleaned

    return report_cleaned(report)


def _width(options: Options) -> int | None:
    """The columns of the terminal; None for a file or a pipe, whose lines are not cut."""
    if options.output is not None or sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns
