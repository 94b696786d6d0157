"""Sections about hosts, GPUs and launches: what is cut out of a paste and read, as data under fixtures/sections."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable
from pathlib import Path

import pytest
from linear import assert_linear_time
from specimens import FIXTURES, parsed, read, sections, specimens
from tenth import tenth

from ncdiag.base.spans import Section
from ncdiag.facts.merge import merge
from ncdiag.facts.scalars import VersionRange

KINDS = (
    "cmdline", "cpufreq", "df_shm", "env", "env_report", "hostfile", "infiniband_dev", "launch", "lsmod", "lspci",
    "nccl_conf", "nvidia_smi_L", "nvlink_s", "p2p_latency", "peermem", "systemctl", "topo_m", "topo_p2p", "ulimit",
    "uname",
)  # fmt: skip
CASES = specimens(*KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_fixtures(kind: str) -> None:
    assert len(list((FIXTURES / kind).glob("*.txt"))) >= 2


@pytest.mark.parametrize("path", CASES)
def test_the_kind_is_recognised(path: Path) -> None:
    alike = {"nvidia_smi_L", "nvlink_s"}  # the same first line
    expected = alike if path.parent.name in alike else {path.parent.name}
    kinds = {section.kind for section in sections(read(path))}
    assert bool(expected & kinds) is (path.stem != "devices-are-no-hosts")


@pytest.mark.parametrize("path", CASES)
def test_the_observations_fit_the_facts(path: Path) -> None:
    """A field that the fact type does not take is dropped by the merger in silence: here it is not."""
    for section in sections(read(path)):
        for o in parsed(section).observations if section.kind in KINDS else ():
            job = merge([o])
            host = next(iter(job.hosts), None)
            facts = {
                "Setting": job.settings, "Launch": job.launches, "Host": job.hosts, "Gpu": host and host.gpus,
                "TopoLink": host and host.links, "PciDevice": host and host.pci, "KernelModule": host and host.modules,
                "Mount": host and host.mounts, "Limit": host and host.limits, "Service": host and host.services,
                "Event": job.events,
            }[o.entity]  # fmt: skip
            assert facts, o
            for name, value in o.fields.items():
                assert json.dumps(_plain(getattr(facts[0], name))) == json.dumps(_plain(value)), (o, name)


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, VersionRange):
        return value.text
    if hasattr(value, "__struct_fields__"):
        return {name: v for name in value.__struct_fields__ if (v := getattr(value, name)) is not None}
    return value


@pytest.mark.sweep
@pytest.mark.parametrize("path", tenth(CASES, operator.attrgetter("id")))
def test_cut_anywhere_never_raises_and_invents_no_entity(path: Path) -> None:
    text = path.read_text()
    whole = {(o.entity, o.key) for s in sections(text.split("\n")) for o in parsed(s).observations}
    lines = text.split("\n")
    for end in range(len(lines)):
        found = {(o.entity, o.key) for s in sections(lines[:end]) for o in parsed(s).observations}
        if path.stem == "rows-without-header":  # a card whose row, and so its name, is cut off has a number
            found = {each for each in found if "NIC" not in str(each[1])}
        assert found <= whole, end
    for end in range(0, len(text), max(len(text) // 60, 1)):
        for section in sections(text[:end].split("\n")):
            parsed(section)


@pytest.mark.parametrize(
    ("says", "inactive"),
    [("for link 1 - inactive", 1), ("as all links are inactive", 0)],
)
def test_links_that_are_listed_and_inactive_ones_that_a_sentence_names_are_of_one_gpu(says: str, inactive: int) -> None:
    lines = (
        "GPU 0: NVIDIA A100 (UUID: GPU-22222222-3333-4444-5555-666666666660)",
        "\t Link 0: 25 GB/s",
        f"NVML: Unable to retrieve NVLink information {says}",
    )
    (gpu,) = parsed(Section(kind="nvlink_s", source="w", first_line=1, lines=lines)).observations
    assert (gpu.fields["nvlinks"], gpu.fields["nvlinks_inactive"]) == (1, inactive)


def test_no_secret_survives() -> None:
    for kind in ("env", "launch", "nccl_conf", "cmdline"):
        for lines in (
            ["export WANDB_API_KEY=s3cr3tvalue NCCL_DEBUG=INFO"],
            ["NCCL_DEBUG=INFO", "HF_TOKEN=s3cr3tvalue", "https_proxy=http://bob:s3cr3tvalue@10.0.0.1:80"],
            ["mpirun -np 2 -x AWS_SECRET_ACCESS_KEY=s3cr3tvalue -x UCX_API_TOKEN=s3cr3tvalue ./a --token s3cr3tvalue"],
            ["docker run -e 'DB_PASSWORD=s3cr3tvalue' -e NCCL_IB_PKEY=1 https://u:s3cr3tvalue@host/image"],
            ["BOOT_IMAGE=/v root=/dev/sda1 ro luks_passphrase=s3cr3tvalue"],
        ):
            section = Section(kind=kind, source="x", first_line=1, lines=tuple(lines), command=lines[-1])
            assert "s3cr3tvalue" not in repr(parsed(section)), (kind, lines)


def test_a_partition_key_index_is_no_secret() -> None:
    found = parsed(Section(kind="env", source="x", first_line=1, lines=("export NCCL_IB_PKEY=2",)))
    assert [o.fields["text"] for o in found.observations] == ["2"]


def test_a_file_named_conf_is_read_as_nccl_reads_it() -> None:
    section = Section(kind="env", source="a/nccl.conf", first_line=1, lines=("NCCL_NET_GDR_LEVEL=2  # far",))
    assert [(o.standing, o.fields["text"]) for o in parsed(section).observations] == [("conf", "2  # far")]


@pytest.mark.parametrize(
    "line",
    [
        "GPU0 and GPU1 are far apart (SYS), GPU2 is not.",
        "The module nvidia_peermem is 16384 bytes large",
        "lsmod shows nothing, ulimit -l is 64",
        "df says that /dev/shm is at 100%",
        "mpirun and torchrun both hang",
        "docker run works, srun does not",
        "please export the variables NCCL_DEBUG and NCCL_IB_HCA",
        "with NCCL_DEBUG=INFO we see nothing",
        "node1",
        "The fabric manager service (nvidia-fabricmanager.service) is active",
        "ACS is off according to lspci (no SrcValid+ anywhere)",
        "Limit: 3 tries",
    ],
)
def test_prose_yields_no_facts(line: str) -> None:
    assert [o for s in sections([line]) if s.kind in KINDS for o in parsed(s).observations] == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    "piece", tenth(["A=", "-x ", "GPU0 ", "X\t", "a,", "[4m", '"', "\\ ", "node[1-9]", "%=-", "SrcValid+ ", "0 "], repr)
)
def test_a_line_of_64_kb_is_read_in_linear_time(piece: str) -> None:
    def read_lines(lines: list[str]) -> None:
        for section in sections(lines):
            parsed(section)

    def two_lines(head: str) -> Callable[[int], list[str]]:
        return lambda size: [head + piece * size, piece * size]

    for head in (
        "", "mpirun -H ", "export NCCL_DEBUG=", "NCCL_DEBUG=1 ", "GPU0 X ", "ACSCtl: ", "Filesystem ",
        "nvidia_peermem 16384 0 ",
    ):  # fmt: skip
        assert_linear_time(read_lines, two_lines(head), 8192 // len(piece))
