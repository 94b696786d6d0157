"""What the driver reports of a GPU or an NVSwitch is judged by the class of its number, in any form of line."""

from __future__ import annotations

import pytest
from tenth import tenth

from ncdiag.diagnose import diagnose
from ncdiag.nccl import xids
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

WORDINGS = (
    "[ 812.10] NVRM: Xid (PCI:0000:3b:00): {number}, pid=2211, name=python3, what it says",
    "[ 812.10] NVRM: Xid (PCI:0000:3b:00): {number}, what it says",
    "Mar 04 03:11:02 n1 kernel: NVRM: Xid (PCI:0000:3b:00): {number}",
)
ANSWERS = {
    "program": "xid-application", "engine": "xid-application", "echo": "xid-channel-ended", "nvlink": "nvlink-errors",
    "memory": "xid-memory-repair",
}  # fmt: skip
"""Of classes for which the GPU is not given up; the others are noted."""
SXIDS = {
    "Fatal, Link 30 what it says": {"harmless": True, "fatal": True, "fabric": True},
    "Non-fatal, Link 30 what it says": {"harmless": False, "fatal": False, "fabric": False},
    "Link 30 what it says": {"harmless": False, "fatal": True, "fabric": True},
}
UNDOCUMENTED = 400


def judged(line: str) -> Report:
    return diagnose([TextSource.of_bytes("dmesg", f"{line}\n".encode())])


def wanted(xid: xids.Xid) -> str:
    if xid.remedy in {"reset", "reboot", "update", "wiring"}:
        return "xid-fatal"
    if xid.fault == "memory" and xid.remedy == "restart":
        return "xid-ecc-contained"
    return ANSWERS.get(xid.fault, "xid-noted")


@pytest.mark.sweep
@pytest.mark.parametrize("wording", WORDINGS)
def test_every_xid_is_answered_by_its_class(wording: str) -> None:
    taken = tenth(xids.xids().values(), lambda xid: f"{WORDINGS.index(wording)}/{xid.number}")
    lines = {xid: wording.format(number=xid.number) for xid in taken}
    wrong = {xid.number: answers for xid, line in lines.items() if (answers := judged(line).answers) != (wanted(xid),)}
    assert not wrong


@pytest.mark.parametrize("wording", WORDINGS)
def test_a_number_that_nobody_documents_is_answered(wording: str) -> None:
    assert judged(wording.format(number=UNDOCUMENTED)).answers == ("failure-reported",)


@pytest.mark.sweep
@pytest.mark.parametrize("said", SXIDS)
def test_the_word_of_an_sxid_decides_before_its_number(said: str) -> None:
    for number, reach in tenth(xids.reports().reaches.items(), lambda item: f"{said}/{item[0]}"):
        report = judged(f"[ 812.10] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): {number}, {said}")
        assert ("sxid-nvswitch" in report.answers) is SXIDS[said][reach], number


def test_no_number_has_two_classes() -> None:
    from ncdiag.base import toml

    table = toml.loads(xids.TABLE.read_text(encoding="utf-8"))
    keys = [key for remedies in table["xid"].values() for entries in remedies.values() for key in entries]
    numbers = [number for key in (*keys, *table["sxid"].values()) for number in xids.numbers(key)]
    assert len(numbers) == len(set(numbers))
