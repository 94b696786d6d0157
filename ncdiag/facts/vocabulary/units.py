"""Units of systemd that hide interfaces or devices from the processes that they start.

Sources: systemd.exec(5), systemd.resource-control(5); getifaddrs(3), with which NCCL lists interfaces, needs netlink.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Service
from ncdiag.facts.view import View

_NO_INTERFACE = ("no-socket-interface",)
_NO_DEVICE = ("cuda-no-device", "ib-no-device", "verbs-no-device", "rdma-no-device")
_TRUE = frozenset({"yes", "true", "on", "1"})
_RUNS_JOBS = lazy_regex(
    r"(?:^|[/\s])(?:slurmd|slurmstepd|dockerd?|containerd|crio|podman|pbs_mom|condor_(?:startd|master)|sge_execd|nomad|k3s"
    r"|rke2|ray|torchrun|mpirun|mpiexec|accelerate|deepspeed|horovodrun|vllm"
    r"|sglang|tritonserver|trtllm-\w+|lmdeploy|text-generation-launcher)\b|--(?:world[-_]size|nproc[-_]per[-_]node"
    r"|tensor[-_]parallel[-_]size|tp[-_]size|num[-_]gpus|tp)[ =]|\s-m\s+torch\.distributed"
    r"|(?i:(?<!s)train|\bfit|(?<!r)tune|\bsft|ddp|fsdp|nccl)[\w.-]{0,60}\.(?:py|sh)\b|_perf\b"
)
"""Names, and programs of ``ExecStart``, of units that start jobs: others are closed by their distribution, for good."""
_NETLINK = "AF_NETLINK"


@derived
def closed_by(service: Service, view: View) -> str | None:
    """The setting of the unit that hides what NCCL did not find on the host; empty: none, or nothing is missing.

    None if the settings of the unit were not shown.
    """
    held = service.sandbox
    if held is None:
        return None
    if service.active is False or not any(map(_RUNS_JOBS.search, (service.name, service.runs or ""))):
        return ""
    found = ""
    if view.events_on(service.host, _NO_INTERFACE):
        found = _of_interfaces(held)
    if not found and view.events_on(service.host, _NO_DEVICE):
        found = _of_devices(held)
    if found:
        view.note(service, "sandbox")
    return found


def _of_interfaces(held: dict[str, str]) -> str:
    if held.get("PrivateNetwork", "").lower() in _TRUE:
        return "PrivateNetwork"
    families = held.get("RestrictAddressFamilies", "").split()
    if not families or families == ["none"]:
        return "RestrictAddressFamilies" if families else ""
    is_denied = families[0].startswith("~")
    return "RestrictAddressFamilies" if is_denied == (_NETLINK in (word.lstrip("~") for word in families)) else ""


def _of_devices(held: dict[str, str]) -> str:
    if held.get("PrivateDevices", "").lower() in _TRUE:
        return "PrivateDevices"
    allowed = held.get("DeviceAllow", "")
    is_closed = held.get("DevicePolicy", "").lower() in {"closed", "strict"}
    return "DevicePolicy" if is_closed and "nvidia" not in allowed and "infiniband" not in allowed else ""
