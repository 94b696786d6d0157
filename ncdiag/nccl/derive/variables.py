"""What HCCL refuses of its environment."""

from __future__ import annotations

from ncdiag.facts.model import Event, Job, Setting
from ncdiag.facts.view import View, derived, derived_of


@derived
def hccl_env_faults(job: Job, view: View) -> tuple[Event, ...]:
    """What HCCL says of its variables, and settings whose value it is known not to take."""
    told = [event for event in job.events if event.event == "hccl-env-invalid"]
    return (*told, *(_judged(s, view) for s in job.settings if not told and s.name.startswith("HCCL_")))


def _judged(setting: Setting, view: View) -> Event:
    """An event whose text tells what is wrong with the value, which is empty where nothing is."""
    text = view.get(setting, "misreading") if view.get(setting, "is_refused_by_hccl") else ""
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
