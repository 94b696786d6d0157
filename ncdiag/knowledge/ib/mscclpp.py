"""RDMA cards that MSCCL++ can use: it takes the card of number k for ``Transport.IBk``, whether its port is up or not.

Source: microsoft/mscclpp src/core/ib.cc (getIBDeviceName, getHcaDevices).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job
from ncdiag.facts.view import View

_NAMED = lazy_regex(r"(?i)\bmscclpp\b|\bmscclpp::|MSCCL\+\+")
_FILE = lazy_regex(r"(?:^|/)mscclpp/")


@derived
def mscclpp_devices(host: Host, view: View) -> str:
    """The cards with an active port, as MSCCLPP_HCA_DEVICES takes them: ``mlx5_0,mlx5_1,mlx5_3``.

    Empty where another library does the communication, and where every card has such a port, or none has.
    """
    up = [hca.name for hca in host.hcas if any(port.state == "active" for port in hca.ports)]
    if not 0 < len(up) < len(host.hcas) or not _is_used(view.job):
        return ""
    return ",".join(up)


def _is_used(job: Job) -> bool:
    """Does a stack or a line on a failure name MSCCL++, in a job without ranks of NCCL?"""
    if job.ranks:
        return False
    frames = (frame for dump in job.stack_dumps for thread in dump.threads for frame in thread.frames)
    return any(_FILE.search(frame.file or "") or "mscclpp::" in frame.function for frame in frames) or any(
        event.event.startswith("mscclpp-") or _NAMED.search(event.text) for event in job.events
    )
