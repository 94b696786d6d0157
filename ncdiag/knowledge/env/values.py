"""Values that NCCL does not read as intended, or that override a better choice of NCCL."""

from __future__ import annotations

from typing import Literal

from ncdiag.base.products import product_of
from ncdiag.facts.derived import derived, derived_for, derived_of
from ncdiag.facts.model import Event, Host, Job, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import CODES, has_failed
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.rdma import expects_rdma
from ncdiag.nccl.judgement.names import of_name
from ncdiag.nccl.judgement.verdict import NameFault, NameVerdict
from ncdiag.nccl.vocabulary.accepted import product_in
from ncdiag.nccl.vocabulary.levels import p2p_setting
from ncdiag.nccl.vocabulary.peer_access import has_no_nvlink
from ncdiag.nccl.vocabulary.values import root_address_problem, value_verdict


@derived
def has_info_lines(job: Job, view: View) -> bool:
    """Does the input contain lines of NCCL at level INFO?"""
    if any(e.level == "INFO" and e.origin in {"nccl", "rccl"} for e in job.events):
        return True
    return any(r.state or r.net or r.bootstrap_interface or r.transports or r.settings for r in job.ranks)


@derived_of(*CODES)
def tells_code_only(event: Event, view: View) -> bool:
    """Is the event a return code of NCCL without a reason?"""
    return True


_RAS_SINCE = Version(2, 24)


@derived_of("bootstrap-address-invalid")
def concerns_comm_id(event: Event, view: View) -> bool | None:
    """Is the address that NCCL cannot parse that of NCCL_COMM_ID? None where it may be that of the RAS service.

    Since 2.24 NCCL reads NCCL_RAS_ADDR, or localhost, with the same function and continues without it
    (src/ras/client_support.cc); for an invalid NCCL_COMM_ID all releases print a separate line.
    """
    if "NCCL_COMM_ID" in event.text:
        return True
    version = view.version(event)
    if version is not None and version.less(_RAS_SINCE):
        return True
    setting = view.setting(view.host(event.host) or view.job, "NCCL_COMM_ID")
    return False if setting is not None and setting.is_set is False else None


@derived
def fails_without_known_rdma(job: Job, view: View) -> bool:
    """Did the job fail, where nothing indicates an RDMA network?

    Variables that only cost speed, which many scripts set without need, do not cause that.
    """
    return bool(has_failed(job, view)) and not expects_rdma(job, view)


@derived_for("NCCL_IB_DISABLE", "NCCL_NET")
def keeps_slow_job_on_sockets(setting: Setting, view: View) -> bool:
    """Does the variable exclude RDMA from a job on several hosts that people call slow, where no input shows RDMA?

    Never unknown: what proves or excludes RDMA belongs to other rules.
    """
    off = (setting.name == "NCCL_IB_DISABLE" and bool(setting.number)) or (
        setting.name == "NCCL_NET" and setting.effective == "Socket"
    )
    slow = next((each for each in view.job.complaints if each.what == "slow"), None) if off else None
    if slow is None or expects_rdma(view.job, view) is not None:
        return False
    view.note(slow)
    several = is_multi_host(view.job, view)
    return several is True or (several is None and any(each.scope == "multi-host" for each in view.job.complaints))


@derived
def loads_topology(job: Job, view: View) -> bool | None:
    """Does a variable make NCCL load a topology or a graph from a file?"""
    found = [view.setting(job, name) for name in ("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE")]
    if any(s is not None and s.is_set for s in found):
        return True
    return False if all(s is not None and s.is_set is False for s in found) else None


@derived
def refused_setting(host: Host, view: View) -> str | None:
    """A variable whose value the installed NCCL library does not accept: ``NCCL_SET_THREAD_NAME=maybe``.

    The library's registry holds the default for it. Empty when it accepts all; None without a registry, or when it is
    unknown whether a variable with its default was set.
    """
    if host.nccl_parameters is None:
        return None
    left = {p.name: view.setting(host, p.name) for p in host.nccl_parameters if p.set_by == "Default"}
    for name, setting in left.items():
        if setting is not None and setting.is_set and setting.text:
            view.note(host, "nccl_parameters")
            view.note(setting)
            return f"{name}={setting.text}"
    return None if None in left.values() else ""


_SHOWN = 2
_LARGEST_DEFAULT = 20
"""The default of NCCL_IB_TIMEOUT since 2.23 (NCCL_PARAM of transport/net_ib); older releases have a smaller one."""
_WITHOUT_EFFECT = frozenset({"removed", "too-new"})


def _name(setting: Setting, view: View) -> NameVerdict | None:
    return of_name(setting.name, view.version(setting)) if setting.is_set else None


@derived
def misread_why(setting: Setting, view: View) -> str:
    """Additional information about a value that is misread, such as the valid words."""
    found = value_verdict(setting, view)
    return found.why if found is not None else ""


@derived
def name_fault(setting: Setting, view: View) -> NameFault | Literal[""]:
    """The kind of problem with the name of the variable; empty where there is none."""
    found = _name(setting, view)
    return found.fault if found is not None else ""


@derived
def is_without_effect(setting: Setting, view: View) -> bool | None:
    """Does this release no longer, or not yet, read the variable? None when the release is not known."""
    found = _name(setting, view)
    return found.holds(view.version(setting)) if found is not None and found.fault in _WITHOUT_EFFECT else False


@derived
def forwards_without_effect(job: Job, view: View) -> bool:
    """Does a launch line forward, by name, a variable that the job's NCCL release does not read?"""
    for launch in job.launches:
        for name in launch.forwarded:
            if is_without_effect(Setting(name=name, host=launch.host, is_set=True), view):
                view.note(launch)
                return True
    return False


@derived
def is_deprecated(setting: Setting, view: View) -> bool | None:
    """Does another variable replace this one in this release? None when the release is not known."""
    found = _name(setting, view)
    return found.holds(view.version(setting)) if found is not None and found.fault == "deprecated" else False


@derived
def name_problem(setting: Setting, view: View) -> str:
    """The problem with the name: ``NCCL knows no variable NCCL_PROTOS: ...; did you mean NCCL_PROTO?``.

    Empty if right.
    """
    found = _name(setting, view)
    return found.what if found is not None else ""


@derived
def replacement(setting: Setting, view: View) -> str:
    """The variable to use instead, ``; set NCCL_PROTO instead``, where it is known; else empty."""
    found = _name(setting, view)
    return f"; set {' or '.join(found.near[:_SHOWN])} instead" if found is not None and found.near else ""


@derived
def p2p_variable(setting: Setting, view: View) -> str:
    """The variable that switches peer access off; empty where it is not known which of the two does."""
    found = p2p_setting(setting, view)
    return found.name if found is not None else ""


_STREAMS = ("/dev/stdout", "/dev/stderr", "stdout", "stderr")


@derived_for("NCCL_IB_TIMEOUT")
def is_short_timeout(setting: Setting, view: View) -> bool | None:
    """Is NCCL_IB_TIMEOUT below this release's default? 0 means no timeout at all."""
    if setting.number is None:
        return None
    if not isinstance(setting.default, int):
        return False if setting.number >= _LARGEST_DEFAULT else None
    return 0 < setting.number < setting.default


@derived_for("NCCL_DEBUG_FILE")
def is_shared_file(setting: Setting, view: View) -> bool:
    """Is it NCCL_DEBUG_FILE without a placeholder, so that all ranks write the same file?"""
    text = (setting.text or "").strip()
    return bool(text) and text not in _STREAMS and "%p" not in text and "%h" not in text


@derived_for("NCCL_PROTO")
def forces_ll128(setting: Setting, view: View) -> bool:
    """Does NCCL_PROTO list LL128 (a list after ``^`` excludes)?"""
    text = (setting.text or "").strip()
    if text.startswith("^"):
        return False
    words = text.replace(";", ",").replace(":", ",").split(",")
    return "LL128" in {word.strip().upper() for word in words}


@derived
def offers_peer_access(job: Job, view: View) -> bool | None:
    """Does the driver offer peer access? False for GPUs of one model without it over PCIe.

    None where that is unknown.
    """
    product = product_in(view)
    return product.peer if product is not None else None


@derived
def comm_id_problem(setting: Setting, view: View) -> str:
    """Why NCCL cannot use the value of NCCL_COMM_ID: ``is a list``, ``names no port``; empty if it can.

    Also empty for other variables.
    """
    return root_address_problem(setting) if setting.name == "NCCL_COMM_ID" else ""


@derived
def names_gpus_without_nvlink(job: Job, view: View) -> bool:
    """Is a GPU of the job of a model without NVLink? If none is: does the text name GPUs, and all of such models?"""
    held = next((gpu for host in job.hosts for gpu in host.gpus if has_no_nvlink(gpu, view)), None)
    named = [context for context in job.contexts if context.kind == "gpu-model" and context.told]
    models = [product_of(context.value.upper()) for context in named]
    found = held or (named[0] if named and all(model and model.nvlink is False for model in models) else None)
    if found is not None:
        view.note(found)
    return found is not None
