"""Values that name the meeting place of a job, and the same interface for programs that read plain names."""

from __future__ import annotations

import re

from ncdiag import catalogue
from ncdiag.engine.load import rule_files
from ncdiag.facts.model import Address, Host, Interface, Job, Launch, Rank
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes.values import Values, registry


def interface(host: str, name: str, ip: str) -> Interface:
    return Interface(host=host, name=name, up=True, running=True, addresses=(Address(ip, 24),))


def job(*ranks: Rank) -> View:
    hosts = [
        Host(
            name=name, complete=frozenset({"interfaces"}), nccl_version=VersionRange.exact("2.21.5"),
            interfaces=(interface(name, "lo", "127.0.0.1"), interface(name, "eno1", f"10.1.0.{n}")),
        )
        for n, name in enumerate(("n1", "n2"), 1)
    ]  # fmt: skip
    return View(Job(hosts=tuple(hosts), ranks=ranks, nhosts=2))


def test_the_ranks_meet_at_rank_0() -> None:
    view = job(Rank(host="n2", rank=0), Rank(host="n1", rank=1))
    assert Values(view)("master_address", {}) == "10.1.0.2"


def test_without_rank_0_its_output_is_asked_for() -> None:
    value = Values(job(Rank(host="n1", rank=1))).compute("master_address", {})
    assert value.text is None
    assert value.ask_for


def test_under_slurm_the_first_host_of_the_job_is_named() -> None:
    launched = View(
        Job(
            ranks=(Rank(host="n1", rank=1),), launches=(Launch(host="n1", program="srun", text="srun python train.py"),)
        )
    )
    value = Values(launched).compute("master_address", {})
    assert value.text is None
    assert "scontrol show hostnames" in value.reason


def test_other_programs_get_the_plain_name() -> None:
    values = Values(job(Rank(host="n1", rank=0), Rank(host="n2", rank=1)))
    assert values("shared_interface", {}) == "=eno1"
    assert values("shared_interface_name", {}) == "eno1"


def test_every_value_that_a_rule_names_can_be_computed() -> None:
    texts = [path.read_text() for path in rule_files(catalogue.rules_dir())]
    named = {name for text in texts for name in re.findall(r"\{best\.(\w+)\}", text)}
    assert named <= set(registry())
