"""Variables that a release does not read any more, and levels written as digits."""

from __future__ import annotations

from ncdiag.facts.model import Event, Job, Setting
from ncdiag.facts.view import View, derived, derived_of
from ncdiag.nccl import environment, paths

_LEVELS = ("NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL")


@derived
def was_removed(setting: Setting, view: View) -> bool | None:
    """Is it a variable that this release does not read any more? None when the release is not known well enough."""
    variable = environment.variables().get(setting.name)
    if variable is None or variable.until is None or variable.owner != environment.OURS:
        return False
    version = view.version(setting)
    read = None if version is None else version.less(variable.until)
    return None if read is None else not read


@derived
def replacement(setting: Setting, view: View) -> str:
    """``; NCCL_ALGO took its place`` or nothing."""
    variable = environment.variables().get(setting.name)
    return f"; {variable.renamed} took its place" if variable is not None and variable.renamed else ""


@derived
def hccl_env_faults(job: Job, view: View) -> tuple[Event, ...]:
    """What HCCL says of its variables, and settings whose number it is known not to take."""
    told = [event for event in job.events if event.event == "hccl-env-invalid"]
    return (*told, *(_out_of_range(s) for s in job.settings if not told and s.is_set and s.name.startswith("HCCL_")))


def _out_of_range(setting: Setting) -> Event:
    """An event whose text tells the range; empty where the value lies in it or has none."""
    variable = environment.variables().get(setting.name)
    text = ""
    if variable is not None and variable.bounds is not None and setting.number is not None:
        low, high = variable.bounds
        if not low <= setting.number <= high:
            text = f"{setting.name}={setting.text}, which takes {low} to {high}"
    return Event(
        event="hccl-env-invalid", origin="hccl", kind="cause", text=text, fields={"detail": text},
        provenance=setting.provenance,
    )  # fmt: skip


@derived_of("hccl-env-invalid")
def hccl_refuses(event: Event, view: View) -> bool:
    """Is there something to say of the variable?"""
    return bool(event.text)


@derived
def hccl_refused(event: Event, view: View) -> str:
    """The variable and why, in HCCL's words where it said so."""
    if "wanted_interface" in event.fields:
        return f"HCCL_SOCKET_IFNAME={event.fields['wanted_interface']} names no interface of the host"
    return str(event.fields.get("detail") or event.text)


@derived
def is_numeric_level(setting: Setting, view: View) -> bool:
    """A distance limit written as a digit other than 0, whose meaning changed with 2.6 (0 is LOC in all releases)."""
    text = (setting.text or "").strip()
    return setting.name in _LEVELS and text.isascii() and text.isdigit() and int(text) > 0


@derived
def level_word(setting: Setting, view: View) -> str | None:
    """The word for such a digit in this release; None when the releases that are possible do not agree."""
    return paths.parse_level(setting.text or "", view.version(setting))
