"""Diagnose what a real library prints, apply the fix that is proposed, and see the library take it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from namespaces import Namespace

from ncdiag.diagnose import diagnose
from ncdiag.nccl import library
from ncdiag.text.sources.files import TextSource

pytestmark = pytest.mark.lab


def test_the_veth_is_found_in_the_real_log_and_the_fix_cures_it(
    namespace: Callable[[], Namespace], nccl_library: Path
) -> None:
    space = namespace()
    space.build(
        ("veth5a3f1c2", "veth", "up", ("10.244.1.1/24",)),
        ("bond0", "bridge", "up", ("192.168.77.5/24",)),
    )
    before = library.ask(nccl_library, {"NCCL_DEBUG": "INFO"}, inside=space.inside)
    assert before.interface == "veth5a3f1c2"

    listing = subprocess.run(
        [*space.inside, "ip", "addr"], check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    ).stdout
    host = before.log.split(":", 1)[0].splitlines()[-1]
    paste = f"[root@{host} ~]# ip addr\n{listing}[root@{host} ~]# ./job\n{before.log}"
    report = diagnose([TextSource.of_bytes("paste", paste.encode())])
    assert report.answers[0] == "socket-virtual-ifname"
    fix = next(fix for fix in report.findings[0].fixes if "NCCL_SOCKET_IFNAME" in fix.env)
    assert fix.proof is not None
    assert fix.proof.state == "proved"

    value = fix.env["NCCL_SOCKET_IFNAME"]
    assert value is not None
    after = library.ask(nccl_library, {"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": value}, inside=space.inside)
    assert after.interface == "bond0"
