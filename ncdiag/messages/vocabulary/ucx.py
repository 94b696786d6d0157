"""What lines of the loader and of Python say about the release of UCX that a program finds."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex

_SYMBOL = lazy_regex(r"undefined symbol: ?(uc[mpst]_(?!ib_)\w{1,200})")
"""A function of libucm, libucp, libucs or libuct; those of uct_ib depend on the verbs library too."""
_ENDED = lazy_regex(r"Support for UCX (\d[\w.]{0,20}) has ended")
"""What the Python packages ucx-py and ucxx say as they refuse a release (python/ucxx/ucxx/__init__.py)."""


def missing_ucx_symbol(text: str) -> str:
    """The function of UCX that a library needs and the loaded UCX lacks; empty where the text names none."""
    found = _SYMBOL.search(text)
    return found[1] if found else ""


def refused_ucx(text: str) -> str:
    """The release of UCX that a Python package finds and refuses; empty where the text names none."""
    found = _ENDED.search(text)
    return found[1] if found else ""
