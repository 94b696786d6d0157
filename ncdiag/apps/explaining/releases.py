"""What is known of a release: the defects that it fixes, and those that it has or may have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl.defects.entries import LABELS, OPEN, Defect, Product
from ncdiag.nccl.defects.table import rccl_of, tables

_RELEASE = lazy_regex(
    r"(?:(?P<product>nccl|rccl|rocm|aws-ofi-nccl|libfabric|(?:py)?torch|cupy|horovod|deepspeed|lightning|driver)[\s/:=-]*)?v?"
    r"(?P<release>\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)(?P<rest>(?:[-+~_a-z][-+.~_a-z\d]*)?)",
    re.IGNORECASE,
)
_PRODUCTS: dict[str, Product] = {
    "nccl": "nccl", "rccl": "rccl", "rocm": "rocm", "aws-ofi-nccl": "aws-ofi-nccl", "libfabric": "libfabric",
    "pytorch": "pytorch", "torch": "pytorch", "cupy": "cupy", "horovod": "horovod", "deepspeed": "deepspeed",
    "lightning": "lightning", "driver": "driver",
}  # fmt: skip
_PLAIN = lazy_regex(r"(?:-\d{1,2})?(?:\+cuda[\d.]+)?", re.IGNORECASE)
"""What NVIDIA itself puts after a release: the number of its package, and the CUDA that it was built with."""


def release(text: str) -> tuple[str, str, dict[str, Any]] | None:
    """Name, meaning and details of a release such as ``2.28.7``, ``2.28.3-nv25.10`` or ``rccl 2.27.7``.

    None if the text is not a release, or no table is about it.
    """
    found = _RELEASE.fullmatch(text)
    version = Version.parse(found["release"]) if found else None
    if found is None or version is None:
        return None
    product = _PRODUCTS[(found["product"] or "nccl").lower()]
    if product == "nccl" and not found["product"] and not _is_of_nccl(version):
        return None
    numbers: dict[Product, Version] = {product: version}
    if product == "rocm" and (contained := rccl_of(version)) is not None:
        numbers["rccl"] = contained
    known = [(defect, numbers[defect.product]) for defect in tables().defects if defect.product in numbers]
    fixes = [defect for defect, number in known if defect.high == number and defect.product == product]
    verdicts = [(defect, defect.covers(VersionRange(number, number))) for defect, number in known]
    held = [defect for defect, verdict in verdicts if verdict]
    maybe = [defect for defect, verdict in verdicts if verdict is None]
    details: dict[str, Any] = dict(_about(product, version, found["rest"] or ""))
    details |= {
        "fixes": [_said(defect, with_fix=False) for defect in fixes],
        "still broken in it": [_said(defect) for defect in _latest_first(held)],
        "may be in it": [_said(defect) for defect in _latest_first(maybe)],
    }
    meaning = f"Known defects: {len(fixes)} fixed in this release, {len(held)} in it, {len(maybe)} that may be in it"
    return f"{LABELS[product]} {found['release']}", meaning, {key: value for key, value in details.items() if value}


def _is_of_nccl(version: Version) -> bool:
    return version.major == 2 and version >= Version(2, 3)  # noqa: PLR2004  (NCCL 2, as far as the tables go back)


def _latest_first(found: list[Defect]) -> list[Defect]:
    """Open ones first, then by the release with the fix, the next one first; those with a condition before others."""
    return sorted(found, key=lambda d: (d.fixed != OPEN, d.high or Version(0, 0), not d.leads))


def _said(defect: Defect, *, with_fix: bool = True) -> str:
    """The defect with its GPUs, its fix and its source."""
    what = f"on {', '.join(defect.when.gpus)}: {defect.what}" if defect.when.gpus else defect.what
    if not with_fix:
        return f"{what} (source: {defect.source})"
    if defect.fixed == OPEN:
        return f"{what} (no release has a fix; {defect.source})"
    return f"{what} (fixed in {defect.fixed}; {defect.source})"


def _about(product: Product, version: Version, rest: str) -> Iterator[tuple[str, str]]:
    published = tables().releases
    if product == "rocm" and (contained := rccl_of(version)) is not None:
        yield "contains", f"RCCL {contained}"
    if product == "nccl":
        day = published.get(str(version))
        if day:
            yield "released", day
        if day is None:
            yield "note", _unpublished(version)
    if rest and not _PLAIN.fullmatch(rest):
        yield "rebuild", f"{rest.lstrip('-+.~_')}: whoever built it may have added fixes under the old number"


def _unpublished(version: Version) -> str:
    near = [name for name in tables().releases if name.startswith(f"{version.major}.{version.minor}.")]
    if not near:
        return f"NCCL has no release of this number, and none of {version.major}.{version.minor} is known"
    there = ", ".join(near)
    return f"NCCL has no release of this number: there are {there}"
