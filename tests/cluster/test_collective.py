"""Runs of nccl-tests in a bounded time: what had no time is no failure, and is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.apps.cluster.collective import Able, collectives
from ncdiag.apps.cluster.model import Wish

MPIRUN = """#!/bin/sh
# A stand-in for mpirun: runs over as many hosts as are named take longer than any test.
case " $* " in *" --version "*) echo "mpirun (Open MPI) 4.1.6"; exit;; *" -n {slow} "*) sleep 60;; esac
cat <<END
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  1073741824     268435456     float     sum      -1    31011   34.62   46.20      0    31008   34.63   46.20      0
END
"""
HOSTS = ("n1", "n2", "n3")


@pytest.fixture(params=[0, 2, 3])
def slow(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of hosts of which a run does not end."""
    number: int = request.param
    tool = tmp_path / "mpirun"
    tool.write_text(MPIRUN.format(slow=number))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return number


def test_a_run_that_had_no_time_has_not_failed(slow: int) -> None:
    able = dict.fromkeys(HOSTS, Able("/opt/all_reduce_perf", 8))
    found = list(collectives(able, "ssh", Wish(), 8.0 if slow else 60.0))
    rates = [line for line in found if line.endswith("with all_reduce_perf: 46.20 GB/s")]
    assert not [line for line in found if "failed" in line]
    assert len(rates) == (2 if slow == 0 else 0)
    untried = [line for line in found if "nccl-tests not tried: there was no time for" in line]
    whole = [f"probe {host}: nccl-tests not tried: there was no time for the run over all hosts" for host in HOSTS]
    pairs = [f"probe {host}: nccl-tests not tried: there was no time for a pair with it" for host in HOSTS]
    assert untried == {0: [], 2: pairs, 3: whole}[slow]
    assert [line for line in found if line.startswith("$ mpirun -H n1:1,n2:1,n3:1 -n 3 /opt/all_reduce_perf ")]
