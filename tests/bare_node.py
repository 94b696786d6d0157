"""What the tests of looks at a node without ncdiag share: secrets to plant, and what two looks have in common."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ncdiag.machine.host import Machine
from ncdiag.text.reading.job import job_of

Run = Callable[..., subprocess.CompletedProcess[bytes]]
Need = Callable[[str, object, str], None]
SECRET = "s3cr3tValue9"  # noqa: S105  (planted)
SECRETS = {"NCCL_API_TOKEN": SECRET, "NCCL_NET_PLUGIN": f"x --password {SECRET}", "OMPI_MCA_u": f"tcp://kim:{SECRET}@h"}
TIMES = {"listening_ports", "mounts", "provenance", "gpus", "complete", "oom_kills", "cpu_throttled", "examined_at"}
"""Fields of a host that change between two looks, or that take NVML."""


def _text(value: Any) -> str:  # noqa: ANN401
    return msgspec.json.encode(value).decode()


def facts_of(seen: Machine) -> dict[str, Any]:
    """What two looks at this machine have in common."""
    job = json.loads(_text(job_of(seen.readings(), seen.observations())))
    (host,) = job["hosts"]
    told = {name: _plain(value) for name, value in host.items() if name not in TIMES}
    told["routes"] = sorted(_text(route) for route in told.get("routes", ()))
    told["settings"] = [(setting["name"], setting["text"]) for setting in job.get("settings", ())]
    return told


def differing(told: dict[str, Any], looks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What was told and none of the looks before and after saw: a machine changes while it is looked at."""
    return {
        name: told.get(name) for name in {*told, *looks[0]} if all(told.get(name) != look.get(name) for look in looks)
    }


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Without the places that it was read from, and without what counts up."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if name not in {"provenance", "counters"}}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def check_settings(settings: list[tuple[str, str]]) -> None:
    """What was set is told, without secrets."""
    assert ("NCCL_SOCKET_IFNAME", "^docker") in settings
    assert "NCCL_API_TOKEN" not in dict(settings)
    assert SECRET not in repr(settings)
