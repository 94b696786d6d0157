"""Releases on a host that are older than an advisory asks for (``ncdiag/nccl/defects/minimums.toml``)."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job
from ncdiag.facts.view import View
from ncdiag.knowledge.version.conditions import holds
from ncdiag.knowledge.version.defects import version_of
from ncdiag.nccl.defects.entries import LABELS, Minimum
from ncdiag.nccl.defects.entries import version_of as parsed
from ncdiag.nccl.defects.table import tables


@derived
def below_minimum(host: Host, view: View) -> tuple[str, ...]:
    """A sentence for each release that is too old: ``driver 570.86.15 is older than 570.133.20: these GPUs need it``.

    With the source and the day on which it was read. A release or condition that is unknown yields none.
    """
    return tuple(filter(None, (_said(minimum, host, view) for minimum in tables().minimums)))


@derived
def is_below_needed(host: Host, view: View) -> bool:
    """Is a release older than an advisory asks for that is about more than security, so that a job may go wrong?"""
    return any(_said(minimum, host, view) for minimum in tables().minimums if not minimum.security)


@derived
def needed_releases(job: Job, view: View) -> str:
    """What `is_below_needed` finds first, in parentheses behind a blank; empty for nothing."""
    needed = [minimum for minimum in tables().minimums if not minimum.security]
    said = next((found for host in job.hosts for each in needed if (found := _said(each, host, view))), "")
    return f" ({said})" if said else ""


@derived
def minimums_shown(host: Host, view: View) -> str | None:
    """The releases that advisories are about: ``driver 580.126.09, aws-ofi-nccl 1.19.0``; None where none is known."""
    products = dict.fromkeys(minimum.product for minimum in tables().minimums)
    known = {product: version_of(product, host, view) for product in products}
    return ", ".join(f"{LABELS[product]} {version.text}" for product, version in known.items() if version) or None


def _said(minimum: Minimum, host: Host, view: View) -> str:
    version = version_of(minimum.product, host, view)
    wanted = minimum.wanted(version.low) if version is not None and version.known else ""
    if version is None or not wanted or version.low >= parsed(wanted) or not holds(minimum.when, host, view):
        return ""
    source = f"{minimum.source}, read {minimum.checked}"
    return f"{LABELS[minimum.product]} {version.text} is older than {wanted}: {minimum.why} ({source})"
