"""Traces of PyTorch's profiler within a paste: their sums are facts as those of a file are."""

from __future__ import annotations

import pytest

from ncdiag.diagnose import look

HEAD = (
    '{{"schemaVersion": 1, "distributedInfo": {{"backend": "nccl", "rank": {0}, "world_size": 2}},\n "traceEvents": [\n'
)
STEP = '{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, "tid": 1, "ts": 10, "dur": 1000000}'
KERNEL = '{{"ph": "X", "cat": "kernel", "name": "{0}", "pid": 0, "tid": 7, "ts": 20, "dur": {1}}}'
NCCL = KERNEL.format("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 800000)
GEMM = KERNEL.format("ampere_sgemm_128x64_tn", 90000)
EVENTS = f"{STEP},\n{NCCL},\n{GEMM}"
LONG = EVENTS.replace(', "dur": 800000}', ',\n "dur": 800000,\n "args": {"stream": 7}\n}')
SAID = "Training is slow on two nodes. This is from the trace:\n\n"


def shares(text: str) -> list[tuple[int | None, float, float | None]]:
    """(rank, milliseconds of NCCL, of all kernels) of each trace."""
    view, _ = look(text)
    parts = [part for part in view.job.step_parts if part.sort == "communication"]
    return [(part.rank, part.value, part.whole) for part in parts]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{SAID}{HEAD.format(1)}{EVENTS}\n]}}\n", [(1, 800.0, 890.0)]),
        (f"{SAID}```json\n{HEAD.format(0)}{LONG}\n]}}\n```\n", [(0, 800.0, 890.0)]),
        (f"{SAID}{EVENTS}\n", [(None, 800.0, 890.0)]),
        (
            f"{SAID}{HEAD.format(0)}{EVENTS}\n]}}\n\nAnd of the other rank:\n\n{HEAD.format(1)}{EVENTS}\n]}}\n",
            [(0, 800.0, 890.0), (1, 800.0, 890.0)],
        ),
    ],
)
def test_a_pasted_trace_is_summed_up(text: str, found: list[tuple[int | None, float, float | None]]) -> None:
    assert shares(text) == found


@pytest.mark.parametrize(
    "text",
    [
        f"{SAID}{NCCL},\n{GEMM},\n{GEMM}\n",
        f"{SAID}{STEP}\n",
        f'{SAID}The trace has fields such as "ph", "dur" and "schemaVersion".\n',
    ],
)
def test_single_events_without_a_step_say_nothing(text: str) -> None:
    assert shares(text) == []


def test_what_surrounds_a_trace_is_read_with_its_line_numbers() -> None:
    view, _ = look(f"{SAID}{HEAD.format(1)}{EVENTS}\n]}}\n\nNCCL WARN Cuda failure 'out of memory'\n")
    assert [found.provenance[""].line for found in view.job.complaints] == [1]
    assert [found.provenance[""].line for found in view.job.events] == [10]
