"""The name that the operating system gives itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ncdiag.facts.model import Host
from ncdiag.machine.sysfs_host import kernel
from ncdiag.machine.tree import Tree

Write = Callable[[Path, Mapping[str, str | bytes]], Tree]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.2 LTS"\n', "Ubuntu 24.04.2 LTS"),
        ("PRETTY_NAME='Rocky Linux 9.4 (Blue Onyx)'\n", "Rocky Linux 9.4 (Blue Onyx)"),
        ("NAME=Arch\n", None),
        ("PRETTY_NAME=\n", None),
        (b"\xff\xfe\x00", None),
    ],
)
def test_it_is_read_from_os_release(
    text: str | bytes, name: str | None, tmp_path: Path, write: Write, host_of: Callable[..., Host]
) -> None:
    tree = write(tmp_path, {"etc/os-release": text, "proc/sys/vm/nr_hugepages": "512\n"})
    host = host_of([*kernel(tree)])
    assert host.os_release == name
    assert host.sysctls == {"vm.nr_hugepages": "512"}
