"""Many processes at once, each with pipes of its own."""

from __future__ import annotations

import subprocess
import sys

ASK = """
import resource, sys
from ncdiag.apps.cluster.model import Wish
from ncdiag.apps.cluster.shells import ask
from ncdiag.base.errors import UsageError
resource.setrlimit(resource.RLIMIT_NOFILE, (100, int(sys.argv[1])))
try:
    answers = ask([f"n{n}" for n in range(60)], "echo %h", Wish(fanout=60), local=True)
except UsageError as error:
    print(error)
else:
    print(len(answers))
"""


def asked(allowed: int) -> str:
    line = [sys.executable, "-c", ASK, str(allowed)]
    return subprocess.run(line, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout.strip()


def test_as_many_files_are_opened_as_hosts_take() -> None:
    assert asked(1000) == "60"


def test_more_than_the_system_allows_is_refused() -> None:
    assert asked(200) == "querying 60 hosts in parallel needs 244 open files, but the limit is 200 (ulimit -Hn)"
