"""NVIDIA's bug report is cut into the outputs and files that it is made of, and stays as long as it was."""

from __future__ import annotations

import gzip
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ncdiag.facts.model import Host
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.bug_report import prompted
from ncdiag.text.sources.files import TextSource, open_sources

REPORT = Path(__file__).resolve().parents[2] / "fixtures" / "bug_report" / "nvidia-bug-report.log"
LINES = REPORT.read_bytes().split(b"\n")
KINDS = [
    "uname", "lspci", "lspci", "dmesg", "dmesg", "cmdline", "lsmod", "nvidia_smi_q", "nvidia_smi_L", "nvidia_smi_L",
    "fabric_manager", "systemctl",
]  # fmt: skip


def reading(path: Path) -> Reading:
    (source,) = open_sources([str(path)])
    assert isinstance(source, TextSource)
    return read_source(source)


def host(path: Path = REPORT) -> Host:
    (found,) = job_of([reading(path)]).hosts
    return found


def test_each_part_is_read_by_its_parser() -> None:
    assert [piece.kind for piece in reading(REPORT).pieces if piece.kind != "text"] == KINDS


def test_its_facts_are_those_of_one_host() -> None:
    found = host()
    (gpu,) = found.gpus
    assert (found.name, found.driver, found.kernel_release) == ("gx20", "550.90.07", "5.15.0-130-generic")
    assert (gpu.model, gpu.fabric_state, gpu.nvlinks, gpu.nvlinks_inactive) == (
        "NVIDIA H100 80GB HBM3",
        "Completed",
        1,
        1,
    )
    assert gpu.nvlink_errors == {"replay": 0, "recovery": 3}
    assert {device.bus_id: device.width for device in found.pci} == {"0000:17:00.0": 8, "0000:18:00.0": 16}
    assert {module.name for module in found.modules} == {"nvidia", "nvidia_uvm"}
    assert [(service.name, service.active) for service in found.services] == [("nvidia-fabricmanager", False)]


def test_evidence_keeps_the_numbers_of_its_lines() -> None:
    events = job_of([reading(REPORT)]).events
    told = {event.event: event.provenance[""] for event in events if event.event in {"gpu-xid", "fabric-manager-error"}}
    assert {name: LINES[span.line - 1].decode() == span.text for name, span in told.items()} == {
        "gpu-xid": True, "fabric-manager-error": True,
    }  # fmt: skip


def test_it_is_read_as_it_is_sent(tmp_path: Path) -> None:
    packed = tmp_path / "nvidia-bug-report.log.gz"
    packed.write_bytes(gzip.compress(REPORT.read_bytes()))
    assert host(packed).gpus[0].model == host().gpus[0].model


def test_binary_parts_are_left_out() -> None:
    assert b"TlZEMAEAAA" not in b"".join(prompted([REPORT.read_bytes()]))


def test_other_texts_stay_as_they_are() -> None:
    other = b"____________________________________________\n\n*** /proc/cmdline\nquiet\n"
    assert list(prompted([other, other])) == [other, other]


@given(st.lists(st.lists(st.sampled_from(LINES) | st.binary(max_size=40), max_size=8).map(b"\n".join), max_size=4))
def test_no_line_is_lost_or_added(buffers: list[bytes]) -> None:
    whole = [LINES[0] + b"\n\n" + LINES[2], *buffers]
    assert [part.count(b"\n") for part in prompted(whole)] == [part.count(b"\n") for part in whole]
