"""Why Slurm keeps a job waiting or a node out of service: rows of ``squeue`` and ``sinfo``, fields of ``scontrol``.

Sources: SchedMD/slurm src/common/job_state_reason.c (the words for a waiting job), src/squeue, src/sinfo (``sinfo -R``
and ``sinfo -N -l``), src/api/node_info.c, src/slurmctld/node_mgr.c, job_mgr.c (the reasons that the controller sets).
A site's own health check writes any text there.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._events import Found
from ncdiag.parsers._signs import Signs

EVENTS = {
    "slurm-job-waits": {"refused_why": "str", "step": "str", "user": "str"},
    "slurm-job-runs": {"node_list": "str", "step": "str", "user": "str"}, "slurm-job-completed": {"step": "str"},
    "slurm-node-out": {"node_reason": "str", "node_list": "str"},
}  # fmt: skip
"""Events that are recognised by the form of a row, and the types of their fields."""

_JOB = r"(?P<step>\d{1,12})(?:_[\d\[]\S{0,40})?"
"""The job at the head of a row; the tasks of an array are one job."""
_USER = r"(?P<user>[A-Za-z_][\w.-]{0,31})"
_RAN = r"(?:\d{1,3}-)?(?:\d{1,2}:){1,2}\d\d"
_GAP = r"\s{1,40}"
"""Between two columns: ``-O`` pads each to 20 characters, or to the width that it is given; others use tabs."""
_QUEUED = lazy_regex(
    rf"(?:(?:^|\s){_JOB}\s.{{0,80}}\s{_USER}{_GAP}|\s)(?:PD|PENDING){_GAP}{_RAN}{_GAP}(?:\S{{1,20}}{_GAP})?"
    rf"\d{{1,6}}{_GAP}\((?P<why>[A-Z][A-Za-z][^()]{{2,200}})\)\s*$"
)
"""The columns ST, TIME, NODES and NODELIST(REASON) of squeue; with ``-l`` the time limit comes before NODES."""
_UNAVAILABLE = lazy_regex(r"\b(?:srun|salloc): (?P<why>Required node not available \(down, drained or reserved\))")
"""What srun prints before it waits for such a node (slurm_errno.c, ESLURM_NODE_NOT_AVAIL)."""
_FIELD = lazy_regex(r"\bJobState=PENDING\s+Reason=(?P<why>[A-Z]\S{3,80})")
_RUNS = lazy_regex(
    rf"(?:^|\s){_JOB}\s.{{0,80}}?\s(?:{_USER}{_GAP})?(?:R|RUNNING){_GAP}{_RAN}{_GAP}(?:(?:{_RAN}|UNLIMITED){_GAP})?"
    rf"\d{{1,5}}{_GAP}(?P<nodes>[A-Za-z][\w.,\[\]-]{{0,200}})\s*$"
)
_DONE = lazy_regex(
    rf"{_JOB}(?: {{2,40}}|\t|\|)(?:[^:]{{0,120}}[ |\t])?COMPLETED(?:[ |\t]{{1,40}}0:0\b|[ |\t]{{0,40}}$)"
)
"""A row of sacct for a whole job: columns, not words, follow the number.

Its batch script may end with 0 after a step that failed.
"""
_USUAL = lazy_regex(
    r"(?:None|Prolog|Priority|Dependency|Resources|BeginTime|Licenses|Cleaning|SchedDefer|Reservation|JobArrayTaskLimit"
    r"|BurstBuffer\w*|MaxPoweredUpNodes|FedJobLock|JobHeldUser|JobArray\w*"
    r"|Nodes\srequired\sfor\sjob\sare\sDOWN,\sDRAINED\sor\sreserved)\b"
)
"""Reasons of a job that waits as intended: for its turn, for other jobs, for a time, or because its user held it.

The long one names nodes that are down and nodes that serve other jobs alike: alone it refuses nothing.
"""
_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_NODES = r"(?=\S*\d)[A-Za-z][\w,.\[\]-]{0,400}"
_OUT_ROW = lazy_regex(
    rf"\s{{0,4}}(?!REASON\b)(?P<why>\S.{{19}})\s[a-z_][\w.-]{{0,31}}(?:\(\d+\))?\s+{_STAMP}\s+(?:[a-z*~#!%$@^+-]{{2,8}}\s+)?(?P<nodes>{_NODES})\s*$"
)
"""``sinfo -R``: the reason, cut or padded to 20 characters, who set it and when, with ``-l`` the state, the nodes."""
_OUT_FIELD = lazy_regex(rf"\bReason=(?P<why>\S.{{2,300}}?) \[[a-z_][\w.-]{{0,31}}@{_STAMP}\]")
_OUT_LONG = lazy_regex(
    r"\s(?:drain(?:ed|ing)?|drng|down|inval|fail(?:ing)?)[*~#!%$@^+-]?\s+\d+\s+\d+:\d+:\d+\s+\d+\s+\d+\s+\d+\s+\S+\s+(?P<why>[A-Za-z]\S.{1,200})$"
)
_GPUS = lazy_regex(r"gres/gpu\b")
_UNSAID = lazy_regex(r"none\b|\(null\)", re.IGNORECASE)
_WAITING = Signs(" pd ", "\tpd\t", "pending", "node not available")
_OUT = Signs("0000-00-00t00:00:00", "drain", "drng", "inval", " down")
_RUNNING, _ENDED = Signs(" r ", "\tr\t", "running"), Signs("completed")
_STILL = lazy_regex(
    r"(?:maint\w*|reboot\w*|scheduled|planned|tests?(?!.*fail)|testing|hw|ticket)\b|.*\b(?:rma|replac\w*|reserv\w*|vendor|decom\w*)\b",
    re.IGNORECASE,
)
"""What an administrator writes who takes a node out of service for a while, or who waits for a spare part."""


def find(text: str) -> Found | None:
    """Why a job waits, or why a node is out of service; None where a line says neither."""
    if _WAITING.stand_in(text) and (waits := _waits(text)):
        given = {"refused_why": waits["why"], **_whose(waits)}
        return None if _USUAL.match(waits["why"]) else _event("slurm-job-waits", "cause", given)
    if _OUT.stand_in(text) and (out := _OUT_ROW.match(text) or _OUT_FIELD.search(text) or _OUT_LONG.search(text)):
        why = out["why"].strip().rstrip(". ")
        if _GPUS.match(why):
            return _event("slurm-gpus-short", "cause", {})
        usual = _UNSAID.match(why) or _STILL.match(why)
        nodes = {"node_list": out["nodes"]} if "nodes" in out.re.groupindex else {}
        return None if usual else _event("slurm-node-out", "cause", {"node_reason": why, **nodes})
    if _RUNNING.stand_in(text) and (runs := _RUNS.search(text)):
        return _event("slurm-job-runs", "fact", {"node_list": runs["nodes"], **_whose(runs)})
    if _ENDED.stand_in(text) and (done := _DONE.match(text)):
        return _event("slurm-job-completed", "fact", _whose(done))
    return None


def _waits(text: str) -> re.Match[str] | None:
    return _QUEUED.search(text) or _FIELD.search(text) or _UNAVAILABLE.search(text)


def _whose(row: re.Match[str]) -> dict[str, str]:
    """The job of a row, and its user, where the row shows them."""
    return {name: value for name, value in row.groupdict().items() if value and name in {"step", "user"}}


def _event(name: str, kind: str, fields: dict[str, str]) -> Found:
    return Found(name, "launcher", kind, dict(fields))
