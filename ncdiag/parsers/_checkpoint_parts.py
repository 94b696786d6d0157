"""Files of a DeepSpeed checkpoint, one for each data-parallel rank, in the lists of ``ls`` and ``find``."""

from __future__ import annotations

from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers._events import Found
from ncdiag.parsers._signs import Signs

EVENTS = {"checkpoint-part": {"part": "int", "model_part": "int"}}
"""The events that are recognized by the form of a line, with the types of their fields."""
_SIGNS = Signs("zero_pp_rank_0")
_FILE = guarded_regex(
    r"\s{0,40}(?:[-rwx.+]{10,11}\s[^\n]{0,120}\s)?(?:[\w./@%+-]{0,300}/)?(?:bf16_|fp16_)?"
    r"zero_pp_rank_(?P<part>\d{1,6})_mp_rank_(?P<model_part>\d{1,4})_(?:model|optim)_states\.pt\s{0,40}$"
)
"""The file names that deepspeed/runtime/engine.py makes (_get_ckpt_name, _get_zero_ckpt_name)."""


def find(text: str) -> Found | None:
    """The event with the ranks of a listed file; None for other lines, such as a message that a file was written."""
    if not _SIGNS.stand_in(text):
        return None
    found = _FILE.match(text[:600])
    if found is None:
        return None
    numbers = {"part": int(found["part"]), "model_part": int(found["model_part"])}
    return Found("checkpoint-part", "app", "fact", numbers)
