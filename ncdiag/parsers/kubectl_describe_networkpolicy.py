"""``kubectl describe networkpolicy``: which ports and peers Kubernetes admits to pods.

Source of the format: Kubernetes staging/src/k8s.io/kubectl/pkg/describe/describe.go (describeNetworkPolicy and
describeNetworkPolicySpec). A direction that a policy does not name is open: ``Not affecting egress traffic``.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "kubectl_describe_networkpolicy"
EVENTS = {"network-policy": {"policy": "str", "pods": "str", "admitted_ports": "str"}}
"""As in a list of policies; ``admitted_ports``: the only ones that it admits, empty for none."""
COMMANDS: tuple[str, ...] = (
    "kubectl describe networkpolicy", "kubectl describe networkpolicies", "kubectl describe netpol",
)  # fmt: skip
ANCHOR = r"[ ]{1,8}PodSelector:[ ]{1,20}(?:<none> \((?:Allowing the specific traffic|Coverage)|[\w./-]{1,300}=)"
STRUCTURE = " "


class _Policies(Reading):
    """The policies of a namespace, each from its name to the end of its rules."""

    def __init__(self, section: Section) -> None:
        """No policy yet."""
        super().__init__(section)
        self.name, self.pods, self.at = "", "", 0
        self.open = False
        """True if a rule of it admits all ports."""
        self.ports: list[str] = []
        self.restricts = False

    def named(self, row: re.Match[str]) -> None:
        """The name of another policy."""
        self.end()
        self.name = row["name"]

    def selector(self, row: re.Match[str]) -> None:
        """The pods that it is for."""
        if self.pods:
            self.end()
        self.pods, self.at = row["pods"], self.index

    def direction(self, _: re.Match[str]) -> None:
        """The rules of one direction follow, and what they do not admit is dropped."""
        self.restricts = True

    def port(self, row: re.Match[str]) -> None:
        """A port of a rule."""
        if row["port"] == "<any>":
            self.open = True
        else:
            self.ports.append(row["port"])

    def end(self) -> None:
        """An event for the policy, if it admits less than all ports."""
        if self.pods and self.restricts and not self.open:
            text = self.section.lines[self.at].strip()
            fields = {"policy": self.name or "without a name", "pods": self.pods}
            fields["admitted_ports"] = ", ".join(dict.fromkeys(self.ports))
            here, self.index = self.index, self.at
            self.observe(
                "Event", event="network-policy", origin="launcher", kind="fact", text=text[:400], count=1,
                order=self.section.number(self.index), fields=fields,
            )  # fmt: skip
            self.index = here
        self.name, self.pods, self.ports, self.open, self.restricts = "", "", [], False, False

    def complete(self) -> bool:
        """The last policy is at its end."""
        self.end()
        return False


ROWS = Rows(
    _Policies,
    Row(r"Name:\s{1,40}(?P<name>[a-z0-9][\w.-]{0,252})\s*$", _Policies.named),
    Row(r"\s{1,8}PodSelector:\s{1,20}(?P<pods><none>|[\w./=!(), -]{1,300}?)(?: \(.*)?$", _Policies.selector),
    Row(r"\s{1,8}Allowing (?:ingress|egress) traffic:\s*$", _Policies.direction),
    Row(r"\s{1,8}To Port: (?P<port>\S{1,40})", _Policies.port),
    Row(
        r"\s{1,8}(?:From|To|Policy Types|NamespaceSelector|PodSelector|IPBlock|CIDR|Except)\b"
        r"|\s{1,8}(?:Not affecting|<none> \(Selected pods are isolated|-{6,12}$)"
        r"|(?:Namespace|Created on|Labels|Annotations|Spec):|\s{8,20}[\w./-]{1,300}[:=] ?\S"
    ),
    BLANK,
    longest=1024,
)
