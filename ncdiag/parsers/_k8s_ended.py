"""How the containers of a pod ended: ``status.containerStatuses`` of ``kubectl get pod -o yaml``.

Source of the format: Kubernetes API reference v1.31 (ContainerStatus, ContainerStateTerminated).
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, observe
from ncdiag.formats.yaml import Node

_STOPPED = frozenset({"0", "143"})
"""Exit codes of containers that ended well, or because they were asked to."""
_NO_MEMORY, _KILLED = "OOMKilled", "137"
"""The reason if memory was it, and the exit code, which a container beside the job has too when the pod is deleted."""


def ended(section: Section, root: Node) -> Iterator[Observation]:
    """An event for each container of the pod whose state, or last state, is an end by an error."""
    pod = root.text("metadata", "name")
    states = [each for side in ("containerStatuses", "initContainerStatuses") for each in root.items("status", side)]
    for status in states:
        for state in ("state", "lastState"):
            end = status.get(state, "terminated")
            code, reason = (end.text("exitCode"), end.text("reason")) if end is not None else (None, None)
            if end is None or code is None or not code.isdecimal() or code in _STOPPED:
                continue
            is_short = reason == _NO_MEMORY
            if code == _KILLED and not is_short and len(states) > 1:
                continue
            yield observe(
                section, end.line, "Event", event="container-oom-killed" if is_short else "worker-failed",
                origin="launcher", kind="cause" if is_short else "symptom", count=1, host=pod,
                text=f"terminated: exitCode {code}, reason {reason}", order=section.number(end.line),
                fields={"exit_code": int(code), "container": status.text("name") or ""},
            )  # fmt: skip
            break
