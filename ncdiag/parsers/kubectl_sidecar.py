"""A container beside the job in ``kubectl describe pod``: its image, its state, and the reason if it does not run.

Source of the format: Kubernetes staging/src/k8s.io/kubectl/pkg/describe/describe.go (describeContainerBasicInfo,
describeStatus): ``State:`` and ``Last State:``, with ``Reason:`` and ``Exit Code:`` indented below. When the job
is over, Kubernetes stops the container by SIGTERM or SIGKILL, and the reason is Error as well.
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows, never

KIND = "kubectl_sidecar"
COMMANDS: tuple[str, ...] = ()  # the pod and its events are read by others
ANCHOR = r"[ \t]{0,12}Image:[ \t]{1,20}\S{0,200}tcpgpudmarxd\S{0,100}[ \t]*$"
EVENTS: dict[str, dict[str, str]] = {"google-receiver-runs": {}}
"""The event of a container that runs, which has no fields."""
_FAILS = frozenset({"CrashLoopBackOff", "Error", "OOMKilled", "ContainerCannotRun", "RunContainerError", "StartError"})
_STOPPED = frozenset({"137", "143"})
"""Exit codes by SIGKILL and SIGTERM; where memory was the reason, it is OOMKilled."""
_FIELD = (
    r"[ \t]{0,12}(?:Image ID|Ports?|Host Ports?|Command|Args|Started|Ready|Restart Count|Limits|Requests|Environment"
    r"|Mounts):"
)
"""Fields at the indentation of the image, which a paste may have lost."""
_MOST = 60


class _Container(Reading):
    """An event if the container of Google's receive data path manager runs, or ends by itself."""

    def __init__(self, section: Section) -> None:
        """No state was read."""
        super().__init__(section)
        self.state = ""

    def stated(self, found: re.Match[str]) -> None:
        """The state that the reason below belongs to."""
        self.state = found["state"] if found["last"] is None else ""
        if self.state == "Running":
            self._found("google-receiver-runs", "fact", self.state)

    def exited(self, found: re.Match[str]) -> None:
        """With which code it ended: somebody else stopped it, or it ended by itself."""
        stopped = self.state == "Terminated" and found["code"] in _STOPPED
        if stopped and self.found and self.found[-1].fields["text"].endswith(": Error"):
            self.found.pop()

    def reason(self, found: re.Match[str]) -> None:
        """Why it waits, or ended."""
        if self.state in {"Waiting", "Terminated"} and found["reason"] in _FAILS:
            self._found("google-receiver-failed", "cause", f"{self.state}: {found['reason']}")

    def _found(self, event: str, kind: str, state: str) -> None:
        self.observe(
            "Event", event=event, origin="launcher", kind=kind, count=1,
            text=f"{self.section.lines[0].strip()} {state}", order=self.section.number(self.index),
        )  # fmt: skip


ROWS = Rows(
    _Container,
    Row(ANCHOR, belongs=never),
    Row(r"[ \t]{0,12}(?P<last>Last )?State:[ \t]{1,20}(?P<state>[A-Z][a-z]{3,12})[ \t]*$", _Container.stated),
    Row(r"[ \t]{0,16}Reason:[ \t]{1,20}(?P<reason>\w{3,40})[ \t]*$", _Container.reason),
    Row(r"[ \t]{0,16}Exit Code:[ \t]{1,20}(?P<code>\d{1,3})[ \t]*$", _Container.exited),
    Row(rf"{_FIELD}|[ \t]{{4,}}\S|[ \t]{{2,3}}(?![\w.-]{{1,63}}:[ \t]*$)\S"),
    most=_MOST,
)
