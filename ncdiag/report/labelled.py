"""Labelled lines of a report: the window of time, what changed in it, incomplete communicators, published counts."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.language import phrase, say
from ncdiag.report import accounts, digest, priors
from ncdiag.report.model import Evidence, Report
from ncdiag.report.period import Changed
from ncdiag.report.sanitize import one_line

NONE = "no difference from the time before was found"
OTHER_WINDOW = "Give --since and --until times that the input has; they are under Read."


def help_when_nothing(report: Report) -> str:
    """What to do where nothing was recognised: where a window of time was read, it may be the wrong one."""
    return say(OTHER_WINDOW) if report.window is not None and report.window.text else say(digest.HELP_WHEN_NOTHING)


def lines(report: Report, most: int = 3, *, short: bool = False) -> Iterator[tuple[str, str]]:
    """(label, text) of each line, the most important first.

    ``most``: number of communicators that are named; ``short``: one line on published counts.
    """
    window = report.window
    if window is not None and window.changes is not None:
        yield from changes(window.changes)
    yield from accounts.lines(report.communicators, most)
    if window is not None:
        if window.text:
            yield say("Only lines"), phrase(window.text)
        for note in window.notes:
            yield say("Clock"), phrase(note)
    for number, text in enumerate(priors.lines(report.counted, short=short)):
        yield say("Source") if number else say("If nothing else decides"), text


def changes(found: tuple[Changed, ...], none: str = NONE) -> Iterator[tuple[str, str]]:
    """(label, text) of each change, in their order; ``none`` is the sentence if there are none."""
    if not found:
        yield say("First change"), say(none)
    for number, change in enumerate(found):
        yield say("First change") if not number else say("Then"), _change(change)


def _change(change: Changed) -> str:
    """``2026-05-03 03:11:40, new: <line> (train.log:702)``."""
    text, place = one_line(change.text), digest.place(Evidence(change.source, change.line, change.text))
    if change.what == "new":
        return say("{time}, new: {text} ({place})", time=change.time, text=text, place=place)
    if change.what == "slower":
        return say(
            "{time}, slower, every {seconds} s and before at most {most} s apart: {text} ({place})",
            time=change.time, seconds=f"{change.now or 0:.3g}", most=f"{change.every or 0:.3g}", text=text, place=place,
        )  # fmt: skip
    return say(
        "{time}, missing, came every {seconds} s before: {text} ({place})",
        time=change.time, seconds=f"{change.every or 0:.3g}", text=text, place=place,
    )  # fmt: skip
