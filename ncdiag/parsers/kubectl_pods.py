"""``kubectl get pods``: which pods of a job run, and how often each was restarted.

Source of the format: Kubernetes pkg/printers/internalversion/printers.go (printPod: ``2 (3m9s ago)`` from 1.22 on).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "kubectl_pods"
EVENTS = {"pod-listed": {"pod_name": "str", "pod_status": "str", "restarts": "int", "containers": "int"}}
COMMANDS: tuple[str, ...] = ()  # kubectl get pods prints manifests as well (-o yaml); the head of the table is enough
ANCHOR = r"(?:NAMESPACE[ ]{2,80})?NAME[ ]{2,80}READY[ ]{2,20}STATUS[ ]{2,40}RESTARTS[ ]{2,40}AGE\b"

_HEAD = re.compile(ANCHOR)
_ROW = re.compile(
    r"(?:[a-z0-9][\w-]{0,62} {3,80})?(?P<name>[a-z0-9][\w.-]{0,252}) {3,80}"
    r"\d{1,3}/(?P<containers>\d{1,3}) {3,20}(?P<status>[A-Z][\w:-]{1,60})"
    r" {3,40}(?P<restarts>\d{1,6})(?: \([\w. ]{2,30} ago\))? {2,40}\w"
)
_LIMIT = 20_000


def continues(lines: Sequence[str], line: str) -> bool:
    """Rows of the table."""
    return len(lines) < _LIMIT and (_HEAD.match(line) is not None or _ROW.match(line) is not None)


def parse(section: Section) -> Parsed:
    """An event for each pod."""
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        row = _ROW.match(line)
        if row:
            fields = {
                "pod_name": row["name"], "pod_status": row["status"], "restarts": int(row["restarts"]),
                "containers": int(row["containers"]),
            }  # fmt: skip
            if row["status"] == "OOMKilled":
                found.append(
                    observe(
                        section, index, "Event", host=row["name"], event="container-oom-killed", origin="launcher",
                        kind="cause", text=line[:400].rstrip(), count=1, order=section.number(index),
                    )
                )  # fmt: skip
            found.append(
                observe(
                    section, index, "Event", event="pod-listed", origin="launcher", kind="fact",
                    text=line[:400].rstrip(), count=1, order=section.number(index), fields=fields,
                )
            )  # fmt: skip
        elif line.strip() and not _HEAD.match(line):
            unread.append(index)
    return Parsed(observations=tuple(found), unread=tuple(unread))
