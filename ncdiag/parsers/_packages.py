"""Packages of NCCL in the lists of rpm, dpkg, apt, pip and conda, and the release of the toolkit beside them."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers._events import Found
from ncdiag.parsers._signs import Signs

EVENTS = {"nccl-package": {"cuda_release": "str"}, "cuda-toolkit": {"cuda_release": "str"}}
"""Events that are told by the form of a line, and the types of their fields."""
_SIGNS = Signs("libnccl", "cuda version 0", "cuda compilation tools")
_BUILT = guarded_regex(
    r"\blibnccl2?(?:-dev(?:el)?|-static)?(?:/\S{1,40})?[-_ \t]{1,20}v?\d{1,2}(?:\.\d{1,3}){2}-\d{1,2}"
    r"\+cuda(\d{1,2}\.\d{1,2})"
)
"""``libnccl-2.9.9-1+cuda11.3.x86_64``, ``ii  libnccl2  2.9.9-1+cuda11.3  amd64``."""
_FILE = lazy_regex(r"\S\.(?:rpm|deb)\b|^/var/")
"""A file from which a package may once have been installed."""


_TOOLKIT = guarded_regex(
    r"\bCUDA Version (\d{1,2}\.\d{1,2})\.\d{1,4}\b|\bCuda compilation tools, release (\d{1,2}\.\d{1,2})\b"
)
"""``/usr/local/cuda/version.txt`` and ``nvcc --version``."""


def find(text: str) -> Found | None:
    """The CUDA for which an installed package of NCCL was built, or that of the toolkit; None for other lines."""
    if not _SIGNS.stand_in(text):
        return None
    text = text[:400]
    if toolkit := _TOOLKIT.search(text):
        return Found("cuda-toolkit", "app", "fact", {"cuda_release": toolkit[1] or toolkit[2]})
    found = _BUILT.search(text)
    if found is None or _FILE.search(text):
        return None
    return Found("nccl-package", "app", "fact", {"cuda_release": found[1]})
