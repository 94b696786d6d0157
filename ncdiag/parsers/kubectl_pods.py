"""``kubectl get pods``: which pods of a job run, and how often each was restarted.

Source of the format: Kubernetes pkg/printers/internalversion/printers.go (printPod: ``2 (3m9s ago)`` from 1.22 on).
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "kubectl_pods"
EVENTS = {"pod-listed": {"pod_name": "str", "pod_status": "str", "restarts": "int", "containers": "int"}}
COMMANDS: tuple[str, ...] = ()  # kubectl get pods prints manifests as well (-o yaml); the head of the table is enough
ANCHOR = r"(?:NAMESPACE[ ]{2,80})?NAME[ ]{2,80}READY[ ]{2,20}STATUS[ ]{2,40}RESTARTS[ ]{2,40}AGE\b"

_ROW = (
    r"(?:[a-z0-9][\w-]{0,62} {3,80})?(?P<name>[a-z0-9][\w.-]{0,252}) {3,80}"
    r"\d{1,3}/(?P<containers>\d{1,3}) {3,20}(?P<status>[A-Z][\w:-]{1,60})"
    r" {3,40}(?P<restarts>\d{1,6})(?: \([\w. ]{2,30} ago\))? {2,40}\w"
)
_LIMIT = 20_000


class _Pods(Reading):
    """An event for each pod, and one more for a container that the kernel killed for its memory."""

    def pod(self, row: re.Match[str]) -> None:
        """One a line."""
        fields = {
            "pod_name": row["name"], "pod_status": row["status"], "restarts": int(row["restarts"]),
            "containers": int(row["containers"]),
        }  # fmt: skip
        if row["status"] == "OOMKilled":
            self._event("container-oom-killed", "cause", host=row["name"])
        self._event("pod-listed", "fact", fields=fields)

    def _event(self, event: str, kind: str, **more: Any) -> None:  # noqa: ANN401
        self.observe(
            "Event", event=event, origin="launcher", kind=kind, text=self.line[:400].rstrip(), count=1,
            order=self.section.number(self.index), **more,
        )  # fmt: skip


ROWS = Rows(_Pods, Row(_ROW, _Pods.pod), Row(ANCHOR), most=_LIMIT)
