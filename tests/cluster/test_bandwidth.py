"""`ncdiag probe --bandwidth` over real ssh between real network stacks, and no RDMA hardware.

The ports are files in a copy of /sys/class that each host sees in its place. ``ib_write_bw`` is a stand-in that prints
what it is told to (`stand_in_perftest`): these tests show who is asked, when, and what becomes of the numbers, not that
RDMA is measured. One test runs the real perftest, which finds no device.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hosts import Hosts, hosts, missing
from processes import until

pytestmark = [pytest.mark.root, pytest.mark.xdist_group("bandwidth")]
TOOL = "ib_write_bw"
REAL = shutil.which(TOOL)
RAILS = ("mlx5_0", "mlx5_1")
THREE = "n[1-3]"


@pytest.fixture(scope="module")
def rdma(need: Callable[[str, object, str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """Three hosts with two ports each, and a fourth without perftest."""
    why = missing()
    need("sshd", not why, why)
    folder = tmp_path_factory.mktemp("rdma")
    for rail in RAILS:
        port = folder / "class" / "infiniband" / rail / "ports" / "1"
        port.mkdir(parents=True)
        for name, text in (("state", "4: ACTIVE"), ("rate", "400 Gb/sec (4X NDR)"), ("link_layer", "InfiniBand")):
            (port / name).write_text(f"{text}\n")

    gpu = folder / "class" / "kfd" / "kfd" / "topology" / "nodes" / "1"
    gpu.mkdir(parents=True)
    (gpu / "gpu_id").write_text("41382\n")

    def before(host: str) -> str:
        lines = f"mount --bind {folder}/class /sys/class && "
        if host == "n4":
            lines += f"mount -t tmpfs none {folder}/bin && "
            lines += f"mount --bind /dev/null {REAL} && " if REAL else ""
        return lines if host.startswith("n") else ""

    with hosts(folder, 4, before) as made:
        tool = folder / "bin" / TOOL
        source = Path(__file__).parents[1] / "stand_in_perftest.py"
        tool.write_text(f"#!{sys.executable} -IS\n{source.read_text()}")
        tool.chmod(0o755)
        yield made


Measure = Callable[..., subprocess.CompletedProcess[bytes]]


def line(fleet: Hosts, program: list[str], *words: str) -> list[str]:
    known = ["probe", "--via", "ssh", "--ssh-options", fleet.ssh, "--bandwidth", "--bandwidth-seconds", "45"]
    return [*fleet.head, *program, *known, *words]


@pytest.fixture
def measure(rdma: Hosts, program: list[str], tmp_path: Path) -> Measure:
    def run(*words: str, rates: dict[str, object] | None = None) -> subprocess.CompletedProcess[bytes]:
        (rdma.folder / "bin" / "rates.json").write_text(json.dumps(rates or {}))
        return subprocess.run(
            line(rdma, program, *words), capture_output=True, check=False, stdin=subprocess.DEVNULL, cwd=tmp_path
        )

    return run


def findings(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    assert done.stdout, done.stderr
    return {finding["name"]: finding for finding in json.loads(done.stdout)["findings"]}


def test_a_slow_host_is_named_and_all_are_drawn(measure: Measure, tmp_path: Path) -> None:
    done = measure("--nodes", THREE, "--svg", "x.svg", "--save", "x.txt", "--format", "json", rates={"n3": 88.1})
    found = findings(done)["probe-rail-slow"]
    assert found["title"] == (
        "RDMA is slow to and from n3 over mlx5_0:1, mlx5_1:1: 88.1 Gbit/s where others reach 391"
    )  # fmt: skip
    assert "ib-link-below-rate" in found["consequences"]
    runs = [row for row in (tmp_path / "x.txt").read_text().splitlines() if row.endswith(f"{TOOL} ran")]
    assert len(runs) == 3 * 2 * len(RAILS)
    picture = (tmp_path / "x.svg").read_text()
    assert picture.count(">391</text>") == 2 * len(RAILS)
    assert "n3 to n1: 88.1 Gbit/s" in picture
    left_out = json.loads(done.stdout)["summary"]["not_looked_at"]
    assert "nccl-tests of n[1-3] (all_reduce_perf is not installed)" in left_out


@pytest.mark.long
def test_the_real_perftest_takes_these_options(
    rdma: Hosts, measure: Measure, need: Callable[[str, object, str], None]
) -> None:
    """It finds no device, and says so in its own words; an option that it does not know would come first."""
    need("perftest", REAL, "ib_write_bw is not installed (perftest)")
    with replaced(rdma.folder / "bin" / TOOL):
        found = findings(measure("--nodes", "n[1-2]", "--format", "json"))
    assert "Unable to find the Infiniband/RoCE device" in found["probe-rail-fails"]["title"]


NCCL_TESTS = """#!/bin/sh
# A stand-in for all_reduce_perf: the first process prints the table of nccl-tests, between two hosts a worse one.
[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || exit 0
[ "$OMPI_COMM_WORLD_SIZE" = 3 ] && rate=44.10 || rate=46.20
cat <<END
# nThread 1 nGpus 1 minBytes 67108864 maxBytes 1073741824 step: 4(factor) iters: 20 validation: 1
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  1073741824     268435456     float     sum      -1    31011   34.62   $rate      0    31008   34.63   $rate      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : $rate
END
"""


def test_a_launch_a_rail_that_fails_and_nccl_tests(
    rdma: Hosts, measure: Measure, tmp_path: Path, need: Callable[[str, object, str], None]
) -> None:
    """All that a probe can do at once. nccl-tests, a stand-in, are started by a real mpirun; n4 has no perftest."""
    need("mpirun", shutil.which("mpirun"), "Open MPI is not installed (openmpi-bin)")
    tool = rdma.folder / "reduce"
    tool.write_text(NCCL_TESTS)
    tool.chmod(0o755)
    launch = f"mpirun -H n1:1,n2:1,n4:1 --mca plm_rsh_args '{rdma.ssh}' hostname"
    words = ["--launch", launch, "--nccl-tests", str(tool), "--save", "x.txt", "--format", "json"]
    done = measure(*words, rates={"mlx5_1": "fail"})
    found = findings(done)
    assert "ib_write_bw fails between n[1-2] over mlx5_1:1" in found["probe-rail-fails"]["title"]
    assert not found.keys() & {"probe-rail-slow", "launcher-login-fails", "launcher-slots-exceed-gpus"}
    left_out = json.loads(done.stdout)["summary"]["not_looked_at"]
    assert "bandwidth of n4 (ib_write_bw is not installed)" in left_out
    assert not any("nccl-tests" in words for words in left_out)
    text = (tmp_path / "x.txt").read_text()
    assert text.count("logged in\n") == text.count("is user root uid 0, 1 GPUs\n") == 3
    pairs = [row for row in text.splitlines() if row.endswith("with all_reduce_perf: 46.20 GB/s")]
    assert len(pairs) == 2, text
    _, _, output = text.partition(f"-n 3 --mca plm_rsh_args '{rdma.ssh}' {tool} -b 64M -e 1G -f 4 -n 20 -g 1\n")
    ours = [line for line in output.splitlines() if not line.startswith("[")]  # mpirun may warn of a race of its own
    assert ours[0].startswith("# nThread"), text
    assert "# Avg bus bandwidth    : 44.10" in text


@contextlib.contextmanager
def replaced(tool: Path) -> Iterator[None]:
    """Without the stand-in."""
    tool.rename(tool.with_suffix(".away"))
    try:
        yield
    finally:
        tool.with_suffix(".away").rename(tool)


def pids(fleet: Hosts, *words: str) -> list[int]:
    """The processes on the hosts whose command line has these words."""
    found = []
    for pid in [pid for host in (*fleet.names, "head") for pid in fleet.pids(host)]:
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            found += [pid] if all(word.encode() in line for word in words) else []
    return found


@pytest.mark.parametrize("victim", ["ncdiag", pytest.param("agents", marks=pytest.mark.long)])
def test_no_run_is_left(rdma: Hosts, program: list[str], tmp_path: Path, victim: str) -> None:
    """Whoever is killed while the tool hangs: all of its processes end."""
    (rdma.folder / "bin" / "rates.json").write_text('{"n1": "hang"}')
    with subprocess.Popen(
        line(rdma, program, "--nodes", "n[1-2]", "--seconds", "1", "--quiet"),
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert until(lambda: len(pids(rdma, "-IS", TOOL)) > 1)
        victims = [running.pid] if victim == "ncdiag" else pids(rdma, "-c", "base64.b64decode")
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):  # one ends with another
                os.kill(pid, signal.SIGKILL)
        assert victims
        assert until(lambda: not pids(rdma, "-IS", TOOL))
        running.communicate()
    assert until(lambda: not pids(rdma, "base64.b64decode"))
