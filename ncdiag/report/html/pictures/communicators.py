"""The communicators of a job, in the order in which they were begun: parents, sizes, and the ranks that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.accounts import communicator_account
from ncdiag.language import say
from ncdiag.report import accounts
from ncdiag.report.accounts import Communicator, account
from ncdiag.report.digest import counted
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import picture, scrolled
from ncdiag.report.html.element import Element, element

ROWS = 40
"""Maximum number of communicators that are listed: those that are not complete, then the first ones."""


def draw(view: View, context: Context) -> Element | None:
    """The table; None unless there are two communicators, or one is not complete."""
    found = account(communicator_account(view.job, view), "", view.job.communicators_unlisted or 0)
    if found is None or found.begun == found.complete == 1:
        return None
    shown = sorted(found.listed[:ROWS], key=lambda one: one.number)
    counts = say("{n} of {total} communicators are complete", n=found.complete, total=found.begun)
    told = [say("{sentence}.", sentence=counts)]
    if found.begun > len(shown):
        told.append(say("{things} not listed.", things=counted(found.begun - len(shown), "more communicator")))
    title = say("Communicators in the order of their setup")
    head = [say(word) for word in ("Number", "Communicator", "Split from", "Ranks", "Completed setup", "Missing")]
    table = element(
        "table", element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
        element("tbody", *(element("tr", *cells) for cells in map(_cells, shown))), class_="matrix",
    )  # fmt: skip
    return picture(context, title, say(" ").join(told), scrolled(title, table))


def _cells(one: Communicator) -> Iterator[Element]:
    yield element("th", str(one.number), scope="row")
    ranks = str(one.nranks) if one.nranks is not None else ""
    for text in (one.id, one.parent or "", ranks, one.complete, accounts.missing(one)):
        yield element("td", text)
