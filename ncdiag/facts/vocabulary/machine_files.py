"""Topology files that clouds write for one type of machine, and the GPUs which that type has.

Sources: Azure/azhpc-images (topology/), aws/aws-ofi-nccl (topology/), the types of machines by their providers.
"""

from __future__ import annotations

import posixpath

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host
from ncdiag.facts.view import View

_SERIES = lazy_regex(r"(?i)(?<![a-z0-9])(?P<series>ndv2|ndv4|ncv4|ndv5|p4de?|p5|g5)(?![a-z0-9])")
_GPUS = {
    "ndv2": ("V100",), "ndv4": ("A100",), "ncv4": ("A100",), "ndv5": ("H100", "H200"), "p4d": ("A100",),
    "p4de": ("A100",), "p5": ("H100",), "g5": ("A10G",),
}  # fmt: skip
_VARIABLE = "NCCL_TOPO_FILE"
_AZURE = {"V100": "ndv2", "A100": "ndv4", "H100": "ndv5", "H200": "ndv5"}
"""The series of Azure whose machines have InfiniBand and GPUs with NVLink."""
_PLAIN = ("PCI", "NVL")


@derived
def given_foreign_file(host: Host, view: View) -> bool | None:
    """Is NCCL given the file of a type of machine that has other GPUs than the host? None if these are not known."""
    setting = view.setting(host, _VARIABLE)
    found = _SERIES.search(posixpath.basename(setting.text or "")) if setting is not None and setting.is_set else None
    models = {gpu.model for gpu in host.gpus if gpu.model}
    if setting is None or found is None:
        return False
    if not models:
        return None
    wanted = _GPUS[found["series"].lower()]
    if any(name in model for model in models for name in wanted):
        return False
    view.note(setting)
    view.note(next(gpu for gpu in host.gpus if gpu.model))
    return True


def file_of_machine(host: Host, view: View) -> str:
    """The path with the series of Azure that has the host's GPUs; empty for other clouds and cards without NVLink."""
    setting = view.setting(host, _VARIABLE)
    folder, _, name = ((setting.text if setting is not None else None) or "").rpartition("/")
    found = _SERIES.search(name)
    models = {gpu.model for gpu in host.gpus if gpu.model}
    held = [model for model in models if not any(word in model for word in _PLAIN)]
    series = {new for model in held for gpu, new in _AZURE.items() if gpu in model}
    if found is None or not found["series"].lower().startswith("nd") or len(series) != 1:
        return ""
    return f"{folder}/{name[: found.start()]}{series.pop()}{name[found.end() :]}"
