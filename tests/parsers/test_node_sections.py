"""What a node's own services say: clock, packet filter, NCCL's registry; read as data under fixtures/sections."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from specimens import FIXTURES, read, sections, specimens

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Host
from ncdiag.parsers import discover
from ncdiag.text.sections.cut import Cutter

KINDS = ("clock_sync", "iblinkinfo", "iptables", "nccl_params", "nftables", "ss")
CASES = specimens(*KINDS)


@pytest.mark.parametrize("path", CASES)
def test_the_observations_fit_the_facts(path: Path) -> None:
    mine = [section for section in sections(read(path)) if section.kind in KINDS]
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
        input=RULES.replace("; }", ";\n}"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    need("nft", os.geteuid() == 0 and tries.returncode == 0, f"no packet filter of our own: {tries.stderr.strip()}")
    by_kind = {section.kind: section for section in sections(tries.stdout.split("\n"))}
    fields = {kind: discover()[kind].parse(by_kind[kind]).observations[0].fields for kind in ("nftables", "iptables")}
    named = {"input_policy": "drop", "input_networks": ["10.0.0.0/8"]}
    chain = {key: value for key, value in fields["nftables"].items() if key == "input_chain"}
    assert fields == {
        "nftables": named | {"input_drops": 2, "input_filters": ["nft"]} | chain,
        "iptables": named | {"input_drops": 1, "input_filters": ["iptables"]},
    }
    assert all(text.startswith(("ip t ", "inet t ")) for text in chain.values())


@pytest.mark.root
def test_chains_of_a_service_mesh_in_what_the_real_tools_print(need: Callable[[str, object, str], None]) -> None:
    need("nft", shutil.which("nft") and shutil.which("iptables"), "nft and iptables are not installed")
    script = "iptables -t nat -N ISTIO_REDIRECT && iptables -t nat -A OUTPUT -p tcp -j ISTIO_REDIRECT"
    commands = ("iptables -t nat -S", "nft list ruleset")
    shown = " && ".join(f"echo 'root@w0:/# {command}' && {command}" for command in commands)
    tries = subprocess.run(
        ["unshare", "-n", "sh", "-c", f"{script} && {shown}"], capture_output=True, text=True, check=False
    )
    need("nft", os.geteuid() == 0 and tries.returncode == 0, f"no packet filter of our own: {tries.stderr.strip()}")
    found = {s.kind: discover()[s.kind].parse(s).observations[0].fields for s in sections(tries.stdout.split("\n"))}
    assert {kind: fields["mesh_chain"] for kind, fields in found.items()} == {
        "iptables": "ISTIO_REDIRECT", "nftables": "ISTIO_REDIRECT",
    }  # fmt: skip
    assert "input_policy" not in found["iptables"], "the INPUT of the table nat is no filter"


@pytest.mark.parametrize("above", range(1, 10))
def test_a_thread_that_logs_does_not_cut_the_registry(above: int) -> None:
    lines = read(FIXTURES / "nccl_params" / "dump.txt")
    cutter = Cutter("case.txt", discover())
    cutter.feed((number + (number > above), line) for number, line in enumerate(lines, 1))
    section = cutter.finish()[0]
    (found,) = discover()[section.kind].parse(section).observations
    names = [each["name"] for each in found.fields["nccl_parameters"]]
    assert names == [line.partition(" ")[0] for line in lines if line.startswith("NCCL_")]
