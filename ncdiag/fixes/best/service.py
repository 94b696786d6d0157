"""Commands with which a scheduler starts no job on a faulty host, or restarts it once its jobs have ended.

Sources: scontrol(1) (``update``, ``reboot ASAP nextstate= reason=``, which needs RebootProgram), kubectl cordon.
"""

from __future__ import annotations

from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import unfold_hosts
from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.out_of_service import NODE_OUT
from ncdiag.facts.vocabulary.platforms import SLURM, platforms
from ncdiag.fixes.values import Bindings, Value, best

_SAFE = lazy_regex(r"[A-Za-z0-9][\w.-]{0,200}")


@best
def drain(view: View, bindings: Bindings) -> Value:
    """The command that keeps new jobs from the host of a fault; jobs that run there go on."""
    host, what = _host(bindings), _what(bindings)
    if not host:
        return Value(reason="the host of the fault was not seen")
    shown = platforms(view.job, view)
    if SLURM in shown:
        if host in _out(view):
            return Value(reason=f"Slurm keeps jobs from {host} already")
        text = f'sudo scontrol update NodeName={host} State=DRAIN Reason="{what}"'
        return Value(text=text, reason="running jobs go on, and no new one starts")
    if POD in shown and any(node.name == host for node in view.job.cluster_nodes):
        return Value(text=f"kubectl cordon {host}", reason="running pods go on, and no new one starts")
    return Value(reason="no scheduler was seen")


@best
def restart_when_free(view: View, bindings: Bindings) -> Value:
    """The command that restarts the host of a fault after its jobs: Slurm's, else that of the host itself."""
    host = _host(bindings)
    if host and SLURM in platforms(view.job, view):
        text = f'sudo scontrol reboot ASAP nextstate=RESUME reason="{_what(bindings)}" {host}   # after its jobs'
        return Value(text=text, reason="Slurm starts no job there and restarts the host when it is free")
    return Value(text="sudo reboot", reason="no scheduler was seen", ask_for=("the launch command",))


def _host(bindings: Bindings) -> str:
    """The only host of the bound facts that can be written into a command; empty without one."""
    names = {name for fact in bindings.values() if (name := _host_of(fact)) not in {None, "", UNNAMED}}
    name = names.pop() if len(names) == 1 else None
    return name if name is not None and _SAFE.fullmatch(name) else ""


def _host_of(fact: Any) -> str | None:  # noqa: ANN401
    return fact.name if isinstance(fact, Host) else getattr(fact, "host", None)


def _what(bindings: Bindings) -> str:
    """The fault in words that need no quotes: those of the event's name."""
    event = next((fact for fact in bindings.values() if isinstance(fact, Event)), None)
    return (event.event if event is not None else "hardware-fault").replace("-", " ")


def _out(view: View) -> set[str]:
    """The nodes that the scheduler has taken out of service."""
    listed = (str(event.fields.get("node_list") or "") for event in view.job.events if event.event == NODE_OUT)
    return {name for nodes in listed for name in unfold_hosts(nodes)}
