"""The release of a plugin, ROCm or framework that a host prints, or that somebody names."""

from __future__ import annotations

from ncdiag.facts.model import Host
from ncdiag.facts.scalars import Version
from ncdiag.facts.stated import in_use
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import cured_by

_PRINTED: dict[str, tuple[str, str]] = {
    "aws-ofi-nccl": ("ofi-version", "ofi_version"), "libfabric": ("ofi-libfabric-version", "libfabric"),
    "nvshmem": ("nvshmem-version", "nvshmem"), "rocm": ("rocm-version", "rocm"),
    "deepspeed": ("deepspeed-version", "deepspeed"),
}  # fmt: skip
"""The message that says the release of a product, and its field."""


def printed(product: str, host: Host, view: View) -> str:
    """The release of the product, as printed on the host or told; empty if unknown.

    Where the output of several releases is compared, that of the run with the trouble: not one with which it works.
    """
    event, field = _PRINTED[product]
    shown = dict.fromkeys(str(e.fields.get(field, "")) for e in view.events_on(host.name, [event]))
    releases = [_short(text) if product == "rocm" else text for text in shown if text]
    if len(releases) > 1:
        return _in_trouble(product, releases, view)
    if releases:
        return releases[0]
    told = in_use(view.job.contexts, product)
    return "" if told is None else told.value.split()[-1]


def _in_trouble(product: str, releases: list[str], view: View) -> str:
    """Of several releases the one of the failing run: the newest if an older one works, the oldest if a newer does."""
    cures = cured_by(view.job, view)
    failing = [release for release in releases if f"{product}-{release}" not in cures] or releases
    works = {change.partition("-")[0] for change in cures}
    if "newer" in works:
        return min(failing, key=_order)
    return max(failing, key=_order) if "older" in works else failing[0]


def _order(release: str) -> Version:
    return Version.parse(release) or Version(0, 0, 0)


def _short(text: str) -> str:
    """``7.1.0`` of ``7.1.0.0-20-4179531dcd``."""
    return ".".join(text.split(".")[:3])


def said_framework(name: str, view: View) -> str:
    """The release of PyTorch, or another framework, that somebody names; empty if there is none."""
    told = in_use(view.job.contexts, name)
    if told is not None:
        return told.value.split()[-1]
    if name in _PRINTED:
        return next((str(event.fields[name]) for event in view.events_named(_PRINTED[name][0])), "")
    said = (c.value for c in view.job.contexts if c.kind == "framework-version")
    return next((value.split()[-1] for value in said if value.startswith(f"{name} ")), "")
