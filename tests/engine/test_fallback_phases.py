"""What carries data between GPUs explains no failure of ranks that have not met yet."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource

PORTS = "n1:40:51 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n"
MEETING = "".join(
    f"n1:40:51 [0] NCCL INFO {step} -> 2\n" for step in ("misc/socket.cc:567", "bootstrap.cc:270", "init.cc:1350")
)
CONNECTING = MEETING.replace("bootstrap.cc:270", "transport.cc:170")


@pytest.mark.parametrize(("trace", "role"), [(MEETING, "risk"), (CONNECTING, "cause")])
def test_ports_of_two_kinds_are_to_blame_once_ports_are_joined(trace: str, role: str) -> None:
    report = diagnose([TextSource.of_bytes("log", (PORTS + trace).encode())])
    assert [found.role for found in report.findings if found.name == "ib-mixed-link-layer"] == [role]
