"""Programs that refuse to run with the number of ranks with which they were started.

Gloo's words: pytorch/gloo gloo/context.cc (GLOO_ENFORCE_LT(rank, size)).
"""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure, went_on

_RANKS = (
    r"(?:world[ _-]?size|mpi[ _]?size|n_?ranks"
    r"|num(?:ber)?[ _](?:of[ _])?(?:ranks|processes|workers|nodes|machines|tasks(?:\sper\snode)?))"
)
_UNEQUAL = (
    r"(?:!=|==|\bnot\s(?:\w+\s)?(?:equal|match\w*|divisible|a\smultiple)|mismatch\w*|n't\s(?:equal|match)"
    r"|\b(?:must|should|has\sto|needs\sto)\s(?:be\s)?(?:equal|match|divisible|a\smultiple|the\ssame)"
    r"|\bdiffers?\sfrom)"
)
_SAYS = rf"""(?ix)
    # 'world size (4) is not equal to tensor parallel size (2)', 'mpiSize == tp * pp'
    {_RANKS} .{{0,80}}? {_UNEQUAL}
  | {_UNEQUAL} .{{0,80}}? {_RANKS}
    # 'Expected world size 8 but got 4', 'world size 4, expected 8'
  | \bexpect\w*\s.{{0,40}}? {_RANKS} .{{0,60}} \b(?:got|found|but|is)\b
  | {_RANKS} .{{0,40}} \b(?:expected|but\s(?:got|found))\b
    # 'Mesh should not be bigger than default world size 8', 'must not exceed the world size'
  | \b(?:should|must|can)\s?not\s(?:be\s(?:bigger|larger|greater)\sthan|exceed) .{{0,40}} {_RANKS}
  | \b(?:less\sor\sequal\sto|larger\sthan|smaller\sthan|greater\sthan)\s(?:the\s)? .{{0,20}} {_RANKS}
    # torch.distributed.device_mesh: 'only support homogeneous hardware, but found 6 ranks and 4 cuda devices'
  | \bfound\s\d+\sranks\sand\s\d+\s
    # Lightning: 'You set `--ntasks=8` in your SLURM bash script, but this variable is not supported'
  | --ntasks=\d .{{0,80}} \bnot\ssupported
    # a rank that there is not; Gloo: '[enforce fail at gloo/context.cc:21] rank < size. 2 vs 2'
  | \brank\s?<\s?(?:size|{_RANKS})
  | \binvalid\srank\b .{{0,80}} (?:{_RANKS}|interval|range)
  | \brank\b .{{0,40}} (?:>=|(?:must|should)\sbe\s(?:less|smaller)|out\sof\srange) .{{0,40}} (?:{_RANKS}|\d)
    """
"""A comparison of the number of ranks with the number that the program, its engine or its checkpoint needs."""
_LIMIT = 400
_WORDS = "failure-words"
_TELLING = frozenset({"python-exception", "program-error", _WORDS})


@derived
def told_miscount(event: Event, view: View) -> str:
    """The text in which a program says that it needs another number of ranks; empty for other events."""
    said = str(event.fields.get("error") or event.text)[:_LIMIT]
    if event.event not in _TELLING or not re.search(_SAYS, said):
        return ""
    is_open = not went_on(event, view) if event.event == _WORDS else is_open_failure(event, view)
    return said.strip() if is_open else ""
