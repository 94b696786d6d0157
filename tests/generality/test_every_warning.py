"""Whatever NCCL warns of before it fails is answered by what the line says, in the wording of every release.

Each format string that any release prints at WARN, ATTN, ABORT or DIAG (``nccl/log_messages*.json`` of the shared
specimens) stands as the one warning of a job, above the trace of return codes and the exception of the framework.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from format_strings import instances
from messages.test_coverage import FILES, key, listed

from ncdiag.diagnose import diagnose
from ncdiag.text.sources.files import TextSource

LEVELS = {"WARN", "ATTN", "ABORT", "DIAG"}
QUOTED = 60
"""Characters of the line by which it is found among the evidence."""
PARTS = 7
"""Parts in which the warnings are asked, side by side; prime to the number of exceptions, so that each has all."""
HEAD = "n1:4127:4160 [0] "
EXCEPTIONS = (
    """\
Traceback (most recent call last):
  File "/opt/train/main.py", line 52, in <module>
    dist.all_reduce(x)
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, \
unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version {version}
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
""",
    """\
terminate called after throwing an instance of 'c10::Error'
  what():  NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:911, unhandled cuda error, NCCL version {version}
""",
    """\
tensorflow.python.framework.errors_impl.InternalError: NCCL: unhandled system error [Op:CollectiveReduceV2]
""",
)  # fmt: skip


def job(entry: dict[str, Any], line: str, number: int) -> str:
    """The log of a rank that warns and fails."""
    version = (entry["since"] or "v2.18.3-1").lstrip("v").split("-")[0]
    file = (entry.get("path") or entry.get("file") or "init.cc").removeprefix("src/")
    mark = f"{file}:214 NCCL WARN" if entry["level"] == "WARN" else f"NCCL {entry['level']}"
    return (
        f"{HEAD}NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\nNCCL version {version}+cuda12.2\n\n"
        f"{HEAD}{mark} {line}\n{HEAD}NCCL INFO {file}:352 -> 2\n{HEAD}NCCL INFO init.cc:1501 -> 2\n"
        + EXCEPTIONS[number % len(EXCEPTIONS)].format(version=version)
    )


@pytest.fixture(scope="module")
def warnings(shared: Path) -> list[tuple[dict[str, Any], str]]:
    """Every format string of these levels with its first line, filled in; each line once."""
    entries = [e for name in FILES for e in json.loads((shared / "nccl" / name).read_text("utf-8"))["messages"]]
    left_out = listed("exempt.txt").keys() | listed("not_log_lines.txt").keys()
    counted = [e for e in entries if e["level"] in LEVELS and key(e["template"]) not in left_out]
    lines = {(e["level"], line): (e, line) for e in counted if (line := next(instances(e["template"])))}
    return list(lines.values())


@pytest.mark.parametrize("part", range(PARTS))
def test_every_warning_is_answered_by_what_it_says(
    warnings: list[tuple[dict[str, Any], str]], part: int, capsys: pytest.CaptureFixture[str]
) -> None:
    became: Counter[str] = Counter()
    unanswered = []
    asked = list(enumerate(warnings))[part::PARTS]
    for number, (entry, line) in asked:
        report = diagnose([TextSource.of_bytes("job.log", job(entry, line, number).encode())])
        about = [f.name for f in report.findings if any(line[:QUOTED] in e.text for e in f.evidence)]
        lines = [(s.name, e.text) for s in report.suspects for sign in s.supporting for e in sign.evidence]
        calls = [name for name, text in lines if line[:QUOTED] in text]  # a suspect that the warning calls
        became["first" if report.answers[0] in {*about, *calls} else "later" if about else "not"] += 1
        unanswered += [] if about else [f"{entry['level']}: {line}: {list(report.answers)}"]
    with capsys.disabled():
        print(f"\n[{len(asked)} warnings of all releases: {dict(became)}]")  # noqa: T201
    assert len(warnings) > 1000
    assert unanswered == []
    assert became["first"] >= 0.95 * len(asked)
