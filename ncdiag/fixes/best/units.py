"""A drop-in that opens a unit of systemd to what NCCL needs, and leaves its other settings as they are."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Service
from ncdiag.facts.model.system import UNNAMED_UNIT
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.units import closed_by
from ncdiag.fixes.best.limits import what_ends
from ncdiag.fixes.values import Bindings, Value, best, bound

_UNIT = lazy_regex(r"[A-Za-z][\w.@-]{0,63}")
_OPENED = {
    "RestrictAddressFamilies": "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "PrivateNetwork": "PrivateNetwork=no", "PrivateDevices": "PrivateDevices=no",
}  # fmt: skip
"""The families of an assignment are added to those allowed before, or removed from those denied (systemd.exec(5))."""
_OF_GPUS = "DeviceAllow=char-nvidia* rw"
_OF_CARDS = "DeviceAllow=char-infiniband* rw\\nDeviceAllow=/dev/infiniband/rdma_cm rw"
"""Groups of /proc/devices; rdma_cm is in none of its own (systemd.resource-control(5))."""
_DROP_IN = (
    "sudo mkdir -p /etc/systemd/system/{unit}.service.d; printf '[Service]\\n{line}\\n' | "
    "sudo tee /etc/systemd/system/{unit}.service.d/zz-nccl.conf; sudo systemctl daemon-reload; "
    "sudo systemctl restart {unit}"
)
"""Drop-ins are read in the order of their names, whatever their folder: this one is read last."""


@best
def opened_unit(view: View, bindings: Bindings) -> Value:
    """The lines that undo the one setting of the unit that hides interfaces or devices."""
    unit = bound(bindings, Service)
    setting = closed_by(unit, view) if unit is not None else ""
    if unit is None or not setting or not (_UNIT.fullmatch(unit.name) or unit.name == UNNAMED_UNIT):
        return Value(reason="no setting of a unit was seen that hides something")
    text = _DROP_IN.format(unit=unit.name, line=_OPENED.get(setting) or _allowed(unit, view))
    return Value(text=text + what_ends([unit]), reason=f"{unit.name} sets {setting}")


def _allowed(unit: Service, view: View) -> str:
    """What a list of devices lacks; it stays a list."""
    return _OF_GPUS if view.events_on(unit.host, ["cuda-no-device"]) else _OF_CARDS
