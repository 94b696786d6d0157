"""What the tools of AMD's and Huawei's accelerators print: read as data under fixtures/sections."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Npu
from ncdiag.facts.observe import Observation
from ncdiag.parsers import discover
from ncdiag.sections.cut import Cutter
from ncdiag.spans import Section

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "sections"
KINDS = ("amd_smi", "hccn_conf", "hccn_tool", "npu_smi", "rocm_smi")
CASES = [
    pytest.param(path, id=f"{path.parent.name}/{path.stem}")
    for kind in KINDS
    for path in sorted((FIXTURES / kind).glob("*.txt"))
]


def sections(path: Path) -> list[Section]:
    cutter = Cutter("case.txt", discover())
    cutter.feed(enumerate(path.read_text().split("\n"), 1))
    return cutter.finish()


def observed(path: Path) -> list[Observation]:
    found = [s for s in sections(path) if s.kind in KINDS]
    return [o for s in found for o in discover()[s.kind].parse(s).observations]


def shown(section: Section) -> Iterator[str]:
    """A section as lines of JSON: its head, then an observation a line."""
    result = discover()[section.kind].parse(section)
    head: dict[str, Any] = {
        "kind": section.kind, "lines": [section.first_line, section.last_line], "host": section.host,
        "command": section.command, "unread": [section.number(i) for i in result.unread],
    }  # fmt: skip
    yield json.dumps(head)
    for o in result.observations:
        yield json.dumps({"line": o.span.line, "entity": o.entity, "key": o.key, **o.fields})


@pytest.mark.parametrize("path", CASES)
def test_reads_what_is_expected(path: Path, expect: Callable[[Path, str], None]) -> None:
    found = sections(path)
    rows = [row for section in found if section.kind in KINDS for row in shown(section)]
    rest = [section.number(i) for section in found if section.kind not in KINDS for i in range(len(section.lines))]
    rows.append(json.dumps({"other lines": rest}))
    expect(path.with_suffix(".json"), "[\n" + ",\n".join(rows) + "\n]\n")


@pytest.mark.parametrize("path", CASES)
def test_facts_stand_in_the_model(path: Path) -> None:
    job = merge(observed(path))
    assert any(host.gpus or host.npus or host.links for host in job.hosts)


def test_npus_of_all_tools_are_one() -> None:
    parts = [
        FIXTURES / "npu_smi/info.txt",
        FIXTURES / "hccn_conf/two-devices.txt",
        FIXTURES / "hccn_tool/two-hosts.txt",
    ]
    job = merge([o for path in parts for o in observed(path)])
    (host,) = (host for host in job.hosts if host.name == "as01")
    first, second = host.npus
    assert (first.index, first.model, first.health, first.bus_id) == (0, "910B3", "OK", "0000:c1:00.0")
    assert (first.ip, first.gateway, second.ip, second.mtu) == ("10.40.0.10", "10.40.0.1", "10.40.1.10", 4096)
    assert isinstance(second, Npu)
    assert second.net_health is None
