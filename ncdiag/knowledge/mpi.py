"""How a launch line binds the processes of Open MPI."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS

_ONE_CORE = re.compile(r"(?<![\w-])--?bind-to(?:[ =]|-)(?:core|hwthread)\b")
_SEVERAL = re.compile(r"\bPE=\d|--?cpus-per-(?:proc|rank)\b", re.IGNORECASE)


@derived
def binds_to_one_core(launch: Launch, view: View) -> bool:
    """Does the line tie each process to a single core or hardware thread?"""
    if not launch.program.endswith(MPI_PROGRAMS):
        return False
    return _ONE_CORE.search(launch.text) is not None and _SEVERAL.search(launch.text) is None
