"""The first step about a failed TCP connection fits the reason that its line gives, in every class of reasons."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from ncdiag.base import toml
from ncdiag.diagnose import diagnose
from ncdiag.nccl import reasons
from ncdiag.text.sources.files import TextSource

_TABLE = Path(reasons.__file__).with_name("reasons.toml")
_GROUPS = {
    name: entry for name, entry in toml.loads(_TABLE.read_text(encoding="utf-8"))["reason"].items() if "tcp" in entry
}
_ERRORS = [(group, name) for group, entry in _GROUPS.items() for name in entry.get("errno", ())]
_FILTERS = ("firewall", "all ports", "nft ", "iptables")
_NEEDED = {
    "timed-out": "address", "refused": "earliest error", "unreachable": "ip route get", "reset": "other side",
    "denied": "forbids", "no-memory": "memory", "address-in-use": "ss -ltnp", "too-many-files": "limit",
    "limit-reached": "limit", "not-ready": "other side", "address-unusable": "local",
    "broken-handle": "before this line",
}  # fmt: skip
"""A word without which the first step about a reason misses the point."""


@pytest.mark.parametrize(("group", "name"), _ERRORS)
def test_the_first_step_is_about_the_reason(group: str, name: str) -> None:
    number = {number: found for number, found in reasons.errors().errno.items() if found.name == name}
    text = os.strerror(next(iter(number)))
    log = (
        "n1:100:200 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
        f"n1:100:200 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.0.2<45231> failed : {text}\n"
    )
    report = diagnose([TextSource.of_bytes("-", log.encode())])
    steps = [fix for finding in report.findings for fix in finding.fixes]
    assert steps
    first = msgspec.json.encode(steps[0]).decode()
    assert _NEEDED[group] in first.replace("Local", "local"), first
    if group in {"unreachable", "refused", "address-in-use", "address-unusable", "no-memory"}:
        assert not any(word in first.partition("?")[0] for word in _FILTERS), first
    if group == "not-ready":
        assert "limit" not in first
    assert not steps[0].text.startswith(("Open", "Allow"))


def test_every_group_of_the_table_is_asked() -> None:
    assert set(_GROUPS) - {"name-unknown"} == set(_NEEDED)
