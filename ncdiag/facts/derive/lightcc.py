"""Variables of LightCC, Tencent Cloud's distributed training framework, which is a changed Horovod.

Nothing else reads them (Tencent Cloud, documents 560/50235 and 1573/74085): LIGHT_INTRA_SIZE is the number of GPUs in
the inner ring of its two-dimensional all-reduce, 8 unless set.
"""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.model import Setting
from ncdiag.facts.view import View, derived

_PREFIX, _SIZE = "LIGHT_", "LIGHT_INTRA_SIZE"
_NOT_HOROVOD = ("torchrun", "deepspeed", "accelerate")


@derived
def lightcc_problem(setting: Setting, view: View) -> str | None:
    """Why a variable of LightCC does nothing, or the wrong thing; empty for no reason, None where nothing tells."""
    if not setting.name.startswith(_PREFIX) or not setting.is_set:
        return ""
    view.note(setting)
    launch = next((launch for launch in view.job.launches if launch.program in _NOT_HOROVOD), None)
    if launch is not None:
        view.note(launch)
        return f"has no effect: {launch.program} starts no Horovod, and LightCC is one"
    if setting.name != _SIZE:
        return "" if view.job.launches else None
    gpus = _gpus_per_host(view)
    if gpus is None or setting.number is None:
        return None
    return "" if setting.number == gpus else f"is no whole host: there are {gpus} GPUs on each"


@derived
def gpus_per_host(setting: Setting, view: View) -> int | None:
    """The number of GPUs of each host, where all hosts have as many."""
    return _gpus_per_host(view)


def _gpus_per_host(view: View) -> int | None:
    counts = {len(host.gpus) for host in view.job.hosts if host.gpus}
    if not counts and view.job.nranks and len(view.job.ranks) == view.job.nranks:
        counts = set(Counter(rank.host for rank in view.job.ranks).values())
    return counts.pop() if len(counts) == 1 else None
