"""Two runs in one paste that differ in one thing."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look
from ncdiag.facts.vocabulary.runs import seen_trials

HEAD = """#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
ROW = (
    "     1048576        262144     float     sum      -1    11.42   10.10   {0}      0    11.31   10.20   {0}      0\n"
)
END = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {0}\n#\n"
WELL = HEAD + ROW.format("17.10") + END.format("17.10")
SLOW = HEAD + ROW.format("2.10") + END.format("2.10")
STUCK = HEAD
TEST = "./build/all_reduce_perf -b 1M -e 1M -g 2\n"


def trials(text: str) -> list[tuple[str, str]]:
    view, _ = look(text)
    return [(trial.change, trial.outcome) for trial in seen_trials(view.job, view)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"$ {TEST}{STUCK}^C\n$ NCCL_P2P_DISABLE=1 {TEST}{WELL}", [("NCCL_P2P_DISABLE=1", "works")]),
        (f"$ NCCL_P2P_DISABLE=1 {TEST}{WELL}$ {TEST}{STUCK}", [("NCCL_P2P_DISABLE=1", "works")]),
        (f"$ {TEST}{SLOW}$ NCCL_ALGO=Ring {TEST}{WELL}", [("NCCL_ALGO=Ring", "faster")]),
        (f"$ NCCL_ALGO=Tree {TEST}{SLOW}$ {TEST}{WELL}", [("unset NCCL_ALGO", "faster")]),
        (f"$ {TEST}{WELL}$ NCCL_ALGO=Ring {TEST}{WELL}", []),
        (f"$ {TEST}{STUCK}$ NCCL_ALGO=Ring {TEST}{STUCK}", []),
        (f"$ NCCL_IB_DISABLE=1 {TEST}{STUCK}$ NCCL_ALGO=Ring {TEST}{WELL}", []),
        (f"$ {TEST}{WELL}", []),
    ],
)
def test_what_differs(text: str, wanted: list[tuple[str, str]]) -> None:
    assert trials(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"With NCCL 2.18.5:\n{WELL}\nWith NCCL 2.21.5:\n{SLOW}", [("older-nccl", "faster")]),
        (f"With driver 535:\n\n$ {TEST}{STUCK}\nWith driver 550:\n\n$ {TEST}{WELL}", [("newer-driver", "works")]),
        (f"NCCL_ALGO=Ring:\n{WELL}\nNCCL_ALGO=Tree:\n{SLOW}", [("NCCL_ALGO=Ring", "faster")]),
        (f"Good node:\n$ {TEST}{WELL}\nBad node:\n$ {TEST}{SLOW}", [('"Good node"', "faster")]),
        (f'output on commit f9c3dc2 ("2.19.1-1"):\n{WELL}\noutput before it:\n{SLOW}', [("other-nccl", "faster")]),
        (f"With NCCL 2.18.5:\n{WELL}\nWith NCCL 2.21.5:\n{WELL}", []),
        (f"Steps to reproduce:\n$ {TEST}{WELL}\nExpected:\n{WELL}", []),
        (f"With NCCL 2.18.5:\n$ NCCL_ALGO=Ring {TEST}{WELL}\nWith NCCL 2.21.5:\n$ {TEST}{SLOW}", []),
    ],
)
def test_what_differs_between_runs_that_a_person_names(text: str, wanted: list[tuple[str, str]]) -> None:
    assert trials(text) == wanted
