"""What NCCL, drivers and fabrics write down of their state: read as data under fixtures/sections."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from linear import assert_linear_time
from specimens import FIXTURES, assert_reads_in_linear_time, parsed, read, sections, specimens
from tenth import tenth

from ncdiag.base.spans import Section
from ncdiag.facts.merge import merge
from ncdiag.facts.model import Fabric, GraphDump, OperationProfile, RasReport, TopoSystem
from ncdiag.facts.model.base import Fact
from ncdiag.facts.observe import Observation, Parsed

KINDS = (
    "ethtool", "ethtool_S", "graph_xml", "ibnetdiscover", "inspector", "ncclras", "nvidia_smi_q", "rdma_statistic",
    "topo_xml",
)  # fmt: skip
CASES = specimens(*KINDS)
LISTS: dict[str, tuple[type[Fact], str]] = {
    "TopoSystem": (TopoSystem, "topologies"), "GraphDump": (GraphDump, "graph_dumps"),
    "RasReport": (RasReport, "ras_reports"), "OperationProfile": (OperationProfile, "operation_profiles"),
    "Fabric": (Fabric, "fabrics"),
}  # fmt: skip


def parse_lines(kind: str, lines: list[str]) -> Parsed:
    return parsed(Section(kind=kind, source="x", first_line=1, lines=tuple(lines)))


@pytest.mark.parametrize("path", CASES)
def test_the_observations_fit_the_facts(path: Path) -> None:
    found = [o for s in sections(read(path)) if s.kind in KINDS for o in parsed(s).observations]
    job = merge(found)
    for entity, (fact, field) in LISTS.items():
        observed = [o for o in found if o.entity == entity]
        facts = getattr(job, field)
        assert len(facts) == len(observed)
        assert all(set(o.fields) <= set(fact.__struct_fields__) for o in observed)
        for o, made in zip(observed, facts, strict=True):
            assert all(getattr(made, name) is not None for name in o.fields), o
    for number, o in enumerate(o for o in found if o.entity in {"Gpu", "Interface", "PciDevice", "Hca"}):
        (host,) = merge([_on(o, f"h{number}")]).hosts
        (made,) = host.gpus + host.interfaces + host.pci + host.hcas
        assert all(getattr(made, name) is not None for name in o.fields), o


def _on(observation: Observation, host: str) -> Observation:
    return Observation(
        entity=observation.entity, span=observation.span, key=observation.key, host=host, fields=observation.fields
    )


@pytest.mark.parametrize("path", CASES)
def test_cut_at_any_line_reads_entities_of_the_same_kinds(path: Path) -> None:
    lines = read(path)
    found = [o for s in sections(lines) for o in parsed(s).observations]
    whole = {o.entity for o in found}
    if any(o.fields.get("nhosts", 1) > 1 for o in found):
        whole |= {"PciDevice", "Gpu"}  # before the second host comes, nothing tells that there is one
    for end in range(len(lines)):
        cut = [o for s in sections(lines[:end]) for o in parsed(s).observations]
        assert {o.entity for o in cut} <= whole, end
        merge(cut)


PIECES = (
    " ", "\t", "0", "a ", "<", ">", '"', "<a>", "<a ", '<a b="', "</a>", "<!--", "-->", "<pci busid='0000:01:00.0'>",
    "&lt;", "&amp;", 'a="b" ', "{", "[", '{"header":{"id":"0x1",', "Rank 0 ", "1 ", "1-", "Process 1 on node ", "[1]",
    '"S-', "a: ", "rx_packets 1 ", "GPU ", " : ", "\\", "=",
)  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "start",
    ["", '<system version="1">', '{"header":{"id":"0x1"', '"nccl_version": "2.29.1",', "#0-0 (00000000000beef1) "],
)
def test_a_long_line_is_read_in_linear_time(kind: str, start: str) -> None:
    for piece in tenth(PIECES, lambda piece: f"{kind}/{start}{piece}"):
        assert_reads_in_linear_time(kind, start, piece)


def test_a_deep_tree_is_read_in_linear_time() -> None:
    def tree(depth: int) -> list[str]:
        lines = ['<system version="1">', '<cpu numaid="0">']
        lines += [f'<pci busid="0000:{n % 256:02x}:00.0">' for n in range(depth)]
        return lines + ["</nothing>"] * depth + ["</pci>"] * depth

    (system, *_) = parse_lines("topo_xml", tree(50_000)).observations
    assert len(system.fields["pci"]) == 50_000
    assert_linear_time(lambda lines: parse_lines("topo_xml", lines), tree, 2_000)


def test_nothing_is_opened_or_expanded() -> None:
    lines = (FIXTURES / "topo_xml" / "hostile.txt").read_text().splitlines()
    shown_facts = json.dumps([o.fields for o in parse_lines("topo_xml", lines).observations])
    assert "root:" not in shown_facts
    assert "aaaa" not in shown_facts


def test_an_escaped_file_reads_as_the_plain_one() -> None:
    plain = (FIXTURES / "topo_xml" / "dump-two-gpus.txt").read_text().splitlines()[1:-1]
    escaped = [line.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;") for line in plain]
    slashed = [line.replace('"', '\\"') for line in plain]
    joined = ["".join(plain)]
    wanted = [(o.entity, o.key, o.fields) for o in parse_lines("topo_xml", plain).observations]
    assert len(wanted) > 5
    for lines in (escaped, slashed, joined):
        (section,) = sections(lines)
        assert section.kind == "topo_xml"
        assert [(o.entity, o.key, o.fields) for o in parsed(section).observations] == wanted


def test_a_large_report_of_ras_is_read_whole() -> None:
    ranks = [
        {
            "rank": n, "host": f"10.20.{n >> 8}.{n & 255}", "pid": 1000 + n, "cuda_dev": n % 8, "nvml_dev": n % 8,
            "status": {"init_state": 0, "async_error": 0, "finalize_called": False},
            "collective_counts": {"Broadcast": 5, "AllReduce": 99 if n == 777 else 100},
        }
        for n in range(20_000)
    ]  # fmt: skip
    comm = {"hash": "0x1", "size": 20_000, "ranks_count": 20_000, "missing_ranks_count": 0, "ranks": ranks}
    report = {"nccl_version": "2.29.1", "cuda_runtime_version": 13000, "communicators": [comm]}
    text = json.dumps(report, indent=1)
    assert len(text) > 4 << 20
    (found,) = parse_lines("ncclras", text.split("\n")).observations
    (problem,) = found.fields["problems"]
    assert (problem["collective"], problem["behind"]) == ("AllReduce", [777])


def test_the_inspector_keeps_sums_and_no_lines() -> None:
    template = (FIXTURES / "inspector" / "lines.txt").read_text().splitlines()[0]
    lines = [template.replace('"coll_sn":7', f'"coll_sn":{n}') for n in range(20_000)]
    (profile,) = parse_lines("inspector", lines).observations
    (row,) = profile.fields["operations"]
    assert (row["count"], row["first"], row["last"], row["time_us"]) == (20_000, 0, 19_999, 1_000_000)
    assert row["busbw_mean"] == pytest.approx(31.45728)
