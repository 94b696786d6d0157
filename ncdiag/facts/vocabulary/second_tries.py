"""Whether a later try is one of the same thing: an image fetched again, a login, a job after a failed prolog."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.slurm_jobs import jobs_of

FETCHED, LOGGED_IN, LAUNCHED = "container-image-fetched", "registry-logged-in", "slurm-job-launched"
_UNAUTHORIZED = lazy_regex(r"(?i)\b(?:unauthorized|unauthenticated|authentication|access denied|40[13])\b")
_URL = lazy_regex(r"/v2/([\w./-]{1,200}?)/(?:manifests|blobs|tags)\b")
"""The repository in an address of a registry (OCI distribution-spec)."""
_TAG = lazy_regex(r"(?:@sha256)?:[\w.+-]{0,128}$")
_ENDINGS = (
    "process-exit", "worker-failed", "worker-killed", "worker-crashed", "mpi-rank-signal", "mpi-job-aborted",
    "job-cancelled", "job-step-cancelled", "launcher-stops-others", "container-gave-up", "container-not-started",
)  # fmt: skip
"""What ends a job: who logs in afterwards may want to start it again, which may work or not."""
_JOB = lazy_regex(r"(?i)\bjob(?:id=|\s)(\d{1,12})\b|\bstepid=(\d{1,12})")
_REPAIRED = 3600.0
"""Seconds between two jobs in a log without a host in which a node may have been drained and returned to service."""


def proves(later: Event, event: Event, view: View) -> bool:
    """Is the later line about the same image, the same access or the same node or job? True for other lines."""
    if later.event == FETCHED:
        wanted, got = repository(event), repository(later)
        return not wanted or not got or wanted == got
    if later.event == LOGGED_IN:
        return _UNAUTHORIZED.search(event.text) is not None and not _ended_between(event, later, view)
    return later.event != LAUNCHED or _is_of_its_node_or_job(later, event)


def repository(event: Event) -> str:
    """The last part of the name of an image, without its tag: ``pytorch`` of ``nvcr.io#nvidia/pytorch:25.01-py3``."""
    said = [str(event.fields.get(name) or "") for name in ("registry_url", "error")] + [event.text]
    found = next(filter(None, map(_URL.search, said)), None)
    if found is not None:
        return found[1].rpartition("/")[2].lower()
    name = str(event.fields.get("image") or event.fields.get("image_name") or "").strip()
    return _TAG.sub("", name.rpartition("/")[2]).lower()


def _ended_between(event: Event, later: Event, view: View) -> bool:
    """Did anything of the job end after the one line and before the other, other than normally?"""
    ends = (e for e in view.job.events if e.event in _ENDINGS and event.order < e.order < later.order)
    return any(e.fields.get("exit_code") != 0 for e in ends)


def _is_of_its_node_or_job(later: Event, event: Event) -> bool:
    """Did the job come after all, or another one on that node?

    A line that names no host is given the only host of its text; that alone proves nothing. Where no line names the
    node, the two lines count if they are in one log, long enough after each other for the node to be repaired.
    """
    if _jobs(event) & _jobs(later):
        return True
    one, other = event.provenance.get(""), later.provenance.get("")
    if one is None or other is None:
        return False
    is_one_source = one.source == other.source
    if event.host or later.host:
        is_lent = is_one_source and _is_in(event.host, one.text) and not _is_in(later.host, other.text)
        return event.host == later.host and not is_lent
    if not is_one_source or event.time is None or later.time is None:
        return False
    return later.time - event.time >= _REPAIRED


def _is_in(host: str | None, line: str | None) -> bool:
    return bool(host) and str(host).lower() in (line or "").lower()


def _jobs(event: Event) -> frozenset[str]:
    found = _JOB.search(event.text)
    return jobs_of(event) | ({found[1] or found[2]} if found is not None else frozenset())
