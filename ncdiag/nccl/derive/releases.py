"""What is wrong with the NCCL release of a host on the GPUs that it has."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.facts.model import Host
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View, derived
from ncdiag.nccl.defects import DEFECTS, FIRST_FOR_GPU, Defect


@derived
def release_defect(host: Host, view: View) -> str | None:
    """``NCCL 2.26.2 stops with ...``: a known fault of the release on this host; empty for none, None when open."""
    version = view.version(host)
    if version is None or version.less(Version(2, 0, 1)):
        return None
    verdicts = [(defect, _applies(defect, host, version, view)) for defect in DEFECTS]
    for defect, applies in verdicts:
        if applies:
            return f"NCCL {version} {defect.what} (mended in {defect.fixed})"
    return None if any(applies is None for _, applies in verdicts) else ""


def _applies(defect: Defect, host: Host, version: VersionRange, view: View) -> bool | None:
    """Kleene's and over what the entry names."""
    older, newer = version.less(defect.since), version.less(defect.fixed)
    parts = [None if older is None else not older, newer, *_conditions(defect, host, view)]
    if False in parts:
        return False
    return None if None in parts else True


def _conditions(defect: Defect, host: Host, view: View) -> Iterable[bool | None]:
    if defect.gpus is not None:
        models = [gpu for gpu in host.gpus if gpu.model]
        mine = next((gpu for gpu in models if defect.gpus.search(gpu.model or "")), None)
        if mine is not None:
            view.note(mine, "model")
        yield True if mine is not None else False if models else None
    if defect.setting is not None:
        name, value = defect.setting
        setting = view.setting(host, name)
        if setting is not None and setting.text == value:
            view.note(setting)
        yield setting.text == value if setting is not None else None
    if defect.links_down:
        inactive = [gpu.nvlinks_inactive for gpu in host.gpus]
        yield True if any(inactive) else None if None in inactive or not inactive else False
    if defect.events:
        yield any(name in defect.events for name in view.event_names())


@derived
def gpu_before_time(host: Host, view: View) -> str | None:
    """``NVIDIA H100 (first release for it: 2.15.1)``: a GPU that NCCL of the host was not built for; empty for none."""
    version = view.version(host)
    models = [gpu for gpu in host.gpus if gpu.model]
    if version is None or not models:
        return None
    for gpu in models:
        first = next((bound for known, bound in FIRST_FOR_GPU if known.search(gpu.model or "")), None)
        if first is not None and version.less(first) is not False:
            view.note(gpu, "model")
            return f"{gpu.model} (first release for it: {first})" if version.less(first) else None
    return ""
