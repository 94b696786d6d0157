"""``kubectl get pods``: which pods of a job run, and how often each was restarted.

Source of the format: Kubernetes pkg/printers/internalversion/printers.go (printPod: ``2 (3m9s ago)`` from 1.22 on).
Where a page or a chat folded the blanks, single ones separate the columns.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "kubectl_pods"
EVENTS = {
    "pod-listed": {"pod_name": "str", "pod_status": "str", "restarts": "int", "containers": "int", "pod_age": "int"},
}
COMMANDS: tuple[str, ...] = ()  # kubectl get pods prints manifests as well (-o yaml); the head of the table is enough
_HEAD = r"(?:NAMESPACE[ ]{1,80})?NAME[ ]{1,80}READY[ ]{1,20}STATUS[ ]{1,40}RESTARTS[ ]{1,40}AGE\b"
_NOT_RUNNING = (
    "Pending", "ContainerCreating", "PodInitializing", "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull",
    "OOMKilled", "CreateContainerConfigError", "CreateContainerError", "UnexpectedAdmissionError",
    "TopologyAffinityError", "OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfnvidia.com/gpu", "OutOfamd.com/gpu",
    "NodeAffinity",
)  # fmt: skip
"""States by which a row is recognised in a table that was pasted without its head."""

_REJECTED = r"UnexpectedAdmissionError|TopologyAffinityError|OutOf[a-z].*|NodeAffinity"
"""States of a pod that the kubelet did not take (pkg/kubelet/lifecycle, pkg/kubelet/cm/topologymanager)."""

_ROW = (
    r"(?:[a-z0-9][\w-]{0,62} {1,80})?(?P<name>[a-z0-9][\w.-]{0,252}) {1,80}"
    r"\d{1,3}/(?P<containers>\d{1,3}) {1,20}(?P<status>[A-Z][\w:./-]{1,60})"
    r" {1,40}(?P<restarts>\d{1,6})(?: \([\w. ]{2,30} ago\))? {1,40}(?:(?P<age>(?:\d{1,5}[ydhms]){1,2})(?!\S)|\w)"
)
_AGE = lazy_regex(r"(\d+)([ydhms])")
_SECONDS = {"y": 31_536_000, "d": 86_400, "h": 3600, "m": 60, "s": 1}
"""The units of duration.HumanDuration of k8s.io/apimachinery."""
_BARE_ROW = r"[a-z0-9][\w.-]{0,252} {1,80}\d{1,3}/\d{1,3} {1,20}"
ANCHOR = rf"{_HEAD}|{_BARE_ROW}(?:{'|'.join(map(re.escape, _NOT_RUNNING))}) {{1,40}}\d"
_LIMIT = 20_000


class _Pods(Reading):
    """An event for each pod, and one more for a container that the kernel killed for its memory."""

    def pod(self, row: re.Match[str]) -> None:
        """One a line."""
        fields = {
            "pod_name": row["name"], "pod_status": row["status"], "restarts": int(row["restarts"]),
            "containers": int(row["containers"]),
        }  # fmt: skip
        if row["age"]:
            fields["pod_age"] = sum(int(count) * _SECONDS[unit] for count, unit in _AGE.findall(row["age"]))
        if row["status"] == "OOMKilled":
            self._event("container-oom-killed", "cause", host=row["name"])
        if re.fullmatch(_REJECTED, row["status"]):
            self._event("pod-rejected", "cause", host=row["name"], fields={"error": row["status"]})
        self._event("pod-listed", "fact", fields=fields)

    def _event(self, event: str, kind: str, **more: Any) -> None:  # noqa: ANN401
        self.observe(
            "Event", event=event, origin="launcher", kind=kind, text=self.line[:400].rstrip(), count=1,
            order=self.section.number(self.index), **more,
        )  # fmt: skip


ROWS = Rows(_Pods, Row(_ROW, _Pods.pod), Row(_HEAD), most=_LIMIT)
