"""The kernel's log and a rank's log in files of their own: the clocks of both say whether the job went on."""

from __future__ import annotations

import pytest

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import went_on
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

STEPS = "".join(f"2026-11-20 03:{n // 6:02}:{n % 6}0,120 INFO [rank0] step {n} loss 2.1\n" for n in range(90))
TIMEOUT = (
    "2026-11-20 03:25:05,001 ERROR [rank0]:[E1120 03:25:05.001 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught "
    "collective operation timeout: WorkNCCL(SeqNum=91, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) "
    "ran for 600003 milliseconds before timing out.\n"
)
DISTRIBUTED = STEPS + TIMEOUT
CARD = "mlx5_core 0000:c2:00.0 ens6np0: Link"
XID = "NVRM: Xid (PCI:0000:c2:00): 31, pid=4711, name=python, Ch 00000010, intr 00000000. MMU Fault"


def is_over(kernel: str, rank: str = DISTRIBUTED) -> bool:
    """Did the job go on after the first failure of the kernel's log?"""
    texts = {"rank0.log": rank, "kern.log": kernel}
    sources = [read_source(TextSource.of_bytes(name, text.encode())) for name, text in texts.items()]
    view = View(job_of(sources, []))
    failure = next(event for event in view.job.events if event.event in {"interface-link-down", "gpu-xid"})
    return went_on(failure, view)


def flap(head: str, first: str, second: str) -> str:
    return f"{head.format(first)} {CARD} down\n{head.format(second)} {CARD} up\n"


DMESG, SYSLOG = "[Fri Nov 20 {} 2026]", "Nov 20 {} n1 kernel:"


@pytest.mark.parametrize("head", [DMESG, SYSLOG, "2026-11-20T{},120000+00:00"])
def test_a_link_that_was_lost_when_the_job_stopped_is_not_over(head: str) -> None:
    assert not is_over(flap(head, "03:15:02", "03:15:40"))
    assert is_over(flap(head, "03:01:40", "03:01:43"))
    assert is_over(flap(head, "03:15:02", "03:15:40"), STEPS), "nothing says that this job hangs"


def test_a_time_without_a_date_or_of_another_day_says_nothing() -> None:
    assert is_over(flap("[882201.110010]", "", ""))
    assert is_over(flap(DMESG.replace("20", "18"), "03:15:02", "03:15:40"))


def test_steps_long_after_an_error_of_the_kernel_show_that_the_job_went_on() -> None:
    assert is_over(f"[Fri Nov 20 03:05:00 2026] {XID}\n")
    assert not is_over(f"[Fri Nov 20 03:14:55 2026] {XID}\n")
    assert not is_over(f"[Fri Nov 20 03:13:55 2026] {XID}\n"), "clocks may be two minutes apart"
    assert not is_over(f"[Fri Nov 20 02:40:00 2026] {XID}\n"), "it may be in another zone: no step came before it"
    assert not is_over(f"{XID}\n")
