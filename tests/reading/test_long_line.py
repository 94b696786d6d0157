"""A line of many megabytes costs what its first 64 KiB cost, whatever is in it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from linear import calls

from ncdiag.apps.redact import cleaned
from ncdiag.diagnose import diagnose
from ncdiag.text import TextSource

STEP = "gpu-a07:812:812 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via P2P/IPC step {} loss=1.25 it/s"
SIZE, TIMES = 1 << 20, 4
SLACK = 1.2
"""A longer line may make so many more calls: it is read in more pieces."""


def repeated(join: str, size: int) -> str:
    return join.join(STEP.format(number) for number in range(size // len(STEP)))


KINDS: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "blanks": lambda size: " " * size + "x",
    "words": lambda size: repeated(" ", size),
    "ends that are written out": lambda size: repeated("\\n", size),
    "a record": lambda size: json.dumps({"log": repeated("\n", size), "stream": "stdout", "time": "2026-01-02"}),
    "records in a list": lambda size: "[" + ",".join(['{"level": "info", "step": 4}'] * (size // 28)) + "]",
    "cells of a table": lambda size: "<tr><td>a</td></tr>" * (size // 19),
    "base64": lambda size: "q83vASNFZ4kBI0Vn" * (size // 16),
}


def diagnosed(text: str) -> None:
    diagnose([TextSource.of_bytes("job.log", text.encode())])


def redacted(text: str) -> None:
    made, _ = cleaned([TextSource.of_bytes("job.log", text.encode())], b"a key of sixteen")
    b"".join(made[0].buffers())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("work", [diagnosed, redacted])
def test_a_longer_line_is_not_more_work(work: Callable[[str], None], kind: str) -> None:
    work(KINDS[kind](SIZE))  # compiles, imports and fills tables
    small, large = calls(work, KINDS[kind](SIZE)), calls(work, KINDS[kind](TIMES * SIZE))
    assert large <= SLACK * small
