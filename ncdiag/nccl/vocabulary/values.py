"""What the table of variables says about a value, wherever it was set."""

from __future__ import annotations

import shlex

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.capabilities import has_amd_gpus
from ncdiag.nccl.judgement.values import Written, of_value
from ncdiag.nccl.judgement.verdict import ValueVerdict
from ncdiag.nccl.selection.names import NameList

_WRITTEN: dict[str | None, Written] = {"conf file": "conf", "shell": "shell", "launcher": "shell"}
"""How the text of a setting is written, by its origin; for others as the process gets it."""
_LATER = lazy_regex(r"[$`]|\{\{|<\w[^<>]{0,200}>|\.\.\.|\u2026|\*\*\*")
"""Placeholders for a value that a shell, a template or the reader fills in, or that was redacted."""
_NEWEST = Version(2, 30, 7)
_DEVICES = {"NCCL_SOCKET_IFNAME": "interfaces", "NCCL_IB_HCA": "hcas"}
"""The field of a host with the devices that a list names, by variable."""

_CHANNELS = frozenset({"NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS", "NCCL_MAX_CTAS"})
_RCCL_CHANNELS = 128
"""MAXCHANNELS of RCCL's src/include/device.h; AMD advises 112 for MI300X."""
_OF_AMD = ("HSA_", "HIP_", "ROCR_", "RCCL_", "PYTORCH_ROCM_")
"""Prefixes of variables that only AMD's runtime and libraries read."""
_OF_SCHEDULERS = "_VISIBLE_DEVICES"
"""The suffix of variables that Slurm sets for all vendors on any machine (gres.conf, Flags): they do not show AMD."""


def value_verdict(setting: Setting, view: View) -> ValueVerdict | None:
    """The problem with how NCCL reads the value of the setting; None where there is none or it is not set."""
    if not setting.is_set or setting.text is None or (setting.origin != "log echo" and _LATER.search(setting.text)):
        return None
    found = of_value(setting.name, setting.text, view.version(setting), _WRITTEN.get(setting.origin, "process"))
    if found is None or found.mild or _names_a_device(setting, found, view) or _fits_rccl(setting, found, view):
        return None
    return found


def _fits_rccl(setting: Setting, found: ValueVerdict, view: View) -> bool:
    """Is it a number of channels that exceeds NCCL's limit but not RCCL's (128), in a job on AMD GPUs?"""
    text = setting.text or ""
    if found.fault != "out-of-range" or setting.name not in _CHANNELS or not text.isdecimal():
        return False
    return int(text) <= _RCCL_CHANNELS and view.remembered(("AMD's GPUs",), lambda: _runs_on_amd(view))


def _runs_on_amd(view: View) -> bool:
    """Has the job GPUs of AMD: by their names, by its library, or by variables that nothing else reads?"""
    own = (each.name for each in view.job.settings if not each.name.endswith(_OF_SCHEDULERS))
    is_set = any(name.startswith(_OF_AMD) for name in own)
    return is_set or has_amd_gpus(view.job, view) or any(rank.library == "RCCL" for rank in view.job.ranks)


def _names_a_device(setting: Setting, found: ValueVerdict, view: View) -> bool:
    """Does a list that looks wrong name a device that a host nevertheless has?"""
    version, field = view.version(setting), _DEVICES.get(setting.name)
    if found.fault != "of-another-kind" or field is None:
        return False
    names = NameList.parse(setting.text or "", version.low if version and version.known else _NEWEST)
    return any(names.matching(device.name) for host in view.job.hosts for device in getattr(host, field))


@derived
def is_misread(setting: Setting, view: View) -> bool | None:
    """Does NCCL read the value differently from what its writer must have intended? None when the release decides.

    False for a number that HCCL rejects, which is a separate fault.
    """
    found = value_verdict(setting, view) if not is_refused_by_hccl(setting, view) else None
    return found.holds(view.version(setting)) if found is not None else False


@derived
def is_refused_by_hccl(setting: Setting, view: View) -> bool:
    """Does HCCL refuse to start with this number, which is out of its range (EI0001)?"""
    found = value_verdict(setting, view) if setting.name.startswith("HCCL_") else None
    return found is not None and found.fault == "out-of-range"


@derived
def misreading(setting: Setting, view: View) -> str:
    """The problem in words, ``NCCL_IB_DISABLE=true: NCCL reads 0, the opposite of what was intended (1)``.

    Empty without.
    """
    found = value_verdict(setting, view)
    return found.what if found is not None else ""


@derived
def meant_assignment(setting: Setting, view: View) -> str | None:
    """The assignment that was intended, ``NCCL_IB_DISABLE=1``; None if that cannot be determined."""
    found = value_verdict(setting, view)
    return shlex.join([f"{setting.name}={found.right}"]) if found is not None and found.right is not None else None


@derived
def tells_what_was_meant(setting: Setting, view: View) -> bool:
    """Is it known which value was intended?"""
    return meant_assignment(setting, view) is not None


_WITH_PORT = lazy_regex(r"(?:\[[^\s\]]+\]|[^\s:,\[]+):\d{1,5}(?:[,\s]|$)")
_UNKNOWN = lazy_regex(r"[$`<{]|:(?i:\w*port\w*|x+|n+|y+)$")


def root_address_problem(setting: Setting) -> str:
    """Why NCCL cannot use this address of its root: ``is a list``, ``names no port``; empty if it can, or may."""
    text = (setting.text or "").strip().strip("\"'")
    if not setting.is_set or not text or _UNKNOWN.search(text):
        return ""
    if _WITH_PORT.match(text):  # NCCL takes the first address of a list
        return ""
    return "is a list" if len(text.split()) > 1 else "names no port"
