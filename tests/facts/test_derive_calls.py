"""The last collective of a rank."""

from __future__ import annotations

from ncdiag.facts.model import Job, LastOp, Rank
from ncdiag.facts.view import View


def test_the_last_op_is_that_of_the_widest_communicator() -> None:
    wide, narrow = LastOp(function="AllReduce", op_count=7, nranks=8), LastOp(function="Send", op_count=90, nranks=2)
    called, silent = Rank(host="a", last_ops=(wide, narrow)), Rank(host="b")
    view = View(Job(ranks=(called, silent)))
    assert view.get(called, "last_op") == wide
    assert view.get(silent, "last_op") is None
