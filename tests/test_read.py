# ruff: noqa: E501, ANN401, ARG001  (log lines are as long as they are; stand-ins; fixtures that only act)
"""Reading in parts, by several processes and of many files: the same facts as in one pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from generate import healthy

from ncdiag.machine.inputs import inputs
from ncdiag.text.reading import workers
from ncdiag.text.reading.many import read_all
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.reading.parts import Parts, read_part
from ncdiag.text.reading.stop import Stop
from ncdiag.text.sources.files import TextSource
from ncdiag.text.sources.text import Cleaner, clean_part

MIXED = """\
$ ibstat
CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 3
\t\tSM lid: 1
\t\tLink layer: InfiniBand
node1:100:100 [0] NCCL INFO Bootstrap : Using eth0:10.7.0.1<0>
node1:100:100 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0
Traceback (most recent call last):
node1:100:140 [0] NCCL INFO Using network IB
  File "train.py", line 7, in <module>
    main()
RuntimeError: NCCL error in: ../torch/csrc/x.cpp:7, unhandled system error
node1:100:140 [0] NCCL INFO ncclCommInitRank comm 0x5d0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c3 - Init START
=== node2 ===
$ ulimit -l
64
$ cat /etc/nccl.conf
NCCL_DEBUG=WARN
node1:100:150 [0] proxy.cc:1 NCCL WARN Something that no release ever printed
an epoch is over

another one begins
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of 2 MB with other text in it."""
    path = tmp_path / "job.log"
    healthy.write_info_log(path, 2, 0.5, call_share=0.2)
    data = path.read_bytes()
    third = data.find(b"\n", len(data) // 3) + 1
    path.write_bytes(data[:third] + MIXED.encode() + data[third:] + b"the end, without a line end")
    return path


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PART_SIZES", (100_000, 100_000))
    monkeypatch.setattr(workers, "BATCH_FILES", 7)


def read_in_parts(data: bytes, *borders: int) -> Reading:
    parts = Parts("x")
    for index, (start, end) in enumerate(zip([0, *borders], [*borders, len(data)], strict=True)):
        cleaner = Cleaner()
        parts.add(read_part("x", index, clean_part([data[start:end]], cleaner, first=index == 0), cleaner))
    return parts.reading()


def read_whole(data: bytes) -> Reading:
    """A paste; its lines are kept for the signs, which those of a long source are not."""
    return msgspec.structs.replace(read_source(TextSource.of_bytes("x", data)), written=(), announcing=())


def line_ends(data: bytes) -> Iterator[int]:
    place = data.find(b"\n") + 1
    while 0 < place < len(data):
        yield place
        place = data.find(b"\n", place) + 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_cut_at_every_line(end: str) -> None:
    data = MIXED.replace("\n", end).encode()
    whole = read_whole(data)
    assert {piece.kind for piece in whole.pieces} >= {"nccl_log", "ibstat", "traceback", "ulimit"}
    for border in line_ends(data):
        assert read_in_parts(data, border) == whole
    assert read_in_parts(data, *line_ends(data)) == whole


def test_what_was_changed_is_told_once_for_all_parts() -> None:
    data = "gr\u00fcn\n".encode("latin-1") + b"\1\2\3\n" * 2 + b"a\rb\n" + b"x" * 70_000 + b"\n"
    whole = read_whole(data)
    assert len(whole.notes) == 4
    assert read_in_parts(data, *line_ends(data)) == whole


def test_several_processes_read_like_one(log: Path, small_parts: None) -> None:
    (whole,) = read_all(inputs([str(log)]), processes=1).readings
    told: list[tuple[int, int]] = []
    (parted,) = read_all(inputs([str(log)]), processes=2, worthwhile=0, progress=lambda *now: told.append(now)).readings
    assert parted == whole
    assert told[-1] == (log.stat().st_size, log.stat().st_size)
    assert len(told) > 5


def test_a_file_that_cannot_be_parted_is_read_whole(log: Path, small_parts: None) -> None:
    log.write_bytes(log.read_text().encode("utf-16"))
    (whole,) = read_all(inputs([str(log)]), processes=1).readings
    (parted,) = read_all(inputs([str(log)]), processes=2, worthwhile=0).readings
    assert parted == whole
    assert "read as UTF-16-LE" in parted.notes


def test_a_mixture_keeps_its_order(tmp_path: Path, log: Path, small_parts: None) -> None:
    paths = [tmp_path / f"{number:02d}.txt" for number in range(20)]
    for number, path in enumerate(paths):
        path.write_text(f"host{number}:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.{number}<0>\n")
    names = [str(path) for path in [*paths[:9], tmp_path / "none", log, *paths[9:]]]
    one, several = (read_all(inputs(names), processes=count, worthwhile=0) for count in (1, 2))
    assert [text.source if isinstance(text, Reading) else text.name for text in several.texts] == names
    assert several == one


def test_thousands_of_files_need_few_descriptors(tmp_path: Path) -> None:
    for rank in range(1500):
        (tmp_path / f"rank{rank}.log").write_text(
            f"host{rank // 8}:{1000 + rank}:9 [{rank % 8}] NCCL INFO comm 0x5d0 rank {rank} nranks 1500 cudaDev {rank % 8} busId 1b000 - Init COMPLETE\n"
        )
    code = (
        "import resource, sys; from ncdiag.text.reading.many import read_all; from ncdiag.machine.inputs import inputs;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
        "job = read_all(inputs([sys.argv[1]]), processes=2, worthwhile=0).job();"
        "print([rank.rank for rank in job.ranks] == list(range(1500)))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, check=False)
    assert done.stdout == b"True\n", done.stderr.decode()


def test_an_interruption_leaves_what_was_read(log: Path, small_parts: None) -> None:
    stop = Stop()
    case = read_all(inputs([str(log)]), processes=2, worthwhile=0, progress=lambda *_: stop.ask(), stop=stop)
    (reading,) = case.readings
    assert 0 < reading.lines < log.read_bytes().count(b"\n")
    assert reading.notes == ("interrupted: the rest was not read",)
    whole = read_source(
        TextSource.of_bytes(str(log), b"".join(log.read_bytes().splitlines(keepends=True)[: reading.lines]))
    )
    assert reading.observations == whole.observations


def test_what_a_dead_worker_left_is_read_here(log: Path, small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if threading.active_count() > 1:
        pytest.skip("workers are not forked beside other threads, so that they do not know the function of the test")
    (whole,) = read_all(inputs([str(log)]), processes=1).readings
    monkeypatch.setattr(workers, "read_part", lambda *_: os._exit(1))
    assert read_all(inputs([str(log)]), processes=2, worthwhile=0).readings == [whole]


def test_without_processes_everything_is_read_here(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        reason = "no shared memory"
        raise OSError(reason)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", refuse)
    (whole,) = read_all(inputs([str(log)]), processes=1).readings
    assert read_all(inputs([str(log)]), processes=2, worthwhile=0).readings == [whole]


def test_memory_is_the_same_for_a_log_forty_times_as_long(tmp_path: Path) -> None:
    peaks = []
    for megabytes in (0.5, 20):
        path = tmp_path / f"{megabytes}.log"
        healthy.write_info_log(path, megabytes, 0.5, call_share=0.2)
        code = "import sys; from ncdiag.text.reading.one import read_source; from ncdiag.text.sources.files import open_sources; [read_source(s) for s in open_sources(sys.argv[1:])]"
        child = subprocess.Popen([sys.executable, "-c", code, str(path)])
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        peaks.append(usage.ru_maxrss)
    assert peaks[1] < 1.5 * peaks[0]


def test_parts_of_ranks_are_one_job(log: Path, small_parts: None) -> None:
    job = read_all(inputs([str(log)]), processes=2, worthwhile=0).job()
    assert job.nranks == 128
    assert len(job.ranks) == 128 + 1
    assert {rank.last_ops[0].communicator for rank in job.ranks if rank.last_ops} == {
        max(job.communicators, key=lambda c: c.nranks or 0).id
    }
    assert sum(one.calls or 0 for one in job.collectives) == log.read_bytes().count(b": opCount ")


ROWS = """\
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    39.46    0.00    0.00      0    36.10    0.00    0.00      0
    67108864      16777216     float     sum      -1    712.1   94.24   94.24      0    710.1   94.51   94.51      0
   134217728      33554432     float     sum      -1   1412.1   95.05   95.05      0   1410.1   95.18   95.18      0
"""


@pytest.mark.parametrize("columns", [5, 9])
@pytest.mark.parametrize("host", ["node1", "mew"])
def test_rows_that_nccl_prints_into_are_read_whole(tmp_path: Path, host: str, columns: int) -> None:
    """nccl-tests prints a row in three pieces; NCCL's lines come between them."""
    line = f"{host}:4400:4412 [1] NCCL INFO Connected all rings"
    lines = ROWS.splitlines()
    for index in range(2, len(lines)):
        words = list(re.finditer(r"\S+", lines[index]))
        end = words[columns - 1].end()
        lines[index] = f"{lines[index][:end]}{line}\n{line}\n{lines[index][end:]}"
    whole, broken = tmp_path / "whole.log", tmp_path / "broken.log"
    whole.write_text(ROWS)
    broken.write_text("\n".join(lines) + "\n")
    [run] = read_all(inputs([str(whole)])).job().benchmarks
    job = read_all(inputs([str(broken)])).job()
    assert [found.rows for found in job.benchmarks] == [run.rows]
    assert len(run.rows) == 3
    assert [found.name for found in job.hosts] == [host]
