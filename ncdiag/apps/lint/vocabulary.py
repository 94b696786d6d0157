"""Names that lint checks: those of NCCL and related programs, and probable misspellings of them."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.shell import is_kept, is_secret
from ncdiag.nccl import environment
from ncdiag.nccl.judgement.names import of_name

_SETS = lazy_regex(r"\b(?:\w+_)?[A-Z]CCL_\w+\+?=|(?:-x|-e|--env|-genv)[ =]+[A-Z]CCL_\w|\b(?:setenv|export)\s+[A-Z]CCL_")
_SHAPE = lazy_regex(r"[A-Za-z_]\w{2,100}$")


def is_setting(name: str) -> bool:
    """True if lint checks variables with this name. Secrets are never checked."""
    if not _SHAPE.match(name) or is_secret(name):
        return False
    return is_kept(name) or name in environment.variables() or bool(environment.suggest(name))


def sets_variables(text: str) -> bool:
    """True if a text seems to be shell words that set a variable of NCCL or of a similar library."""
    return _SETS.search(text) is not None


def is_for_ranks(name: str) -> bool:
    """True if a program of the job reads the variable, or would if it were spelt correctly."""
    known = environment.variables().get(name)
    if known is not None:
        return known.owner != "contrib"
    verdict = of_name(name)
    return verdict is not None and verdict.fault in {"misspelt", "neighbour-misspelt"}
