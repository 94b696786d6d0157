"""A job of several Python processes that hang, each where a word says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ncdiag.apps.watching import stacks

needs_py_spy = pytest.mark.skipif(stacks.program() is None, reason="py-spy is not installed")

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
