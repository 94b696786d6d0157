"""The healthy shelf: on jobs that are well, of any release and network, no warning and no error may fire."""

from __future__ import annotations

import pathlib

import pytest
from generate import healthy

from ncdiag import triage
from ncdiag.diagnose import diagnose
from ncdiag.report.model import Report
from ncdiag.text.sources.files import TextSource

HERE = pathlib.Path(__file__).parent
HEALTHY = HERE.parent / "fixtures" / "healthy"


def complaints(report: Report) -> list[str]:
    """Findings that would send somebody looking."""
    return [f"{f.name}: {f.title}" for f in report.findings if f.severity != "info"]


@pytest.mark.parametrize("fabric", healthy.FABRICS)
@pytest.mark.parametrize("release", healthy.RELEASES)
def test_a_generated_healthy_job_is_silent(release: str, fabric: healthy.Fabric) -> None:
    log = healthy.healthy_log(healthy.healthy_job(release, fabric))
    report = diagnose([TextSource.of_bytes("job.log", log.encode())])
    assert complaints(report) == []
    assert report.summary.verdict == "healthy-as-far-as-seen"


def test_what_a_job_that_finished_does_without_is_a_risk() -> None:
    job = healthy.Job("2.21.5", "ib", nodes=2, gpus=8)
    lines = healthy.healthy_log(job).replace("/GDRDMA", "").splitlines(keepends=True)
    log = "".join(line for line in lines if "Destroy COMPLETE" not in line)
    words = {}
    for end in ("", "".join(f"Epoch 1 step {number} loss 2.{number}\n" for number in range(1, 9))):
        report = diagnose([TextSource.of_bytes("job.log", (log + end).encode())])
        words[bool(end)] = report.summary.verdict, {f.name: f.role for f in report.findings}
    assert words[False] == ("failed-cause-not-here", {"gdr-disabled-for-hca": "symptom"})
    assert words[True] == ("risk-only", {"gdr-disabled-for-hca": "risk"})


def test_sixteen_ranks_with_gdr_say_what_was_looked_at_and_what_was_not() -> None:
    job = healthy.Job("2.21.5", "ib", nodes=2, gpus=8)
    report = diagnose([TextSource.of_bytes("job.log", healthy.healthy_log(job).encode())])
    assert report.findings == ()
    assert report.summary.nranks == 16
    assert report.summary.nhosts == 2
    assert [section.kind for section in report.inputs[0].sections] == ["nccl_log"]
    assert any("show_gids" in phrase for phrase in report.summary.not_looked_at)
    assert any("dmesg" in phrase for phrase in report.summary.not_looked_at)
    assert not any("NCCL log" in phrase for phrase in report.summary.not_looked_at)


@pytest.mark.parametrize("folder", sorted(p for p in HEALTHY.iterdir() if p.is_dir()), ids=lambda p: p.name)
def test_a_capture_of_a_healthy_machine_is_silent(folder: pathlib.Path) -> None:
    assert complaints(triage(folder)) == []


def test_a_part_of_what_the_driver_tells_of_a_healthy_gpu_is_no_complaint() -> None:
    whole = (HEALTHY / "h100-in-a-vm" / "outputs.txt").read_text(encoding="utf-8")
    part = whole[whole.index("    ECC Mode\n") : whole.index("    Fabric\n")]
    report = diagnose([TextSource.of_bytes("part.txt", part.encode())])
    assert complaints(report) == []
    assert report.complaints == ()
    assert "xid-ecc-contained" not in report.answers
