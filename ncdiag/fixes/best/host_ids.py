"""A host id of NCCL that is the same for the ranks of one machine, and another one on each machine.

Sources: Kubernetes downward API (``fieldRef: spec.nodeName``), NCCL src/misc/utils.cc (getHostHash).
"""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.mounts import is_in_container
from ncdiag.facts.vocabulary.platforms import platforms
from ncdiag.fixes.values import Bindings, Value, best

_OF_POD = (
    "- {name: NCCL_HOSTID, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}   # env of the container, for its value"
)
_OF_HOST = "export NCCL_HOSTID=$(hostname)   # in the script that each host runs, in place of the value"

_OF_CONTAINER = "unset NCCL_HOSTID   # in each container: NCCL then makes an id of its own"


@best
def own_host_id(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The line that gives each machine an id of its own."""
    if not view.job.hosts:
        return Value(reason="no host was seen")
    if POD in platforms(view.job, view):
        return Value(text=_OF_POD, reason="pods of one node get its name")
    if is_in_container(view.job, view) or any(each.kind == "container" for each in view.job.contexts):
        return Value(text=_OF_CONTAINER, reason="the name in a container is that of the container")
    return Value(text=_OF_HOST, reason="ranks of one machine get its name")
