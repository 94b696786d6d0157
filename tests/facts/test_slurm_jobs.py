"""Which rows of Slurm's commands are the job's, and what they cost."""

from __future__ import annotations

import pytest

from ncdiag.facts.fold import unfold_hosts
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary import out_of_service
from ncdiag.facts.vocabulary.second_tries import repository
from ncdiag.facts.vocabulary.slurm_jobs import refused_jobs, rows_of_the_job
from ncdiag.text.reading.job import facts_of

RUNS = "  {}       gpu     eval    alice  R    1:00:00      2 n[{}-{}]\n"
OUT = "Kill task failed     root      2026-11-20T10:00:00 m{}\n"
QUEUED = "srun: job 813 queued and waiting for resources\n"
REFUSED = "srun: Required node not available (down, drained or reserved)\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [("", 2), (QUEUED, 1), (REFUSED, 0), (REFUSED + QUEUED, 1), ("Our job does not start.\n", 0)],
)
def test_rows_of_the_job(text: str, rows: int) -> None:
    job = facts_of({"text": [text + RUNS.format(812, 1, 2) + RUNS.format(813, 3, 4)]})
    view = View(job)
    assert len(rows_of_the_job(job, view)) == rows
    assert refused_jobs(job, view) == ({"813"} if QUEUED in text else set())


def test_the_hosts_of_the_job_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RUNS.format(812, 1, 2) + RUNS.format(813, 3, 4) + "".join(map(OUT.format, range(20)))
    job, asked = facts_of({"text": [rows]}), []

    def unfold(names: str) -> list[str]:
        asked.append(names)
        return list(unfold_hosts(names))

    monkeypatch.setattr(out_of_service, "unfold_hosts", unfold)
    view, nodes = View(job), [event for event in job.events if event.event == "slurm-node-out"]
    assert [out_of_service.is_beside_the_job(event, view) for event in nodes] == [True] * 20
    assert len(asked) == 22


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("[ERROR] URL https://nvcr.io/v2/nvidia/pytorch/manifests/25.01 returned error code: 404 Not Found", "pytorch"),
        ("Status: Image is up to date for ubuntu:22.04", "ubuntu"),
        ("pyxis: imported docker image: nvcr.io#nvidia/pytorch:25.01-py3", "pytorch"),
        ("Status: Downloaded newer image for registry.example.org:5000/train", "train"),
        ("reading manifest 1 in registry.example.org/ml/train: manifest unknown", "train"),
        ("toomanyrequests: Rate exceeded", ""),
        ("[INFO] Creating squashfs filesystem...", ""),
    ],
)
def test_the_repository_of_a_line(line: str, name: str) -> None:
    assert [repository(event) for event in facts_of({"text": [line]}).events] == [name]
