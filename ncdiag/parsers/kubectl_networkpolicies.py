"""``kubectl get networkpolicy``: which pods have policies on what Kubernetes admits.

Source of the formats: Kubernetes pkg/printers/internalversion/printers.go (printNetworkPolicy: ``POD-SELECTOR``,
``<none>`` for all pods).
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "kubectl_networkpolicies"
EVENTS = {"network-policy": {"policy": "str", "pods": "str", "admitted_ports": "str"}}
"""``pods``: labels of the pods that it restricts, ``<none>`` for all pods of the namespace."""
COMMANDS: tuple[str, ...] = ()  # with -o yaml the command prints manifests; the head of the table is enough
ANCHOR = r"(?:NAMESPACE[ ]{2,80})?NAME[ ]{2,80}POD-SELECTOR[ ]{2,80}AGE\b"

_ROW = (
    r"(?:[a-z0-9][\w-]{0,62} {2,80})?(?P<name>[a-z0-9][\w.-]{0,252}) {2,80}"
    r"(?P<pods><none>|[\w./-]{1,300}(?:[ =,!()]{1,3}[\w./-]{1,300}){0,20}) {2,80}\d{1,6}[smhdy]\w{0,6}\s*$"
)


def _policy(read: Reading, row: re.Match[str]) -> None:
    """An event for each policy."""
    read.observe(
        "Event", event="network-policy", origin="launcher", kind="fact", text=read.line[:400].strip(), count=1,
        order=read.section.number(read.index), fields={"policy": row["name"], "pods": row["pods"]},
    )  # fmt: skip


ROWS = Rows(Reading, Row(_ROW, _policy), Row(ANCHOR), most=20_000)
