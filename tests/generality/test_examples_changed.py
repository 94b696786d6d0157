"""What an example of a rule says stays so: in other releases' words, in another order, with a section less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest
from book import swept_files
from generality.wordings import others

from ncdiag import catalogue
from ncdiag.engine.compiling import program_of
from ncdiag.engine.load import load_file, rule_files
from ncdiag.engine.quality import outcome
from ncdiag.engine.schema import Example, Rule
from ncdiag.facts.view import View
from ncdiag.nccl import environment
from ncdiag.text.reading.job import facts_of

Sections = Mapping[str, tuple[str, ...]]
AREAS = sorted({path.parent for path in rule_files(catalogue.rules_dir())} - {catalogue.rules_dir() / "floor"})
ANOTHER_MESSAGE = {
    ("ib-async-fatal", "a port that comes back"): "the other wording calls the event fatal",
}  # fmt: skip
"""Examples that other words make another one, and why."""

THE_ORDER_TELLS = {
    ("ib-pkey-mismatch", "the index of the common partition"): "a shell without a name belongs to the host beside it",
    ("rank-crashed-first", "the program of a rank failed on its own"): "what is printed first came first",
    ("cuda-out-of-memory", "tests that are each alone, on one GPU"): "a launch line stands above what it printed",
}  # fmt: skip
"""Examples that another order makes another one, and why."""

TELLS_OF_WHAT_IT_IS_ABOUT = {
    ("launcher-slots-exceed-gpus", "launch"): "without the launch nothing asks for processes",
    ("launcher-slots-exceed-gpus", "nvidia_smi_L"): "without a number of GPUs no number of slots is too large",
    ("socket-filter-drops", "dmesg"): "only the kernel's log tells of a packet that was dropped",
    ("ib-driver-not-loaded", "lspci"): "without a card nothing needs the driver",
    ("ib-driver-not-loaded", "lsmod"): "without the list no module is known to lack",
    ("oom-killed", "dmesg"): "only the kernel's log tells of a kill; the other text tells when the job ran",
    ("host-name-is-loopback", "name_lookup"): "nobody asked what a name stands for, and there is no answer to judge",
    ("roce-port-without-gid", "ibstat"): "the list of ports alone has the port that the list of GIDs lacks",
    ("socket-mtu-lost", "interfaces"): "without the interfaces no two MTUs differ, and that is what the rule compares",
    ("roce-mtu-differs-between-peers", "ibv_devinfo"): "without the ports no two MTUs differ",
    ("gdr-vm-ats-off", "dmesg"): "only the kernel's log says that the machine is virtual",
    ("shm-below-expected", "nvidia_smi_L"): "without GPUs nothing is expected of shared memory",
    ("version-defect-met", "env"): "the setting that meets the defect is there alone",
    ("version-below-minimum", "nvidia_smi_q"): "without the driver nothing has a release that could be too old",
    ("cuda-mig-one-per-gpu", "env"): "only the settings name instances; a GPU that nobody calls one is whole",
    ("cuda-mig-one-per-gpu", "nvidia_smi_L"): "the list alone shows that the GPU is divided",
    ("cuda-mig-one-per-gpu", "launch"): "only the launch asks for instances; a GPU that nobody calls one is whole",
    ("k8s-network-policy", "kubectl_networkpolicies"): "without the list there is no policy to judge",
    ("k8s-network-policy", "k8s_manifest"): "without the manifest there is no policy to judge",
    ("k8s-network-policy", "kubectl_describe_networkpolicy"): "without the description there is no policy to judge",
    ("process-elsewhere", "stacks"): "without the stacks there are no places to compare",
    ("unit-hides-devices", "unit_file"): "without the file there is no unit to judge",
    ("k8s-pod-not-started", "kubectl_pods"): "without the list no pod is shown that does not run",
    ("socket-filter-rejects", "firewalld"): "to the store it is judged where a filter of its host is shown",
    ("nvlink-imex-down", "imex_channels"): "without the list no channel is known to lack",
    ("nvlink-imex-down", "systemctl"): "without the service nothing is said of the daemon",
    ("collective-gpus-wait", "nvidia_smi"): "only the table shows what the GPUs draw",
}  # fmt: skip
"""Rules and sections without which there is nothing that the rule could be unsure about, and why."""

WHERE_FAILURES_STAND = frozenset(
    {"nccl_log", "nccl_tests", "perftest", "probe", "text", "throughput", "torch_watchdog", "traceback"}
)
"""The output of the programs themselves: the failure, the stall or the low speed is printed there. A program that has
nothing to report prints nothing, so that without this output nothing is known to have failed, and a rule may be clear.
All other sections show a state, which is there whether it was shown or not.
"""


@pytest.fixture(scope="module")
def rules() -> dict[Path, list[Rule]]:
    """The rules by area, ready to be judged."""
    names = catalogue.names()
    held: dict[Path, list[Rule]] = {area: [] for area in AREAS}
    for path in swept_files():
        if path.parent in held:
            rule = load_file(path, names)
            held[path.parent].append(msgspec.structs.replace(rule, program=program_of(rule)))
    return held


def became(rule: Rule, sections: Sections, host: str | None) -> str:
    """The outcome of a rule over these sections."""
    return outcome(rule, View(facts_of(sections, host), environment.resolve_fields))


def examples(rules: list[Rule]) -> Iterator[tuple[Rule, Example]]:
    return ((rule, example) for rule in rules for example in rule.examples)


@pytest.mark.sweep
@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_in_the_words_of_every_release(area: Path, rules: dict[Path, list[Rule]]) -> None:
    changed = [
        f"{rule.name}, {example.name}: {now} by {new!r}"
        for rule, example in examples(rules[area])
        if (rule.name, example.name) not in ANOTHER_MESSAGE
        for kind, lines in example.sections.items()
        for number, line in enumerate(lines)
        for new in others(line)
        if (now := became(rule, {**example.sections, kind: (*lines[:number], new, *lines[number + 1 :])}, example.host))
        != example.outcome
    ]
    assert changed == []


@pytest.mark.sweep
@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_with_the_sections_in_another_order(area: Path, rules: dict[Path, list[Rule]]) -> None:
    changed = [
        f"{rule.name}, {example.name}: {now}"
        for rule, example in examples(rules[area])
        if len(example.sections) > 1
        and (rule.name, example.name) not in THE_ORDER_TELLS
        and (now := became(rule, dict(reversed(example.sections.items())), example.host)) != example.outcome
    ]
    assert changed == []


@pytest.mark.sweep
@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_with_a_section_less(area: Path, rules: dict[Path, list[Rule]]) -> None:
    cleared = [
        f"{rule.name}, {example.name}: clear without {kind}"
        for rule, example in examples(rules[area])
        if example.outcome == "fired" and len(example.sections) > 1
        for kind in example.sections
        if kind not in WHERE_FAILURES_STAND
        and (rule.name, kind) not in TELLS_OF_WHAT_IT_IS_ABOUT
        and became(rule, {k: texts for k, texts in example.sections.items() if k != kind}, example.host) == "clear"
    ]
    assert cleared == [], "what was not shown is not known"
