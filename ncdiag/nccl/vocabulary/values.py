"""What the book of variables says about a value, wherever it was written."""

from __future__ import annotations

import shlex

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.nccl.judgement.values import Written, of_value
from ncdiag.nccl.judgement.verdict import ValueVerdict
from ncdiag.nccl.selection.names import NameList

_WRITTEN: dict[str | None, Written] = {"conf file": "conf", "shell": "shell", "launcher": "shell"}
"""How the text of a setting stands by its origin; others are as a process has them."""
_LATER = lazy_regex(r"[$`]|\{\{|<\w[^<>]{0,200}>|\.\.\.|\u2026|\*\*\*")
"""What stands for a value that is put in later: by a shell, a template or the reader, or that was hidden."""
_NEWEST = Version(2, 30, 7)
_DEVICES = {"NCCL_SOCKET_IFNAME": "interfaces", "NCCL_IB_HCA": "hcas"}
"""The field of a host with the devices that a list names."""


def value_verdict(setting: Setting, view: View) -> ValueVerdict | None:
    """What NCCL does not read as meant in the value of the setting; None where nothing is wrong or it is not set."""
    if not setting.is_set or setting.text is None or (setting.origin != "log echo" and _LATER.search(setting.text)):
        return None
    found = of_value(setting.name, setting.text, view.version(setting), _WRITTEN.get(setting.origin, "process"))
    return None if found is None or found.mild or _names_a_device(setting, found, view) else found


def _names_a_device(setting: Setting, found: ValueVerdict, view: View) -> bool:
    """True if a list that looks wrong names a device that a host has all the same."""
    version, field = view.version(setting), _DEVICES.get(setting.name)
    if found.fault != "of-another-kind" or field is None:
        return False
    names = NameList.parse(setting.text or "", version.low if version and version.known else _NEWEST)
    return any(names.matching(device.name) for host in view.job.hosts for device in getattr(host, field))


@derived
def is_misread(setting: Setting, view: View) -> bool | None:
    """True if the value does not mean what its writer must have thought; None when the release decides.

    A number that HCCL refuses is a fault of its own.
    """
    found = value_verdict(setting, view) if not is_refused_by_hccl(setting, view) else None
    return found.holds(view.version(setting)) if found is not None else False


@derived
def is_refused_by_hccl(setting: Setting, view: View) -> bool:
    """True if HCCL does not start with the number, which lies out of its range (EI0001)."""
    found = value_verdict(setting, view) if setting.name.startswith("HCCL_") else None
    return found is not None and found.fault == "out-of-range"


@derived
def misreading(setting: Setting, view: View) -> str:
    """``NCCL_IB_DISABLE=true: NCCL reads 0, the opposite of what was intended (1)``; nothing where all is right."""
    found = value_verdict(setting, view)
    return found.what if found is not None else ""


@derived
def meant_assignment(setting: Setting, view: View) -> str | None:
    """``NCCL_IB_DISABLE=1``: the assignment that was meant; None if that cannot be determined."""
    found = value_verdict(setting, view)
    return shlex.join([f"{setting.name}={found.right}"]) if found is not None and found.right is not None else None


@derived
def tells_what_was_meant(setting: Setting, view: View) -> bool:
    """True if the value that was meant can be told."""
    return meant_assignment(setting, view) is not None
