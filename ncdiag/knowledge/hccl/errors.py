"""HCCL's errors, with lines read together: which peer did not connect, and which device failed first."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import Event, Job, Setting
from ncdiag.facts.view import View
from ncdiag.nccl.vocabulary.values import is_refused_by_hccl, misreading

_CODE = lazy_regex(r"\bEI\d{4}\b")
_CODES = {
    "hccl-socket-timeout": "EI0006", "hccl-ranks-missing": "EI0015", "hccl-params-mismatch": "EI0005",
    "hccl-roce-error": "EI0013", "hccl-cluster-exception": "EI0013", "hccl-exec-timeout": "EI0002",
}  # fmt: skip
"""The code of an event whose log line contains none."""
_NUMBER = lazy_regex(r"\d{1,7}")
_RANK_IDS = lazy_regex(r"\[(\d{16})\]")
_AGENTS = lazy_regex(r"Failed to connect agent\[([\d, ]{1,200})")
_AWAITED = lazy_regex(r"(?:[Rr]emote rank:? ?\[|Waiting peer (?:rank|end): ?\[?)(\d{1,7})\b")
_PEER = lazy_regex(
    r"Peer information: server (?P<server>[\w.:-]{1,64}), device ID (?P<id>\d{1,4}), device IP (?P<ip>[\w.:]{2,45})"
)
_PARAMETER = lazy_regex(
    r"parameter ?\[(?P<name>[^\]]{1,60})\], local ?\[(?P<here>[^\]]{0,60})\], remote ?\[(?P<there>[^\]]{0,60})\]"
)
_MOST_RANKS = 1 << 17


@derived
def hccl_code(event: Event, view: View) -> str:
    """The code of an HCCL error as printed: ``EI0006``."""
    found = _CODE.search(event.text)
    return found[0] if found else _CODES.get(event.event, "no code")


@derived
def hccl_awaited(event: Event, view: View) -> str:
    """The missing peer, from all lines of the job: ``rank 9``, ``10.3.0.2 (rank 1)``, or ``a peer`` if unknown."""
    missing = _missing(view.job)
    if missing:
        return _named(missing)
    for other in view.job.events:
        if other.event == "hccl-link-error":
            view.note(other)
            if "peer_device" in other.fields:
                return f"device {other.fields['peer_device']} of {other.fields.get('peer_address')}"
            return f"{other.fields.get('peer_address')} (rank {other.fields.get('peer_rank')})"
    return "a peer"


def _missing(job: Job) -> set[int]:
    """The ranks that HCCL reports as not connected, or that its complete list of connected ranks lacks."""
    told: set[int] = set()
    connected: set[int] = set()
    expected = 0
    for event in job.events:
        if event.event == "hccl-connected-ranks":
            connected |= {int(number) for number in _RANK_IDS.findall(str(event.fields.get("connected_ranks", "")))}
            expected = int(event.fields.get("expected") or expected)
        elif event.event in {"hccl-ranks-missing", "hccl-socket-timeout"}:
            agents = _AGENTS.search(event.text)
            told |= {int(number) for number in _NUMBER.findall(agents[1])} if agents else set()
    if told or not connected:
        return told
    return set(range(min(expected or max(connected) + 1, _MOST_RANKS))) - connected


@derived
def hccl_waiting(event: Event, view: View) -> str:
    """The rank that a timed-out collective waited for, `` for rank 3``; empty if the line names none."""
    found = _AWAITED.search(event.text)
    return f" for rank {found[1]}" if found else ""


@derived
def hccl_peer(event: Event, view: View) -> str:
    """The target of a transfer, `` to device 1 (29.10.0.2) of 10.3.0.2``; empty if no line shows it."""
    for other in (event, *view.job.events):
        found = _PEER.search(other.text) if other.event == "hccl-roce-error" else None
        if found:
            return f" to device {found['id']} ({found['ip'].rstrip('.')}) of {found['server']}"
    for other in view.job.events:
        if is_roce_failure(other, view) and other.fields.get("location"):
            return f" to {_place(other)}"
    return ""


@derived_of("hccl-roce-error", "hccl-cluster-exception")
def is_roce_failure(event: Event, view: View) -> bool:
    """Did a transfer between NPUs get no answer, by its own line or by HCCL's heartbeats?"""
    return event.event == "hccl-roce-error" or "cqe" in str(event.fields.get("exception")).lower()


@derived
def first_device(event: Event, view: View) -> str:
    """The device that failed first, with the error: ``device 3 of 10.3.0.2 (Heartbeat Lost)``."""
    return f"{_place(event)} ({event.fields.get('exception')})"


def _place(event: Event) -> str:
    """The location in HCCL's line: an address and a device."""
    address, _, device = str(event.fields.get("location")).rpartition("/")
    return f"device {device} of {address}" if address else device


@derived
def hccl_difference(event: Event, view: View) -> str:
    """The differing values, ``: count 16512 and 8320``, as far as shown; combined from lines that each give a part."""
    found = _PARAMETER.search(event.text)
    if found:
        return f": {found['name']} {found['here']} and {found['there']}"
    told = {
        e.fields["parameter"]: (str(e.fields.get("local_value")), str(e.fields.get("remote_value")))
        for e in view.job.events if e.event == "hccl-params-mismatch" and "parameter" in e.fields
    }  # fmt: skip
    if "tag" in told:  # the name of the operation, then that of the communicator
        here, there = (tag.partition("_")[0] for tag in told["tag"])
        if here != there:
            return f": {here} and {there}"
    return "".join(f": {name} {here} and {there}" for name, (here, there) in list(told.items())[:1])


def _named(ranks: set[int]) -> str:
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {fold_ranks(ranks)}"


@derived
def hccl_env_faults(job: Job, view: View) -> tuple[Event, ...]:
    """HCCL's messages about its variables, and settings whose value it is known to reject."""
    told = [event for event in job.events if event.event == "hccl-env-invalid"]
    return (*told, *(_judged(s, view) for s in job.settings if not told and s.name.startswith("HCCL_")))


def _judged(setting: Setting, view: View) -> Event:
    """An event whose text describes the problem with the value; the text is empty without one."""
    text = misreading(setting, view) if is_refused_by_hccl(setting, view) else ""
    return Event(
        event="hccl-env-invalid", origin="hccl", kind="cause", text=text, fields={"detail": text},
        provenance=setting.provenance,
    )  # fmt: skip


@derived_of("hccl-env-invalid")
def hccl_refuses(event: Event, view: View) -> bool:
    """Is there a problem with the HCCL variable?"""
    return bool(event.text)
