"""States in which Slurm says that a job or a step ended: rows of ``sacct``, fields of ``scontrol show job``.

The states and the exit code ``status:signal`` are those of sacct(1), section JOB STATE CODES; ``sacct`` cuts a state to
the width of its column (``OUT_OF_ME+``).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers import _slurm_nodes
from ncdiag.parsers._ends import of_signal
from ncdiag.parsers._events import Found
from ncdiag.parsers._signs import Signs

_STATES = (
    "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY", "TIMEOUT", "DEADLINE", "PREEMPTED", "CANCELLED", "FAILED", "COMPLETED",
    "REVOKED",
)  # fmt: skip
_ANY = "|".join((*_STATES, "OUT_OF_ME", "NODE_FAI", "PREEMPTE", "CANCELLE", "COMPLETE", "BOOT_FAI"))
_CODE = r"(?P<status>\d{1,3}):(?P<signal>\d{1,3})\b"
_FIELD = lazy_regex(rf"\b(?:Job)?State=(?P<state>{_ANY})\b(?:.{{0,200}}\bExitCode={_CODE})?")
_ROW = lazy_regex(rf"\d[\w.+\[\]-]{{0,40}}[ |].*?[ |](?P<state>{_ANY})\+?(?: by \d{{1,10}})?[ |]+{_CODE}")
_STEP = lazy_regex(r"\bJobId=(?P<id>\d{1,12})|^(?P<step>\d[\w.+-]{0,40})")
_CUT = 7
"""Letters that are left of the longest state in a narrow column."""
_EVENTS = {
    "NODE_FA": ("node-failed", ""), "BOOT_FA": ("node-failed", ""), "OUT_OF_": ("container-oom-killed", ""),
    "TIMEOUT": ("job-cancelled", "TIME LIMIT"), "DEADLIN": ("job-cancelled", "TIME LIMIT"),
    "PREEMPT": ("job-cancelled", "PREEMPTION"), "CANCELL": ("job-cancelled", ""), "REVOKED": ("job-cancelled", ""),
}  # fmt: skip
"""The event of a state, and why the job was ended."""
_FAILED = "FAILED"
_SHELL_STATUS = 128
_SIGNS = Signs(*map(str.lower, _EVENTS), _FAILED.lower())


def find(text: str) -> Found | None:
    """How a job or a step ended, by its state, or what keeps it from starting; None where a line says neither."""
    found = (_FIELD.search(text) or _ROW.match(text)) if _SIGNS.stand_in(text) else None
    if found is None:
        return _slurm_nodes.find(text)
    state = found["state"]
    if state == _FAILED:
        status, signal = int(found["status"] or 1), int(found["signal"] or 0)
        number = signal or status - _SHELL_STATUS
        return Found(of_signal(number), "app", "symptom", {"signal": signal} if signal else {"exit_code": status or 1})
    event, reason = _EVENTS.get(state[:_CUT], ("", ""))
    if not event:
        return _slurm_nodes.find(text)
    named = _STEP.search(text)
    step = {"what": "job", "step": named["id"] or named["step"]} if named and event == "job-cancelled" else {}
    return Found(event, "launcher", "cause", {**step, **({"reason": reason} if reason else {})})
