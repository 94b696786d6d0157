"""One identity of a host: containers named by their id, and labels that are names."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look

LOG = """{0}:100:110 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.5<0>
{0}:100:110 [0] NCCL INFO NCCL version 2.18.5+cuda12.2
"""
ID = "ad5b8ae33076"
SHELL = "root@{0}:~# ulimit -l\nunlimited\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (SHELL.format("gpu3") + LOG.format(ID), ["gpu3"]),
        (SHELL.format("gpu3") + LOG.format(ID) + LOG.format("gpu4"), [ID, "gpu4", "gpu3"]),
        (SHELL.format("gpu3") + SHELL.format("gpu4") + LOG.format(ID), [ID, "gpu3", "gpu4"]),
        (LOG.format(ID) + LOG.format("gpu4"), [ID, "gpu4"]),
        (SHELL.format("gpu3") + LOG.format("decade12fade"), ["gpu3"]),
        ("on node-a:\n$ ulimit -l\n64\n\non node-b:\n$ ulimit -l\nunlimited\n", ["node-a", "node-b"]),
        ("server A: ulimit -l\n64\n\nserver B: ulimit -l\nunlimited\n", ["serverA", "serverB"]),
        ("Node 1:\n$ ulimit -l\n64\n\nNode 2:\n$ ulimit -l\nunlimited\n", ["node1", "node2"]),
    ],
)
def test_the_hosts_of_a_paste(text: str, names: list[str]) -> None:
    view, _ = look(text)
    assert sorted(host.name for host in view.job.hosts) == sorted(names)
