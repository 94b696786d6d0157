"""Errors of the coordination service of JAX and TensorFlow: a line that says what is wrong, the tasks below it.

Format: openxla/xla xla/tsl/distributed_runtime/coordination/coordination_service.cc (CheckBarrierTimeout,
CheckHeartbeatTimeout, 2023 to 2026; until 2023 ``Barrier_id:``). A task is ``/job:jax_worker/replica:0/task:5``; at
most three are named. In JAX its number is the process, which has one GPU or all of its host.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "coordination"
COMMANDS: tuple[str, ...] = ()
INTERLEAVED = True  # other tasks write between the lines
EVENTS = {
    "coordination-start-timeout": {"tasks": "str", "joined": "int", "expected": "int", "barrier": "str"},
    "coordination-barrier-timeout": {"tasks": "str", "joined": "int", "expected": "int", "barrier": "str"},
    "coordination-tasks-lost": {"tasks": "str"},
}
ANCHOR = r".{0,400}?(?:Barrier timed out\. (?:Barrier_i|I)d: \S|tasks are unhealthy \(stopped sending heartbeats\):)"

_BARRIER = lazy_regex(r"Barrier timed out\. (?:Barrier_i|I)d: (?P<name>\S{1,200}?)(?:::\d{1,20})?\.?(?:\s|$)")
_REACHED = lazy_regex(r"# of tasks that reached the barrier: (?P<joined>\d{1,7})/(?P<expected>\d{1,7})")
_LOST = lazy_regex(r"tasks are unhealthy \(stopped sending heartbeats\):")
_TASK = lazy_regex(r"/job:[\w.-]{1,100}/replica:\d{1,7}/task:(?P<task>\d{1,7})\b")
_LATE = lazy_regex(r"[Tt]imed out task names:")
_ABOUT = lazy_regex(
    r"# of tasks that reached|The first task at the barrier"
    r"|.{0,120}?/job:[\w.-]{1,100}/replica:\d{1,7}/task:\d{1,7}\s*$"
)
_START = ("[Init]", "PjRT_Client_Connect", "WaitForAllTasks")
"""Barriers at which the tasks of a job first meet."""


def continues(lines: Sequence[str], line: str) -> bool:
    """How many came, who came first, and the tasks."""
    return _ABOUT.match(line) is not None


def parse(section: Section) -> Parsed:
    """One event with the tasks that are named."""
    whole = "\n".join(section.lines)
    barrier, reached = _BARRIER.search(whole), _REACHED.search(whole)
    fields: dict[str, str | int] = {}
    if barrier:
        late = _LATE.search(whole)
        tasks = _TASK.findall(whole, late.end()) if late else []
        fields["barrier"] = barrier["name"]
    elif _LOST.search(whole):
        tasks = _TASK.findall(whole)
    else:
        return Parsed(unread=tuple(range(len(section.lines))))
    if reached:
        fields |= {"joined": int(reached["joined"]), "expected": int(reached["expected"])}
    if tasks:
        fields["tasks"] = ", ".join(dict.fromkeys(tasks))
    name = "coordination-tasks-lost"
    if barrier:
        name = f"coordination-{'start' if barrier['name'].startswith(_START) else 'barrier'}-timeout"
    event = observe(
        section, 0, "Event", event=name, origin="rpc", kind="symptom" if barrier else "echo",
        text=section.lines[0].strip()[:400], order=section.number(0), count=1, fields=fields,
    )  # fmt: skip
    return Parsed(observations=(event,))
