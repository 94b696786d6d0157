"""Ten users at once: nobody gets an error, and what the analyses took is given back."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psutil
from generate import large
from processes import until
from serving import Served

USERS = 10
EACH = int(os.environ.get("NCDIAG_LOAD", "3"))
"""Analyses of each user; ``make lab`` has 20."""
LONG = 50 << 20
"""Bytes of the long logs, of which each user sends one where there are many analyses."""
MANY = 10
GROWTH = 96 << 20
"""Bytes by which the server may have grown after all analyses: less than two of the long logs."""


def log_of(user: int) -> bytes:
    """A log of a job of its own for each user, with a fault."""
    job = large.large("2.27.7", "roce", 2, faults=("gid",))
    return "".join(f"{line}\n" for line in large.lines(job)).replace("node", f"node{user}x").encode()


def memory(process: psutil.Process) -> int:
    """Resident bytes of a process and of all that it started."""
    return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])


def test_ten_users_at_once_all_get_their_answers(serving: Callable[..., Served]) -> None:
    page = serving("--at-once", "2")
    logs = [log_of(user) for user in range(USERS)]
    alone = [page.report(files={"job.log": log})["findings"][0]["name"] for log in logs[:1]]
    assert alone == ["roce-gid-link-local"]
    until(lambda: not page.workers())
    server = psutil.Process(page.process.pid)
    before = memory(server)

    def use(user: int) -> list[tuple[str, str]]:
        found = []
        for turn in range(EACH):
            log = logs[user]
            if EACH >= MANY and turn == 0:
                log *= -(-LONG // len(log))
            report = page.report(files={f"user{user}.log": log})
            found.append((report["findings"][0]["name"], report["inputs"][0]["source"]))
        return found

    with ThreadPoolExecutor(USERS) as pool:
        answers = list(pool.map(use, range(USERS)))

    assert answers == [[("roce-gid-link-local", f"user{user}.log")] * EACH for user in range(USERS)]
    assert until(lambda: not page.workers())
    assert until(lambda: not page.left())
    assert memory(server) < before + GROWTH
