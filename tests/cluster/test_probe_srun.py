"""`ncdiag probe --via srun` in a real Slurm: three nodes on one machine, in namespaces that end with the test."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import slurm_node

LEFT = """
tries=0
while ps ax | grep -q 'base64.b64[d]ecode'; do
    tries=$((tries + 1)); [ $tries -gt 60 ] && { echo "an agent was left" >&2; exit 8; }; sleep 0.5
done
"""


@pytest.mark.root
def test_the_nodes_of_slurm_try_each_other(
    need: Callable[[str, object, str], None], program: list[str], tmp_path: Path
) -> None:
    need("slurm", slurm_node.is_here(), slurm_node.LACKING)
    probe = [*program, "probe", "--nodes", "n[1-3]", "--via", "srun", "--save", "x.txt", "--fail-on", "never"]
    script = f"ip link set e1 up; {shlex.join(probe)} || exit $?\n{LEFT}"
    done = slurm_node.run(script, tmp_path, os.environ, nodes="n1 n2 n3")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "probe of 3 hosts: 3 took part" in done.stderr
    tried = [line for line in (tmp_path / "x.txt").read_text().splitlines() if " -> " in line and " port " not in line]
    assert len(tried) == 6
    assert all("256 KiB both ways" in line for line in tried)
