"""GPUs that programs use while something is said to keep CUDA from them."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View


@derived
def is_beside_used_gpus(event: Event, view: View) -> bool:
    """Does the host of the line have a GPU on which kernels run or programs compute, so that CUDA starts there?"""
    host = view.host(event.host)
    hosts = view.job.hosts if event.host is None else () if host is None else (host,)
    for gpu in (gpu for each in hosts if len(hosts) == 1 for gpu in each.gpus):
        for field in ("load_percent", "process_mib"):
            if getattr(gpu, field):
                view.note(gpu, field)
                return True
    return False
