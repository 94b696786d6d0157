"""Whether the job needs IMEX, which lets GPUs of several hosts share memory over NVLink.

Source: NVIDIA, IMEX Service for NVLink Networks (multi-node-nvlink-systems/imex-guide): only systems whose NVLink spans
hosts, such as GB200 NVL72, have a domain.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_UP = "UP"
_OF_ONE_HOST = lazy_regex(r"(?:NVIDIA )?(?:Tesla|GeForce|Quadro|RTX|TITAN|[AHLV]\d{1,3}S?|T4|B[23]00)\b")
"""GPUs whose NVLink, if they have any, ends at the host. GH200 and GB200 begin with another letter."""


@derived
def is_imex_needless(job: Job, view: View) -> bool:
    """Is a domain of IMEX up, or does the NVLink of all GPUs that were shown end at their hosts?"""
    up = next((host for host in job.hosts if host.imex_domain == _UP), None)
    if up is not None:
        view.note(up, "imex_domain")
        return True
    gpus = [gpu for host in job.hosts for gpu in host.gpus if gpu.model]
    if not gpus or not all(_OF_ONE_HOST.match(gpu.model or "") for gpu in gpus):
        return False
    view.note(gpus[0], "model")
    return True
