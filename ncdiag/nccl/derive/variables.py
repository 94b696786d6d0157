"""Variables that a release does not read any more, and levels written as digits."""

from __future__ import annotations

from ncdiag.facts.model import Setting
from ncdiag.facts.view import View, derived
from ncdiag.nccl import environment, paths

_LEVELS = ("NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL")


@derived
def was_removed(setting: Setting, view: View) -> bool | None:
    """Is it a variable that this release does not read any more? None when the release is not known well enough."""
    variable = environment.variables().get(setting.name)
    if variable is None or variable.until is None or variable.owner != environment.OURS:
        return False
    version = view.version(setting)
    read = None if version is None else version.less(variable.until)
    return None if read is None else not read


@derived
def replacement(setting: Setting, view: View) -> str:
    """``; NCCL_ALGO took its place`` or nothing."""
    variable = environment.variables().get(setting.name)
    return f"; {variable.renamed} took its place" if variable is not None and variable.renamed else ""


@derived
def is_numeric_level(setting: Setting, view: View) -> bool:
    """A distance limit written as a digit other than 0, whose meaning changed with 2.6 (0 is LOC in all releases)."""
    text = (setting.text or "").strip()
    return setting.name in _LEVELS and text.isascii() and text.isdigit() and int(text) > 0


@derived
def level_word(setting: Setting, view: View) -> str | None:
    """The word for such a digit in this release; None when the releases that are possible do not agree."""
    return paths.parse_level(setting.text or "", view.version(setting))
