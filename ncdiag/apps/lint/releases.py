"""The NCCL release that a file shows: packages it installs, variables of images, tags of NVIDIA's images."""

from __future__ import annotations

import functools
from pathlib import Path

from ncdiag.apps.lint.model import Document
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import Version, VersionRange

TABLE = Path(__file__).with_name("images.toml")
_INSTALLED = lazy_regex(
    r"libnccl2=(\d+\.\d+(?:\.\d+)?)|nvidia-nccl-cu\d+\s{0,4}==\s{0,4}(\d+\.\d+(?:\.\d+)?)"
    r"|\bNCCL_VERSION[= ][\"']?v?(\d+\.\d+(?:\.\d+)?)|github\.com/NVIDIA/nccl[^\n]{0,80}?\bv(\d+\.\d+(?:\.\d+)?)-\d"
)
_NVIDIA = lazy_regex(r"nvcr\.io/nvidia/(?:pytorch|tensorflow|mxnet):(\d\d\.\d\d)(?:\.\d+)?-")
_TORCH = lazy_regex(r"\btorch==(\d+\.\d+\.\d+)(?![\d.]|\+(?:cpu|rocm|cu11))")


def release_of(document: Document) -> VersionRange | None:
    """The release; None if the file shows none or several."""
    if document.form not in {"shell", "dockerfile", "kubernetes", "compose"}:
        return None
    told = {next(group for group in found.groups() if group) for found in _INSTALLED.finditer(document.text)}
    if not told:
        told = {images("torch")[found[1]] for found in _TORCH.finditer(document.text) if found[1] in images("torch")}
    if not told:
        tags = {found[1] for found in _NVIDIA.finditer(document.text)}
        told = {images("nvidia")[tag] for tag in tags if tag in images("nvidia")}
    if len(told) != 1:
        return None
    version = Version.parse(told.pop())
    return VersionRange(version, version) if version is not None else None


@functools.cache
def images(kind: str) -> dict[str, str]:
    """The NCCL releases of a kind: ``nvidia`` images by the month of their tag, ``torch`` wheels by their version."""
    from ncdiag.base import toml

    found: dict[str, str] = toml.loads(TABLE.read_text(encoding="utf-8"))[kind]
    return found
