"""Errors that the NVLinks of a host repaired, and the GPUs whose links had far more of them than the others."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Gpu, Host
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.xids import XID, is_link_xid, is_unfit


@derived
def link_error_counts(gpu: Gpu, view: View) -> str | None:
    """The errors that the GPU's NVLinks repaired, ``recovery 3, replay 4``; empty for none, None if not known."""
    if gpu.nvlink_errors is None:
        return None
    view.note(gpu, "nvlink_errors")
    return ", ".join(f"{kind} {count}" for kind, count in sorted(gpu.nvlink_errors.items()) if count)


@derived
def gpus_with_link_errors(host: Host, view: View) -> str | None:
    """GPUs whose NVLinks had errors, ``GPU 0 (replay 4)`` or ``GPU 0000:18:00 (Xid 145)``; empty for none.

    None if not known.
    """
    counted = [(gpu, link_error_counts(gpu, view)) for gpu in host.gpus]
    reported = [e for e in view.events_on(host.name, [XID]) if is_link_xid(e, view) and not is_unfit(e, view)]
    for event in reported:
        view.note(event)
    if not reported and all(counts is None for _, counts in counted):
        return None
    xids = sorted({f"GPU {e.fields.get('pci')} (Xid {e.fields.get('xid')})" for e in reported})
    return ", ".join((*xids, *(f"GPU {gpu.index} ({counts})" for gpu, counts in counted if counts)))


_MANY = {"recovery": 10, "crc": 1000, "replay": 1000}
"""The number of errors, by kind, from which a link counts as failing. A recovery stops the link, so few are enough."""


@derived
def gpus_with_failing_links(host: Host, view: View) -> str | None:
    """GPUs whose NVLinks repaired far more errors than those of the others, ``GPU 3 (crc 52116, recovery 328)``.

    Empty if there are none, or if this is so for most GPUs: then the counters have run for a long time. None if no GPU
    shows counters.
    """
    known = [gpu for gpu in host.gpus if gpu.nvlink_errors is not None]
    if not known:
        return None
    bad = [gpu for gpu in known if any(_stands_out(gpu, known, kind, n) for kind, n in _MANY.items())]
    if len(bad) * 2 > max(len(known), 2):
        return ""
    return ", ".join(f"GPU {gpu.index} ({link_error_counts(gpu, view)})" for gpu in bad)


def _stands_out(gpu: Gpu, known: Sequence[Gpu], kind: str, many: int) -> bool:
    """Has the GPU at least ``many`` errors of a kind, and ten times the median of the other GPUs?"""
    others = [(other.nvlink_errors or {}).get(kind, 0) for other in known if other is not gpu]
    return (gpu.nvlink_errors or {}).get(kind, 0) >= max(many, 10 * (median_low(others) if others else 0))
