"""A job of several Python processes that hang, each where a word says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import running, until

from ncdiag.apps.watching import stacks

needs_py_spy = pytest.mark.skipif(stacks.program() is None, reason="py-spy is not installed")
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")

LIBRARY = {
    **dict.fromkeys(("torch/__init__.py", "torch/utils/__init__.py", "torch/utils/data/__init__.py"), ""),
    "torch/distributed/__init__.py": "",
    "torch/utils/data/dataloader.py": "import time\ndef __next__(): time.sleep(1000)\n",
    "torch/distributed/distributed_c10d.py": "import time\ndef all_reduce(): time.sleep(1000)\n",
}
"""What stands in for PyTorch: functions that wait, in files with its names."""
TRAIN = """
import os, signal, subprocess, sys, threading
from torch.distributed.distributed_c10d import all_reduce
from torch.utils.data.dataloader import __next__
def reserve():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
def stop():
    os.kill(os.getpid(), signal.SIGSTOP)
words = sys.argv[1:]
if len(words) > 1:
    for rank, word in enumerate(words):
        subprocess.Popen([sys.executable, __file__, word], env={**os.environ, "RANK": str(rank)})
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
{"wait": all_reduce, "load": __next__, "lock": reserve, "stop": stop}[words[0]]()
"""


def write_library(folder: Path) -> None:
    """Write what stands in for PyTorch into a folder."""
    for name, text in LIBRARY.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def as_nobody(ask: Callable[[], Any]) -> Any:  # noqa: ANN401  (what is asked)
    """What a function returns in a process of another user, as data of JSON."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        os.write(theirs, json.dumps(ask()).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


class Hung:
    """``ncdiag run`` on a job that hangs, until its first report is there; ``job`` are the words of the job."""

    def __init__(
        self, program: list[str], report: Path, mark: str, *words: str, job: list[str], first: str = "",
        **variables: str,
    ) -> None:  # fmt: skip
        argv = [*program, "run", "--hang-after", "2", "--format", "json", "-o", str(report), *words, "--", *job]
        env = {
            **os.environ,
            "NCDIAG_TEST_JOB": mark,
            **variables,
            "PATH": f"{first or Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        self.process = subprocess.Popen(
            argv, env=env, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert until(report.exists)
        self.report: dict[str, Any] = json.loads(report.read_text())
        self.states = {
            pid: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in running(mark)
        }

    def end(self) -> bytes:
        """What ncdiag said."""
        self.process.terminate()
        self.process.send_signal(signal.SIGCONT)
        return self.process.communicate()[1]

    def title(self, name: str) -> str:
        """The title of a finding, empty if the report does not have it."""
        return next((str(each["title"]) for each in self.report["findings"] if each["name"] == name), "")
