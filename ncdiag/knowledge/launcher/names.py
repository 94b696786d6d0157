"""Host names: unresolvable ones, ones that are read as numbers, and ones that MPI truncates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from ipaddress import IPv4Address

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import FAILURES, Event, Host, Job, Launch
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS, POD
from ncdiag.facts.vocabulary.told import told_context

_RENDEZVOUS, _NAME, _OWN = "c10d-name-unresolved", "name-unresolved", "own-name-unresolved"
_STORE_LOST = "torch-rdzv-store-lost"
_NAMED = ("placeholder", "hidden_host")
_POD_NAME = r"(?i).*\.(?:svc|pod)(?:\..*)?|[a-z0-9-]+-(?:master|worker|chief|launcher)-\d+(?:\..+)?"
"""Names in the DNS of a cluster, and names that Kubernetes operators give to the replicas of a job."""
_REPLICA = r".*-\d+"
"""Names of replicas, which Kubernetes numbers."""
_KUBERNETES = "kubernetes"
_PRIVATE = r"(?i).*\.(?:local|localdomain|lan|internal|intranet|private|home|corp|cluster|lab|hpc|svc|test)"
"""Domain suffixes that no public name has."""
_BY_SSH, _FORGE = "ssh:", r"(?:^|\.)(?:github|gitlab|bitbucket|huggingface|hf)\."
"""What launchers reach by ssh is a host of the job; git reaches the others."""
_ALWAYS = "localhost"
_DEBIAN = "127.0.1."
"""The network in which installers of Debian and Ubuntu put a host's own name."""
_SHORTEST = 4
"""The least number of letters of a name that is compared with another one."""


def _own_zone(address: object) -> bool:
    """Is it an address in 0.0.0.0/8 other than 0.0.0.0? No packet is sent there.

    A short number is read as such a one.
    """
    found = ip_address(str(address or ""))
    return isinstance(found, IPv4Address) and 0 < int(found) < 1 << 24


def number_as_address(name: str) -> str:
    """The address that inet_aton makes of a name of digits, ``0.0.0.104`` for ``104``; empty for other names.

    A leading zero makes the number octal (glibc resolv/inet_addr.c), so that ``08`` is not an address.
    """
    octal = name.startswith("0") and len(name) > 1
    if not re.fullmatch(r"0[0-7]{1,11}" if octal else r"[0-9]{1,10}", name):
        return ""
    number = int(name, 8 if octal else 10)
    return str(IPv4Address(number)) if 0 < number < 1 << 32 else ""


def _launched_names(job: Job) -> Iterator[tuple[str, Launch]]:
    """The names of hosts on launch lines, in host files, and as the master."""
    for launch in job.launches:
        for name in [*(host.name for host in launch.hosts), launch.master_addr or ""]:
            yield name, launch


@derived
def numeric_names(job: Job, view: View) -> tuple[Event, ...]:
    """Signs that a host name of digits was read as an address: a failure, or the address of the master."""
    found = [event for event in job.events if event.kind in FAILURES and any(map(_own_zone, _addresses(event)))]
    for launch in job.launches:
        address = number_as_address(launch.master_addr or "")
        if address:
            text = f"{launch.master_addr}, the name of the master, is read as the address {address}"
            found.append(Event(event=_NAME, origin="launcher", kind="cause", text=text, provenance=launch.provenance))
    return tuple(found)


@derived
def has_numeric_host(job: Job, view: View) -> bool:
    """Does a launch line have a host whose name consists of digits?"""
    return any(number_as_address(name) for name, _ in _launched_names(job))


def _addresses(event: Event) -> Iterator[str]:
    for name in ("peer_host", "local_address", "address"):
        yield str(event.fields.get(name, "")).partition("<")[0]
    yield (event.peer or "").partition("<")[0]
    if event.event in {"ssh-unreachable", "c10d-connect-timeout"}:
        yield number_as_address(str(event.fields.get("peer_host", "")))


@derived
def numeric_text(event: Event, view: View) -> str:
    """The sign as a sentence: ``The address 0.0.0.104 is what the name 104 is read as``, or one about a launch line."""
    address = next((found for found in _addresses(event) if _own_zone(found)), "")
    return f"{address} is a host's name of digits, read as a number, and not an address" if address else event.text


def _looked_up(event: Event, view: View) -> str:
    """The name that has no address.

    For the bare error of a lookup in Python, the only master that launches name, if the rendezvous there failed.
    """
    name = str(event.fields.get("peer_host") or "")
    if name or not _is_of_meeting(event, view):
        return name
    masters = {launch.master_addr for launch in view.job.launches if launch.master_addr}
    return masters.pop() if len(masters) == 1 else ""


def _is_of_meeting(event: Event, view: View) -> bool:
    """Is it a lookup in Python that names nothing, in a job whose rendezvous failed?"""
    is_bare = event.event == _RENDEZVOUS and event.fields.keys().isdisjoint({"peer_host", *_NAMED})
    return is_bare and bool(view.events_named(_STORE_LOST))


@derived_of(_RENDEZVOUS, _NAME, _OWN)
def is_unresolved_host(event: Event, view: View) -> bool | None:
    """Does the name of a host of the job have no address? None for a name that may not be a host of the job.

    A public DNS name that is on no launch line belongs to a download. An address needs no lookup: PyTorch asks for its
    IPv6 form as well, which fails. Nor is it a name if a start-up file of the shell printed it.
    """
    name = _looked_up(event, view).rstrip(".")
    if event.event == _OWN:
        return True
    printed = event.event == _RENDEZVOUS and any(e.event == "meeting-place-unread" for e in view.job.events)
    if ip_address(name) is not None or is_no_name(event, view) or printed:
        return False
    if event.text.startswith(_BY_SSH):
        return re.search(_FORGE, name) is None
    if "." not in name:
        return name != "" or (None if _is_of_meeting(event, view) else False)
    if event.event == _RENDEZVOUS or re.fullmatch(_PRIVATE, name) or re.fullmatch(_POD_NAME, name):
        return True
    known = {told for told, _ in _launched_names(view.job)} | {host.name for host in view.job.hosts}
    return True if name in known or name.partition(".")[0] in known else None


_UNFILLED = r"(?i)[$`{].*|<.*|(?:your|my)[_-].*|x{3,}.*"


@derived_of(_RENDEZVOUS, _NAME)
def is_no_name(event: Event, view: View) -> bool:
    """Was a placeholder or a variable looked up, for which nobody put in a name?"""
    name = str(event.fields.get("peer_host") or "")
    return "placeholder" in event.fields or re.fullmatch(_UNFILLED, name) is not None


@derived_of(_RENDEZVOUS, _NAME, _OWN)
def is_cluster_name(event: Event, view: View) -> bool:
    """Is the name one that Kubernetes assigns, by its form or by what the input says about the job?"""
    return re.fullmatch(_POD_NAME, str(event.fields.get("peer_host", ""))) is not None or is_in_pods(event, view)


@derived
def is_in_pods(event: Event, view: View) -> bool:
    """Does the input say that the job runs in Kubernetes?"""
    return _KUBERNETES in told_context(view.job, view) or any(launch.program == POD for launch in view.job.launches)


@derived
def unresolved_text(event: Event, view: View) -> str:
    """The name that has no address, ``The name n2``; ``A host's own name`` where a host looked itself up."""
    name = _looked_up(event, view) or str(event.fields.get("hidden_host") or "")
    return f"The name {name}" if name else "A host's own name"


@derived
def name_to_resolve(event: Event, view: View) -> str:
    """The name that has no address as a word for a shell; ``<name>`` if it is not known or has other characters."""
    name = _looked_up(event, view) or str(event.fields.get("hidden_host") or "")
    return name if re.fullmatch(r"[A-Za-z0-9][\w.-]{0,252}", name) else "<name>"


@derived
def alike_name(event: Event, view: View) -> str:
    """The known host name of which the name that did not resolve is a misspelt or shortened form; empty if none.

    ``localhost`` for ``localhos``, ``gpu-node3`` for ``gpu-nodd3``. Names that differ in a digit are two hosts', and a
    name without its domain is the same one.
    """
    name = str(event.fields.get("peer_host", "")).rstrip(".")
    known = dict.fromkeys(
        [_ALWAYS, *(host for host, _ in _launched_names(view.job)), *(h.name for h in view.job.hosts)]
    )
    if len(name) < _SHORTEST or name in known or any(host.partition(".")[0] == name for host in known):
        return ""
    return next((host for host in known if _is_misspelt(name, host)), "")


def _is_misspelt(name: str, host: str) -> bool:
    """Does one character, which is not a digit, make the difference: lacking, added, another one, or two exchanged?"""
    if min(len(name), len(host)) < _SHORTEST or abs(len(name) - len(host)) > 1 or name == host:
        return False
    start = next((at for at in range(min(len(name), len(host))) if name[at] != host[at]), min(len(name), len(host)))
    one, other = name[start:], host[start:]
    if len(one) == len(other):
        swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
        return (one[1:] == other[1:] or swapped) and not re.search(r"\d", one[0] + other[0])
    longer, shorter = max(one, other, key=len), min(one, other, key=len)
    return longer[1:] == shorter and not longer[0].isdigit()


_KEEPS = ("orte_keep_fqdn_hostnames", "prte_keep_fqdn_hostnames", "keep_fqdn_hostnames")
_OFF = frozenset({"0", "f", "false", "no", "off", "disabled"})
_SSH, _HOSTFILE = "ssh-unreachable", "hostfile"


def _keeps_names(job: Job) -> bool:
    """Is Open MPI configured to keep the part of a name after its first dot?"""
    for launch in job.launches:
        given = {**launch.mca, **launch.env, **launch.prefix_env}
        for name, value in given.items():
            if name.endswith(_KEEPS) and value.lower() not in _OFF:
                return True
    return any(setting.name.endswith(_KEEPS) and (setting.text or "").lower() not in _OFF for setting in job.settings)


@derived
def cut_names(job: Job, view: View) -> str | None:
    """The effect of Open MPI cutting host names after the first dot; empty for none, None if not known.

    For example ``node.rack1 and node.rack2 become one host, node``. Addresses are not cut
    (orte/util/hostfile/hostfile.c, prte: src/util/hostfile/hostfile.c).
    """
    dotted = [(name, launch) for name, launch in _launched_names(job) if _is_mpis(launch, job) and _is_dotted(name)]
    if not dotted:
        return "" if any(_is_mpis(launch, job) and launch.hosts for launch in job.launches) else None
    if _keeps_names(job):
        return ""
    by_label: dict[str, dict[str, Launch]] = defaultdict(dict)
    for name, launch in dotted:
        by_label[name.partition(".")[0]][name] = launch
    for label, names in by_label.items():
        if len(names) > 1:
            first, second, *_ = names
            view.note(names[first])
            return f"{first} and {second} become one host, {label}"
    missed = {str(e.fields.get("peer_host")): e for e in job.events if e.event in {_SSH, _NAME} and _unresolved(e)}
    for label, names in by_label.items():
        if label in missed:
            view.note(missed[label])
            return f"{next(iter(names))} becomes {label}, a name without an address"
    return ""


def _unresolved(event: Event) -> bool:
    return event.event == _NAME or "resolve" in event.text


def _is_mpis(launch: Launch, job: Job) -> bool:
    """Is it a line of Open MPI's launcher, or a host file used with one?"""
    if launch.program == _HOSTFILE:
        return any(other.program.endswith(MPI_PROGRAMS) for other in job.launches)
    return launch.program.endswith(MPI_PROGRAMS)


def _is_dotted(name: str) -> bool:
    return "." in name and ip_address(name) is None


@derived
def names_twice(job: Job, view: View) -> str:
    """A name that several hosts use for themselves, ``n1 (n1, n1#2)``; empty for none."""
    first: dict[str, Host] = {}
    for host in job.hosts:
        other = first.setdefault(host.called or host.name, host)
        if other is not host and host.called is not None:
            view.note(other, "called")
            view.note(host, "called")
            return f"{host.called} ({other.name}, {host.name})"
    return _announced_apart(job, view)


def _announced_apart(job: Job, view: View) -> str:
    """A name whose processes announce several IPv4 addresses of one interface; empty for none.

    NCCL takes the first address of an interface (src/misc/socket.cc), so that they are of several hosts. A replica of
    Kubernetes gets another address each time it starts.
    """
    chosen = {(rank.host, rank.bootstrap_interface.name) for rank in job.ranks if rank.bootstrap_interface is not None}
    for host in job.hosts:
        if "interfaces" in host.complete or re.fullmatch(_REPLICA, host.name):
            continue
        for interface in host.interfaces:
            ips = [a.ip for a in interface.addresses or () if isinstance(ip_address(a.ip), IPv4Address)]
            if len(ips) > 1 and (host.name, interface.name) in chosen:
                view.note(interface, "addresses")
                return f"{host.name} ({' and '.join(ips[:2])} on {interface.name})"
    return ""


@derived_of("name-resolved")
def misleads(event: Event, view: View) -> bool:
    """Does a name to which the ranks connect resolve to the loopback interface of the host that looked it up?

    Debian's 127.0.1.1 alone is harmless; it counts if a process failed to reach that name, or MASTER_ADDR has it.
    """
    address = ip_address(str(event.fields.get("address") or ""))
    name = str(event.fields.get("host_name") or "")
    if address is None or not address.is_loopback or name.startswith(("localhost", "ip6-")):
        return False
    short = name.partition(".")[0]
    for other in view.job.events:
        if other.kind in FAILURES and short in {
            str(n).partition(".")[0] for n in (other.peer, other.fields.get("peer_host"))
        }:
            view.note(other)
            return True
    return any(s.name == "MASTER_ADDR" and (s.text or "").partition(".")[0] == short for s in view.job.settings)


@derived_of("name-resolved")
def is_own_loopback(event: Event, view: View) -> bool:
    """Does a host find a loopback address, such as Debian's 127.0.1.1, for its own name, which programs announce?"""
    address = ip_address(str(event.fields.get("address") or ""))
    short = str(event.fields.get("host_name") or "").partition(".")[0]
    if address is None or not address.is_loopback or short.startswith(("localhost", "ip6-")):
        return False
    own = {host.name.partition(".")[0] for host in view.job.hosts if event.host in {None, host.name}}
    return short in own or short == "" or _DEBIAN in str(address)
