"""``docker inspect``: how a container was started, and how it ended, in the terms of ``docker run``.

Source of the format: moby api/types/container (Config, HostConfig, State); podman prints the same fields. ``ShmSize``
is in bytes, ``Soft`` of a limit -1 for unlimited; ``DeviceRequests`` with the capability ``gpu`` stand for ``--gpus``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ncdiag.formats import relaxed_json
from ncdiag.formats.shell import is_variable

_GPU = "gpu"


def containers(text: str) -> Iterator[Mapping[str, Any]]:
    """The objects that the command printed; those that were cut off are read as far as they go."""
    held = relaxed_json.loads(text).value
    for each in held if isinstance(held, list) else [held]:
        if isinstance(each, dict):
            yield each


def name_of(container: Mapping[str, Any]) -> str:
    """The name, without the slash in front of it."""
    return str(container.get("Name") or "").removeprefix("/")


def state(container: Mapping[str, Any]) -> tuple[int | None, bool]:
    """The exit code of one that ended, and whether the kernel ended it for its memory."""
    held = container.get("State")
    if not isinstance(held, dict) or held.get("Running") is True:
        return None, False
    code = held.get("ExitCode")
    return code if isinstance(code, int) else None, held.get("OOMKilled") is True


def launch(container: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a launch by ``docker run``; empty where its options are not shown."""
    host, config = _dict(container, "HostConfig"), _dict(container, "Config")
    if not host:
        return {}
    size, memlock = host.get("ShmSize"), _memlock(host)
    fields = {
        "shm_size_bytes": size if isinstance(size, int) and size > 0 else None,
        "ipc": host.get("IpcMode") or None, "network": host.get("NetworkMode") or None, "memlock": memlock,
        "privileged": host.get("Privileged") if isinstance(host.get("Privileged"), bool) else None,
        "cap_add": [str(cap).removeprefix("CAP_") for cap in host.get("CapAdd") or ()],
        "devices": [str(each.get("PathOnHost")) for each in host.get("Devices") or () if isinstance(each, dict)],
        "gpus": _gpus(host), "image": config.get("Image") or None, "env": dict(_variables(config)) or None,
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None}


def _dict(container: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    held = container.get(name)
    return held if isinstance(held, dict) else {}


def _memlock(host: Mapping[str, Any]) -> str | None:
    limits = (each for each in host.get("Ulimits") or () if isinstance(each, dict))
    soft = next((each.get("Soft") for each in limits if each.get("Name") == "memlock"), None)
    return None if soft is None else "unlimited" if soft == -1 else str(soft)


def _gpus(host: Mapping[str, Any]) -> str | None:
    """``all``, a number, or the ids, as ``--gpus`` takes them; None for a container without a request."""
    for each in host.get("DeviceRequests") or ():
        if isinstance(each, dict) and any(_GPU in group for group in each.get("Capabilities") or ()):
            count, ids = each.get("Count"), each.get("DeviceIDs") or ()
            return "all" if count == -1 else str(count) if count else ",".join(map(str, ids)) or None
    return None


def _variables(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for each in config.get("Env") or ():
        name, given, value = str(each).partition("=")
        if given and is_variable(name):
            yield name, value
