"""The rendezvous of the ranks: address and port."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event, Launch
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import STORE_UNREACHED
from ncdiag.facts.vocabulary.late_hosts import late_seconds
from ncdiag.facts.vocabulary.launches import SLURM_PROGRAMS
from ncdiag.facts.vocabulary.listeners import is_foreign
from ncdiag.facts.vocabulary.platforms import SLURM, platforms
from ncdiag.facts.vocabulary.split_places import split_variable
from ncdiag.facts.vocabulary.usual import platform
from ncdiag.fixes.values import Bindings, Value, best, bound
from ncdiag.nccl.on_host import seen

_PORT = 29500
"""PyTorch's default port (torch/distributed/run.py)."""
_JOIN = 600
"""Seconds for which hosts wait for others to join by default (torch dynamic_rendezvous.py, RendezvousTimeout)."""
_BACKEND = lazy_regex(r"--rdzv[-_]backend[=\s]+['\"]?(?P<kind>[\w-]{1,20})")
_KEYS = {"c10d": "join_timeout", "etcd-v2": "join_timeout", "etcd": "timeout"}
_CONF = lazy_regex(
    r"--rdzv[-_]conf[=\s]+['\"]?(?P<keys>[A-Za-z_]\w*=[\w.-]+(?:,[A-Za-z_]\w*=[\w.-]+)*)(?=['\"]?(?:\s|$))"
)
_STEP = 17
_HIGHEST = 32_000
"""Below the ports that the kernel assigns automatically (net.ipv4.ip_local_port_range begins at 32768)."""

_FIRST = 'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
_FIRST_OF_SLURM = f"{_FIRST} in the batch script"
"""Task 0 runs on the first host of the list unless the distribution is arbitrary (Slurm, srun --distribution)."""
_LINE_OF_SLURM = f"{_FIRST}   # in the batch script, before srun: not in what each task runs"


@best
def other_port(view: View, bindings: Bindings) -> Value:
    """A port for MASTER_PORT other than the one that is taken."""
    event, setting = bound(bindings, Event), view.setting(view.job, "MASTER_PORT")
    told = str(event.fields.get("port") or event.fields.get("local_address") or "") if event is not None else ""
    text = told.rpartition(":")[2] or (setting.text if setting is not None else "") or ""
    taken = int(text) if text.isdecimal() and len(text) < len("65536") + 1 else _PORT
    port = taken + _STEP if taken + _STEP < _HIGHEST else _PORT + _STEP
    return Value(text=str(port), reason=f"a port other than {taken}", ask_for=("ss -ltn (on the host of rank 0)",))


@best
def master_address(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The address of rank 0's host that other hosts can reach, for MASTER_ADDR (PyTorch, torchrun)."""
    if (met := _answering(view)) is not None:
        return met
    first = next((rank.host for rank in view.job.ranks if rank.rank == 0), None) or _listening(view)
    if first is None:
        if any(launch.program in SLURM_PROGRAMS for launch in view.job.launches) or "slurm" in platform(view.job, view):
            return Value(reason=f"under Slurm it is the first host of the job: {_FIRST_OF_SLURM}")
        return Value(reason="the host of rank 0 was not seen", ask_for=("NCCL_DEBUG=INFO output of rank 0",))
    held = seen.interfaces(first, view)
    wanted = _named_interfaces(view)
    for interface in sorted(held.interfaces, key=lambda each: each.name not in wanted):
        address = seen.address(interface, view)
        if address is not None and seen.suits(interface, view, held.interfaces):
            found = interface.provenance.get("addresses") or interface.provenance.get("")
            reason = f"the address of {interface.name} on {first}, the host of rank 0"
            return Value(text=address.ip, reason=reason, spans=(found,) if found else ())
    reason = f"no address of {first}, the host of rank 0, was seen that other hosts can reach"
    return Value(reason=reason, ask_for=(f"ip addr (on {first})",))


def _ports(view: View) -> set[int]:
    """The ports of the rendezvous: those that are set, and those at which a process waited for it."""
    setting = view.setting(view.job, "MASTER_PORT")
    texts = [setting.text if setting is not None else None, *(launch.master_port for launch in view.job.launches)]
    tried = (each.fields.get("port") for each in view.job.events if each.event in STORE_UNREACHED)
    return {int(text) for each in (*texts, *tried) if (text := str(each)).isdecimal()}


def _answering(view: View) -> Value | None:
    """The only address at which the port of the rendezvous answered another host."""
    ports = _ports(view)
    tries = [each for each in view.job.events if each.event == "port-tried" and each.fields.get("port") in ports]
    answers = [each for each in tries if each.fields.get("answer") == "answers"]
    found = {str(ip) for each in answers if (ip := ip_address(str(each.fields.get("address")))) and not ip.is_loopback}
    if len(found) != 1:
        return None
    span = answers[0].provenance.get("")
    return Value(text=found.pop(), reason="the port of the rendezvous answers there", spans=(span,) if span else ())


def _listening(view: View) -> str | None:
    """The only host on which a process listens on the port of the rendezvous, which others cannot reach.

    A program that no job is made of does not count: it has taken the port.
    """
    ports = _ports(view)
    names = [
        host.name for host in view.job.hosts
        if any(port in ports and not is_foreign(port, host) for port in host.listening_ports or ())
    ]  # fmt: skip
    return names[0] if len(names) == 1 and any(each.event in STORE_UNREACHED for each in view.job.events) else None


def _named_interfaces(view: View) -> set[str]:
    """The interfaces that the job names for its own connections."""
    settings = (view.setting(view.job, name) for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"))
    return {name.lstrip("=") for setting in settings if setting and setting.text for name in setting.text.split(",")}


@best
def master_of_slurm(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The line of a batch script that names the first host of a job of Slurm to all of its tasks."""
    if SLURM not in platforms(view.job, view):
        return Value(reason="no Slurm was seen")
    return Value(text=_LINE_OF_SLURM, reason="task 0 runs on the first host of the job's list")


@best
def first_address(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The line of the shell that keeps the first of the addresses in the variable that the launch uses."""
    name = split_variable(view)
    if not name:
        return Value(reason="the variable that holds the address was not seen")
    text = f"{name}=${{{name}%% *}}   # before the launch line: the first of its addresses alone"
    return Value(text=text, reason="the shell splits its value at the blank")


@best
def join_timeout(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The option of torchrun with which hosts wait at the rendezvous for twice the time that the late one took.

    The key of c10d and etcd-v2 is join_timeout (torch dynamic_rendezvous.py, _get_timeout), that of etcd is timeout
    (etcd_rendezvous.py, create_rdzv_handler).
    """
    late = late_seconds(view.job, view)
    if not late:
        return Value(reason="no host was seen to come late")
    texts = [launch.text for launch in view.job.launches]
    kinds = {found["kind"] for text in texts for found in _BACKEND.finditer(text)} or {"c10d"}
    keys = {_KEYS.get(kind) for kind in kinds}
    key = keys.pop() if len(keys) == 1 else None
    if key is None:
        return Value(reason="the back end of the rendezvous is another")
    seconds = max(_JOIN * 2, -(-late * 2 // _JOIN) * _JOIN)
    held = {found["keys"] for text in texts for found in _CONF.finditer(text)}
    if len(held) > 1 or any(
        text.count("rdzv_conf") + text.count("rdzv-conf") and not _CONF.search(text) for text in texts
    ):
        return Value(reason=f"the keys of --rdzv_conf differ: add {key}={seconds} to those of each host")
    others = [each for each in (held.pop() if held else "").split(",") if each and not each.startswith(f"{key}=")]
    is_own = any(each.startswith("is_host=") for each in others)
    where = "on every host" + ("; is_host stays as it is on each" if is_own else "")
    text = f"--rdzv_conf={','.join([*others, f'{key}={seconds}'])}   # option of torchrun {where}"
    return Value(text=text, reason=f"twice the {late} s for which an image was pulled, in steps of the default")


@best
def bare_master_address(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """MASTER_ADDR as it is set, without the brackets of a URL: ``fd00::1`` for ``[fd00::1]``."""
    setting = view.setting(view.job, "MASTER_ADDR")
    launches: list[Launch] = [one for one in view.job.launches if one.master_addr]
    text = (setting.text if setting is not None else None) or next((one.master_addr for one in launches), None) or ""
    bare = text.removeprefix("[").removesuffix("]")
    if bare == text or ip_address(bare) is None:
        return Value(reason="no address in brackets was seen", ask_for=("env (inside the job)",))
    return Value(text=bare, reason="the address that is set, without brackets")
