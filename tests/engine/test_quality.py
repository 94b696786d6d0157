"""The checks on rules as data: each fault of a rule file is told, and a good one is silent."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec
import pytest

from ncdiag.base.spans import span
from ncdiag.engine.load import load_text
from ncdiag.engine.quality import problems
from ncdiag.facts.model import Host, Job, KernelModule
from ncdiag.facts.view import View

RULE = """
code = "NCD900"
name = "peermem-missing"
area = "gdr"
severity = "warning"
role = "cause"
layer = 10
title = "{host.name} has no nvidia_peermem"
each = { host = "job.hosts" }
when = ['"nvidia_peermem" not in host.modules.name', '"mlx5_core" in host.modules.name']
unless = ['"nv_peer_mem" in host.modules.name']
why = "GPU memory cannot be registered"
false_positives = ["DMA-BUF takes the place of the module."]
references = ["https://example.org"]
[[fix]]
kind = "command"
commands = ["modprobe nvidia_peermem"]
[[example]]
name = "mlx5 alone"
outcome = "fired"
lsmod = "mlx5_core"
[[example]]
name = "loaded"
outcome = "clear"
lsmod = "mlx5_core nvidia_peermem"
[[example]]
name = "no network card"
outcome = "clear"
lsmod = "ext4"
[[example]]
name = "the older module"
outcome = "clear"
lsmod = "mlx5_core nv_peer_mem"
[[example]]
name = "lsmod is missing"
outcome = "unknown"
ibstat = "mlx5_0"
"""


def facts_of(sections: Mapping[str, tuple[str, ...]], host: str | None) -> Job:
    name = host or "node1"
    seen = {"": span("example", 1, "lsmod")}
    words = [word for text in sections.get("lsmod", ()) for word in text.split()]
    modules = tuple(KernelModule(host=name, name=word, provenance=seen) for word in words)
    return Job(hosts=(Host(name=name, modules=modules, complete=frozenset(sections), provenance=seen),))


NOTHING_SHOWN = '[[example]]\nname = "nothing"\noutcome = "unknown"\n'


def told(text: str) -> list[str]:
    return problems([load_text(text)], facts_of)


def test_a_good_rule_is_silent() -> None:
    assert told(RULE) == []


def without_example(name: str) -> str:
    head, *examples = RULE.split("[[example]]")
    return "[[example]]".join([head, *(e for e in examples if f'name = "{name}"' not in e)])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (without_example("mlx5 alone"), "no example with outcome 'fired'"),
        (without_example("loaded"), "'\"nvidia_peermem\" not in host.modules.name' is not needed"),
        (without_example("the older module"), "'\"nv_peer_mem\" in host.modules.name' is not needed"),
        (without_example("no network card"), "'\"mlx5_core\" in host.modules.name' is not needed"),
        (RULE.replace('references = ["https://example.org"]', ""), "has no reference"),
        (RULE.replace('[[fix]]\nkind = "command"\ncommands = ["modprobe nvidia_peermem"]', ""), "has no fix"),
        (
            RULE.replace("[[fix]]", '[[asks]]\nmissing = "m"\nask_for = "lsmod on {host.name}"\n[[fix]]', 1),
            "asks for '{host.name}': nothing is filled in",
        ),
        (
            RULE.replace('outcome = "unknown"', 'outcome = "clear"') + NOTHING_SHOWN,
            "example 'lsmod is missing' should be clear",
        ),
        (
            RULE.replace('lsmod = "ext4"', 'lsmod = "mlx5_core"'),
            "example 'no network card' should be clear: it is fired",
        ),
    ],
)
def test_a_fault_is_told(text: str, problem: str) -> None:
    found = told(text)
    assert len(found) == 1
    assert found[0].startswith("peermem-missing: ")
    assert problem in found[0]


def test_what_is_not_certain_says_what_looks_the_same() -> None:
    bare = RULE.replace('false_positives = ["DMA-BUF takes the place of the module."]\n', "")
    (problem,) = told(bare)
    assert problem.startswith("peermem-missing: is likely and has no `false_positives`")
    assert told(bare.replace("why = ", 'strength = "certain"\nwhy = ')) == []
    assert told(bare.replace('"warning"', '"info"')) == []


def test_what_can_be_unknown_shows_it() -> None:
    bare = without_example("lsmod is missing")
    (problem,) = told(bare)
    assert "no example with outcome 'unknown', and 'mlx5 alone' is unknown without its lsmod" in problem
    assert told(bare.replace('"warning"', '"info"')) == []


def shown_whole(sections: Mapping[str, tuple[str, ...]], host: str | None, but: tuple[str, ...] | None = None) -> Job:
    """The facts of a list of modules that is whole, be it empty, unless it is ``but``."""
    complete = frozenset({"lsmod"}) if sections.get("lsmod", ()) != but else frozenset[str]()
    job = facts_of(sections, host)
    return msgspec.structs.replace(
        job, hosts=tuple(msgspec.structs.replace(found, complete=complete) for found in job.hosts)
    )


def test_what_is_never_unknown_needs_no_example_of_it() -> None:
    assert problems([load_text(without_example("lsmod is missing"))], shown_whole) == []


def test_each_of_several_texts_is_left_out() -> None:
    rule = load_text(
        without_example("lsmod is missing").replace('lsmod = "mlx5_core"', 'lsmod = ["mlx5_core", "ext4"]')
    )
    (problem,) = problems([rule], functools.partial(shown_whole, but=("mlx5_core",)))
    assert "'mlx5 alone' is unknown without text 2 of its lsmod" in problem


def test_what_went_wrong_tells_the_clauses() -> None:
    (problem,) = told(RULE.replace('outcome = "unknown"', 'outcome = "fired"') + NOTHING_SHOWN)
    assert 'for host = node1: "nvidia_peermem" not in host.modules.name is unknown' in problem


CASE = """
[[titles]]
when = ['any(m.name == "ext4" for m in host.modules)']
text = "{host.name} has a disk and no nvidia_peermem"
"""
WITH_A_DISK = """
[[example]]
name = "a disk as well"
outcome = "fired"
lsmod = "mlx5_core ext4"
"""


def test_each_title_has_an_example_and_each_of_its_conditions_another() -> None:
    titled = RULE.replace("[[fix]]", CASE + "[[fix]]", 1)
    assert told(titled + WITH_A_DISK) == []
    (problem,) = told(titled)
    assert "no example shows the title '{host.name} has a disk and no nvidia_peermem'" in problem
    (problem,) = told(titled.replace('"ext4" for', '"mlx5_core" for'))
    assert "no example shows the condition 'any(m.name == \"mlx5_core\" for m in host.modules)' of a title" in problem


def test_a_name_that_no_rule_has_is_told() -> None:
    rule = load_text(RULE.replace("when = ", 'explains = ["socket-peer-close"]\nwhen = ', 1))
    book = [msgspec.structs.replace(rule, name="socket-peer-closed", explains=())]
    (problem,) = problems([rule], facts_of, View, book)
    assert problem.startswith(
        "peermem-missing: explains 'socket-peer-close', which is not a rule: did you mean 'socket-peer-closed'"
    )


def test_a_finding_without_evidence_is_told() -> None:
    def bare(sections: Mapping[str, tuple[str, ...]], host: str | None) -> Job:
        job = facts_of(sections, host)
        hosts = [
            msgspec.structs.replace(
                found, provenance={}, modules=tuple(msgspec.structs.replace(m, provenance={}) for m in found.modules)
            )
            for found in job.hosts
        ]
        return msgspec.structs.replace(job, hosts=tuple(hosts))

    assert any("fires without evidence" in line for line in problems([load_text(RULE)], bare))


def test_a_symptom_says_what_people_complain_of_and_nothing_else_does() -> None:
    symptom = RULE.replace('role = "cause"', 'role = "symptom"')
    assert told(symptom)[0].startswith("peermem-missing: has no `complaint`: state what goes wrong")
    assert told(symptom.replace('role = "symptom"', 'role = "symptom"\ncomplaint = "slow"')) == []
    for other in (RULE, symptom.replace('severity = "warning"', 'severity = "info"')):
        text = other.replace("layer = 10", 'complaint = "slow"\nlayer = 10')
        assert any("has a `complaint`, which only a symptom" in problem for problem in told(text))
