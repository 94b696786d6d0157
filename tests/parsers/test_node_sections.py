"""What a node's own services say: clock, packet filter, NCCL's registry; read as data under fixtures/sections."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Host
from ncdiag.parsers import discover
from ncdiag.sections.cut import Cutter
from ncdiag.spans import Section

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "sections"
KINDS = ("clock_sync", "iblinkinfo", "iptables", "nccl_params", "nftables", "ss")
PATHS = [path for kind in KINDS for path in sorted((FIXTURES / kind).glob("*.txt"))]
CASES = [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in PATHS]


def sections(text: str) -> list[Section]:
    cutter = Cutter("case.txt", discover())
    cutter.feed(enumerate(text.split("\n"), 1))
    return cutter.finish()


def shown(section: Section) -> Iterator[str]:
    """A section as lines of JSON: its head, then an observation a line."""
    result = discover()[section.kind].parse(section)
    head = {"kind": section.kind, "lines": [section.first_line, section.last_line], "host": section.host}
    yield json.dumps({**head, "unread": [section.number(index) for index in result.unread]})
    for o in result.observations:
        yield json.dumps({"line": o.span.line, "entity": o.entity, "key": o.key, "fields": o.fields})


@pytest.mark.parametrize("path", CASES)
def test_reads_what_is_expected(path: Path, expect: Callable[[Path, str], None]) -> None:
    found = sections(path.read_text())
    rows = [row for section in found if section.kind in KINDS for row in shown(section)]
    expect(path.with_suffix(".json"), "[\n" + ",\n".join(rows) + "\n]\n")


@pytest.mark.parametrize("path", CASES)
def test_the_observations_fit_the_facts(path: Path) -> None:
    mine = [section for section in sections(path.read_text()) if section.kind in KINDS]
    observed = [o for section in mine for o in discover()[section.kind].parse(section).observations]
    job = merge(observed)
    assert len(job.fabrics) == sum(o.entity == "Fabric" for o in observed)
    for host in job.hosts:
        assert isinstance(host, Host)
        assert all(getattr(host, name) is not None for o in observed if o.entity == "Host" for name in o.fields)
    assert job.fabrics or job.hosts


RULES = """
table inet t {
    chain in { type filter hook input priority 0; policy drop; tcp dport 22 accept; ip saddr 10.0.0.0/8 jump more; }
    chain more { tcp dport 1-1023 reject; counter drop; }
    chain out { type filter hook output priority 0; policy accept; ip daddr 192.0.2.1 drop; }
}
"""


@pytest.mark.root
def test_what_the_real_nft_and_iptables_print(need: Callable[[str, object, str], None]) -> None:
    need("nft", shutil.which("nft") and shutil.which("iptables"), "nft and iptables are not installed")
    script = "nft -f - && iptables -P INPUT DROP && iptables -A INPUT -s 10.0.0.0/8 -j REJECT"
    tries = subprocess.run(
        ["unshare", "-n", "sh", "-c", f"{script} && nft list table inet t && iptables -S"],
        input=RULES.replace("; }", ";\n}"), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    need("nft", os.geteuid() == 0 and tries.returncode == 0, f"no packet filter of our own: {tries.stderr.strip()}")
    by_kind = {section.kind: section for section in sections(tries.stdout)}
    fields = {kind: discover()[kind].parse(by_kind[kind]).observations[0].fields for kind in ("nftables", "iptables")}
    assert fields == {
        "nftables": {"input_policy": "drop", "input_drops": 2}, "iptables": {"input_policy": "drop", "input_drops": 1},
    }  # fmt: skip
