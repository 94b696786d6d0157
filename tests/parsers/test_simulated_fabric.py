"""The real ibstat, iblinkinfo and ibnetdiscover on a simulated InfiniBand fabric, before and after its subnet manager.

ibsim stands in for the hardware (umad2sim is loaded into the tools), opensm is the real subnet manager. All of it runs
in namespaces of its own and ends with them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ncdiag.facts.model import Fabric, Job
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.one import read_source
from ncdiag.text.sources.files import TextSource

NET = """
Switch 4 "leaf"
[1] "near"[1]
[2] "far"[1]

Hca 1 "near"
[1] "leaf"[1]

Hca 1 "far"
[1] "leaf"[2]

Hca 1 "alone"
"""
SCRIPT = """
mkfifo console
sleep 300 > console &
ibsim -s -n net < console > ibsim.log 2>&1 &
on() { host=$1; shift; SIM_HOST=$host timeout 60 ibsim-run "$@"; }
tries=0
until on near ibstat > /dev/null 2>&1; do
    tries=$((tries + 1)); [ $tries -gt 300 ] && { cat ibsim.log >&2; exit 9; }; sleep 0.1
done
on near ibstat > init.txt
on alone ibstat > down.txt
on near iblinkinfo > links-init.txt
OSM_TMP_DIR=. OSM_CACHE_DIR=. on near opensm -o -f ./osm.log > /dev/null 2>&1
on near ibstat > active.txt
on near iblinkinfo > links.txt
on near ibnetdiscover > fabric.txt
"""
TOOLS = ("ibsim", "ibsim-run", "opensm", "ibstat", "iblinkinfo", "ibnetdiscover", "unshare")


@pytest.fixture(scope="module")
def fabric(need: Callable[[str, object, str], None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the tools printed."""
    missing = [tool for tool in TOOLS if not shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")]
    need("ibsim", not missing, f"not installed: {', '.join(missing)} (ibsim-utils, opensm, infiniband-diags)")
    folder = tmp_path_factory.mktemp("fabric")
    (folder / "net").write_text(NET)
    done = subprocess.run(
        ["unshare", "-n", "-p", "-f", "--kill-child", "sh", "-c", SCRIPT], cwd=folder, capture_output=True, text=True,
        check=False, env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
    )  # fmt: skip
    need("ibsim", done.returncode == 0, f"no simulated fabric here: {done.stderr.strip()[-300:]}")
    return folder


def facts(path: Path, command: str) -> Job:
    text = f"[root@near ~]# {command}\n{path.read_text()}[root@near ~]# exit\n"
    reading = read_source(TextSource.of_bytes(path.name, text.encode()))
    assert [piece.kind for piece in reading.pieces] == [command]
    assert reading.unread_lines <= 2, "prompts alone are left over"
    return job_of([reading])


@pytest.mark.parametrize(
    ("file", "state", "physical", "lid", "sm_lid"),
    [("init", "init", "LinkUp", 0, 0), ("down", "down", "Polling", 0, 0), ("active", "active", "LinkUp", 1, 1)],
)
def test_the_port_as_ibstat_shows_it(file: str, state: str, physical: str, lid: int, sm_lid: int, fabric: Path) -> None:
    [host] = facts(fabric / f"{file}.txt", "ibstat").hosts
    [port] = host.hcas[0].ports
    assert (port.state, port.physical_state, port.lid, port.sm_lid) == (state, physical, lid, sm_lid)
    assert (port.link_layer, host.hcas[0].name) == ("InfiniBand", "ibsim0")


def links(found: Fabric, kind: str) -> dict[tuple[str | None, int], Any]:
    return {(node.name, link.port): link for node in found.nodes if node.kind == kind for link in node.links}


def test_the_links_as_iblinkinfo_shows_them(fabric: Path) -> None:
    [before] = facts(fabric / "links-init.txt", "iblinkinfo").fabrics
    [after] = facts(fabric / "links.txt", "iblinkinfo").fabrics
    for found, state in ((before, "init"), (after, "active")):
        ports = links(found, "switch")
        assert {number: ports["leaf", number].state for number in range(1, 5)} == {
            1: state,
            2: state,
            3: "down",
            4: "down",
        }
        assert (ports["leaf", 2].peer_name, ports["leaf", 2].width, ports["leaf", 2].speed) == ("far", 4, "SDR")
        assert ports["leaf", 3].peer_name is None
        assert ports["leaf", 1].could_be, "the simulator's links are slower than they could be"


def test_both_tools_see_the_same_fabric(fabric: Path) -> None:
    [by_links] = facts(fabric / "links.txt", "iblinkinfo").fabrics
    [discovered] = facts(fabric / "fabric.txt", "ibnetdiscover").fabrics
    linked = {place: link for place, link in links(by_links, "switch").items() if link.peer_name}
    told = links(discovered, "switch")
    assert {place: (link.peer_name, link.peer_lid, link.width, link.speed) for place, link in linked.items()} == {
        place: (link.peer_name, link.peer_lid, link.width, link.speed) for place, link in told.items()
    }
    assert {node.name for node in by_links.nodes} == {node.name for node in discovered.nodes} == {"leaf", "near", "far"}


@pytest.mark.parametrize(
    ("file", "cause"), [("init", "ib-sm-not-running"), ("down", "ib-port-not-active"), ("active", None)]
)
def test_what_is_said_of_it(
    file: str, cause: str | None, fabric: Path, ncdiag: Callable[..., subprocess.CompletedProcess[bytes]]
) -> None:
    report = json.loads(ncdiag("triage", fabric / f"{file}.txt", "--format", "json").stdout)
    assert report["summary"]["root_cause"] == cause
