"""Sections of network tools: what is cut out of a paste and what is read from it, as data under fixtures/sections."""

from __future__ import annotations

from pathlib import Path

import pytest
from specimens import assert_reads_in_linear_time, parsed, read, sections, specimens
from tenth import tenth

from ncdiag.facts.merge import merge
from ncdiag.facts.observe import Observation

KINDS = (
    "bonding",
    "ibdev2netdev",
    "ibstat",
    "ibstatus",
    "ibv_devinfo",
    "interfaces",
    "mlnx_qos",
    "rdma_dev",
    "rdma_link",
    "routes",
    "show_gids",
)
CASES = specimens(*KINDS)


@pytest.mark.parametrize("path", CASES)
def test_cut_at_any_line_reads_a_part_of_the_same_entities(path: Path) -> None:
    lines = read(path)
    whole = {(o.entity, o.key) for s in sections(lines) for o in parsed(s).observations}
    names = {key[:2] for key in whole}
    for end in range(len(lines)):
        for section in sections(lines[:end]):
            for o in parsed(section).observations:
                assert (o.entity, o.key) in names or o.key == ("?",), end


@pytest.mark.parametrize("path", CASES)
def test_the_observations_fit_the_facts(path: Path) -> None:
    observations = [o for s in sections(read(path)) if s.kind in KINDS for o in parsed(s).observations]
    job = merge([_with_host(o, f"h{number}") for number, o in enumerate(observations)])
    hosts = {host.name: host for host in job.hosts}
    for number, o in enumerate(observations):
        if o.entity in {"Interface", "Route", "Hca", "Port"}:
            host = hosts[f"h{number}"]
            ports = [port for hca in host.hcas for port in hca.ports]
            fact = {"Interface": host.interfaces, "Route": host.routes, "Hca": host.hcas, "Port": ports}[o.entity][0]
            assert all(getattr(fact, name) is not None for name in o.fields), o


def _with_host(observation: Observation, host: str) -> Observation:
    return Observation(
        entity=observation.entity, span=observation.span, key=observation.key, host=host, fields=observation.fields
    )


PIECES = (
    " ",
    "\t",
    "0",
    "a ",
    "1 ",
    "fe80:",
    "{",
    "[",
    '[{"ifindex":',
    "inet 1.1.1.1/8 ",
    "mlx5_0 1 0 fe80:",
    "UP ",
    "prio:1 dscp:",
)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "start",
    [
        "",
        "1: lo: <UP>",
        "CA 'x'",
        "state:",
        "lo UP ",
        "GID[  0]:",
        "default via ",
        "link x/1 state ",
        "eth0: flags=1<UP> ",
    ],
)
def test_a_long_line_is_read_in_linear_time(kind: str, start: str) -> None:
    for piece in tenth(PIECES, lambda piece: f"{kind}/{start}{piece}"):
        assert_reads_in_linear_time(kind, start, piece)
