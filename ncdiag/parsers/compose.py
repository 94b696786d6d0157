"""Compose files: the variables that each service is given, and the options of the container of one with GPUs.

``environment`` is a mapping or a list of ``NAME=VALUE``. In the list the whole item is a scalar of YAML, so that quotes
behind the ``=`` belong to the value; an item without ``=`` takes the value of the shell that starts it.

Source of the format: compose-spec 05-services.md (services, environment).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats.shell import is_variable, without_secrets
from ncdiag.formats.units import cpu_quantity, size_bytes
from ncdiag.formats.yaml import Node, load

KIND = "compose"
_FILES = ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml")
COMMANDS: tuple[str, ...] = ("docker compose config", "docker-compose config", *(f"cat {name}" for name in _FILES))
ANCHOR = r"services:[ \t]*(?:#.*)?$"

_TOP = lazy_regex(r"(?:version|name|services|networks|volumes|configs|secrets|include|x-[\w-]{1,60}):(?:\s|$)")
_LIMIT = 20_000


def continues(lines: Sequence[str], line: str) -> bool:
    """Indented lines, comments and the other keys of a compose file."""
    if len(lines) >= _LIMIT:
        return False
    return not line.strip() or line[0] in " \t#" or _TOP.match(line) is not None


def parse(section: Section) -> Parsed:
    """A setting for each variable of a service that has a value, a launch for each service with GPUs."""
    section = without_secrets(section)
    root, unread = load([line.expandtabs(4) for line in section.lines])
    found = [
        observe(section, line, "Setting", (name,), standing="manifest", is_set=True, text=value, origin="manifest")
        for service in root.pairs("services").values()
        for name, value, line in _variables(service)
        if is_variable(name)
    ]
    found += [
        observe(section, service.line, "Launch", program="docker compose", text=f"service {name}", **fields)
        for name, service in root.pairs("services").items()
        if (fields := dict(container(service))).get("gpus") is not None
    ]
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _variables(service: Node) -> Iterator[tuple[str, str, int]]:
    """Name, value and place of the variables of a service."""
    for item in service.items("environment"):
        name, equals, value = item.value.partition("=") if isinstance(item.value, str) else ("", "", "")
        if equals:
            yield name, value, item.line
    for name, node in service.pairs("environment").items():
        if isinstance(node.value, str) and node.value:
            yield name, node.value, node.line


def container(service: Node) -> Iterator[tuple[str, Any]]:
    """The fields of a Launch from a compose service."""
    yield "image", service.text("image")
    yield "ipc", service.text("ipc")
    yield "network", service.text("network_mode")
    yield "privileged", service.text("privileged") == "true"
    yield "cap_add", [str(item.value) for item in service.items("cap_add")]
    yield "devices", [str(item.value) for item in service.items("devices")]
    size = service.text("shm_size")
    yield "shm_size_bytes", size_bytes(size) if size else None
    limit = service.text("ulimits", "memlock") or service.text("ulimits", "memlock", "soft")
    yield "memlock", "unlimited" if limit == "-1" else limit
    yield "cpu_limit", cpu_quantity(service.text("cpus") or service.text("deploy", "resources", "limits", "cpus"))
    devices = service.items("deploy", "resources", "reservations", "devices")
    gpus = [item for item in devices if any(cap.value == "gpu" for cap in item.items("capabilities"))]
    counts = [item.text("count") for item in gpus]
    yield "gpus", (counts[0] or "all") if gpus else service.text("gpus") or _by_runtime(service)


def _by_runtime(service: Node) -> str | None:
    return "all" if service.text("runtime") == "nvidia" else None
