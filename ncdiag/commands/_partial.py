"""``--partial``: write the readings, for another ncdiag to judge (`ncdiag.text.reading.partial`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ncdiag.agent.wrap import own_name
from ncdiag.agent.wrap import wrapped as lines
from ncdiag.base.errors import INTERRUPTED, NOTHING_UNDERSTOOD, UsageError
from ncdiag.commands._interrupt import interruptible
from ncdiag.commands._judge import told
from ncdiag.commands._options import Options
from ncdiag.commands._output import pour, write
from ncdiag.commands._progress import showing
from ncdiag.text import Item, Window, partial, read_all


def write_partial(
    items: Callable[[], Iterable[Item]], options: Options, *, wrapped: bool = False, window: Window | None = None
) -> int:
    """Read the items and write them; the exit code is 0, or 3 if nothing was understood.

    ``window``: of logs, read only the lines in this window of time.

    ``wrapped``: as lines that a sweep recognises among others (`ncdiag.agent.wrap`).
    """
    if options.redact:
        msg = "--partial writes input lines unchanged, so --redact has no effect on them; redact the report instead"
        raise UsageError(msg)
    with interruptible(quiet=options.quiet) as stop, showing(quiet=options.quiet) as progress:
        case = read_all(told(items(), quiet=options.quiet), progress=progress, stop=stop, window=window)
    if wrapped:
        write("".join(lines(b"".join(partial.written(case, own_name())), own_name())), options.output)
    else:
        pour(partial.written(case, own_name()), options.output)
    if stop.happened:
        return INTERRUPTED
    return 0 if case.looks or any(reading.observations for reading in case.readings) else NOTHING_UNDERSTOOD
