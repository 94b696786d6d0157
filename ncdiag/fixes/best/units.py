"""A drop-in that opens a unit of systemd to what NCCL needs, and leaves its other settings as they are."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Service
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.units import closed_by
from ncdiag.fixes.values import Bindings, Value, best, bound

_UNIT = lazy_regex(r"[A-Za-z][\w.@-]{0,63}")
_OPENED = {
    "RestrictAddressFamilies": "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "PrivateNetwork": "PrivateNetwork=no", "PrivateDevices": "PrivateDevices=no", "DevicePolicy": "DevicePolicy=auto",
}  # fmt: skip
"""The families of an assignment are added to those allowed before, or removed from those denied (systemd.exec(5))."""
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
    if unit is None or setting not in _OPENED or not _UNIT.fullmatch(unit.name):
        return Value(reason="no setting of a unit was seen that hides something")
    text = _DROP_IN.format(unit=unit.name, line=_OPENED[setting])
    return Value(text=text, reason=f"{unit.name} sets {setting}")
