"""The answer of ``ncdiag diff --jobs``, as text and as JSON."""

from __future__ import annotations

import json as to_json

import msgspec

from ncdiag.base.errors import UsageError
from ncdiag.language import counted, say
from ncdiag.report.differences import Jobs, Shared
from ncdiag.report.page import Page
from ncdiag.report.sanitize import json_escapes

_SHOWN = 12
"""Maximum number of values on one screen."""


def written(found: Jobs, form: str, *, width: int = 80, whole: bool = False) -> str:
    """The answer in a format. Raises UsageError for another than text and json."""
    if form == "json":
        return json_escapes(to_json.dumps(msgspec.to_builtins(found), ensure_ascii=False, indent=1)) + "\n"
    if form != "text":
        msg = f"with --jobs there is no format {form!r}; the formats are text and json"
        raise UsageError(msg)
    page = Page(width)
    failed, good = counted(len(found.failed), "failed job"), counted(len(found.good), "good job")
    page.put(say("{failed} and {good} compared", failed=failed, good=good), "bold")
    if not found.shared:
        page.put(say("Nothing that was seen is in the failed jobs and not in the good ones."), first="  ")
    shown = found.shared if whole else found.shared[:_SHOWN]
    for one in shown:
        page.put(_line(one), first="  ", rest="      ")
    if len(found.shared) > len(shown):
        page.put(say("and {n} more (add -v)", n=len(found.shared) - len(shown)), first="  ")
    return page.plain()


def _line(one: Shared) -> str:
    """``host n17: in 4 of 4 failed jobs, in 0 of 6 good ones``."""
    return say(
        "{kind} {value}: in {failed} of {of_failed} failed jobs, in {good} of {of_good} good ones",
        kind=say(one.kind), value=one.value, failed=one.failed, of_failed=one.of_failed, good=one.good,
        of_good=one.of_good,
    )  # fmt: skip
