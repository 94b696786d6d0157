"""Traces of PyTorch's profiler: summed up while they are read, in any piece size, plain and compressed."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from ncdiag.diagnose import diagnose
from ncdiag.report.model import Report
from ncdiag.text.sources import archives, traces
from ncdiag.text.sources.files import open_sources
from ncdiag.text.sources.model import Text

HEAD = '\n {\n    "schemaVersion": 1,\n    "deviceProperties": [],\n'
EVENT = """ {{
    "ph": "X", "cat": "{cat}", "name": "{name}", "pid": 0, "tid": {tid},
    "ts": 5079741332.608, "dur": {dur}
  }},
"""
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"


def trace(rank: int | None = 0, *, data: int = 20_000, nccl: int = 500_000, steps: int = 3) -> bytes:
    """A trace with steps of 800 ms, of which kernels that compute take 250."""
    events = [
        ("user_annotation", "ProfilerStep#{step}", 800_000), ("gpu_user_annotation", "ProfilerStep#{step}", 800_000),
        ("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", data),
        ("cpu_op", "aten::mm", 12), ("kernel", "ampere_bf16_s16816gemm", 250_000), ("kernel", NCCL, nccl),
    ]  # fmt: skip
    info = f'"distributedInfo": {{"backend": "nccl", "rank": {rank}, "world_size": 4}},\n' if rank is not None else ""
    body = "".join(
        EVENT.format(cat=cat, name=name.format(step=step), tid=step, dur=f"{dur}.000")
        for step in range(steps)
        for cat, name, dur in events
    )
    return f'{HEAD}{info}"traceEvents": [\n{body}\n], "traceName": "x" }}\n'.encode()


def judged(*paths: Path) -> Report:
    return diagnose([source for source in open_sources(list(map(str, paths))) if isinstance(source, Text)])


@pytest.mark.parametrize("size", [64, 1000, 1 << 20])
def test_the_sums_do_not_depend_on_the_pieces(size: int) -> None:
    read = json.loads(traces.summary(trace(3)[at : at + size] for at in range(0, len(trace(3)), size)))["torch_trace"]
    assert read == {
        "rank": 3, "steps": 3, "step": 2400.0, "data": 60.0, "communication": 1500.0, "kernels": 2250.0,
    }  # fmt: skip


@pytest.mark.parametrize("head", [b"", b"{", b'{"traceEvents": [', b'{\n "schemaVersion": 1}', b"schemaVersion"])
def test_other_files_are_no_traces(head: bytes) -> None:
    assert not traces.is_trace(head)
    assert archives.decompressed("gz", io.BytesIO(gzip.compress(head))).read(100) == head


@pytest.mark.parametrize("compressed", [False, True])
def test_the_late_rank_of_several_traces_is_named(tmp_path: Path, compressed: bool) -> None:
    paths = []
    for rank in range(4):
        data = trace(rank, data=420_000, nccl=60_000) if rank == 2 else trace(rank)
        path = tmp_path / (f"rank{rank}.pt.trace.json" + ".gz" * compressed)
        path.write_bytes(gzip.compress(data) if compressed else data)
        paths.append(path)
    late = next(found for found in judged(*paths).findings if found.name == "perf-rank-late")
    assert "rank 2 needs 420 ms for the data, where the others need 20 ms" in late.title


def test_one_trace_says_where_the_time_of_a_step_goes(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(trace(None))
    (found,) = judged(path).findings
    assert found.title == (
        "In the profile the kernels of NCCL take 67% of the GPU's time (500 of 750 ms, a trace of PyTorch's profiler);"
        " a step takes 800 ms, of which the data take 20 ms"
    )


def test_what_was_read_of_a_trace_that_breaks_off_counts(tmp_path: Path) -> None:
    path = tmp_path / "t.pt.trace.json.gz"
    path.write_bytes(gzip.compress(trace(0, steps=500), 0)[:60_000])
    report = judged(path)
    assert [found.name for found in report.findings] == ["perf-communication-share"]
    assert any("not read to the end" in note for item in report.inputs for note in item.notes)
