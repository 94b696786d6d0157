"""From bytes to observations: open sources, cut them into sections, and parse each section.

Other packages import from here only; the modules inside may move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ncdiag.base.faces import exported

if TYPE_CHECKING:
    from ncdiag.text.clothes import without_base64
    from ncdiag.text.reading import partial
    from ncdiag.text.reading.case import Case
    from ncdiag.text.reading.given import Given, given
    from ncdiag.text.reading.growing import Growing
    from ncdiag.text.reading.job import facts_of, job_of
    from ncdiag.text.reading.many import Progress, processors_at_hand, read_all
    from ncdiag.text.reading.model import Item, Look, Piece, Reading
    from ncdiag.text.reading.names_written import names_written
    from ncdiag.text.reading.one import read_source
    from ncdiag.text.reading.parse import read_sections
    from ncdiag.text.reading.partial import Elsewhere
    from ncdiag.text.reading.stop import Stop
    from ncdiag.text.sections import prompt
    from ncdiag.text.sections.undress import LIMIT
    from ncdiag.text.sources import archives, machines
    from ncdiag.text.sources.archives import BROKEN, Member, reason_of
    from ncdiag.text.sources.files import FOLDER_LIMIT, File, TextSource, open_sources
    from ncdiag.text.sources.machines import SOS_COMMANDS, is_sos
    from ncdiag.text.sources.model import Packed, Source, Text, Unreadable
    from ncdiag.text.sources.text import looks_binary
    from ncdiag.text.window.apply import Windows
    from ncdiag.text.window.bounds import Changed, Window, Windowed, window_of
    from ncdiag.text.window.two import Run, differing

__all__ = [
    "BROKEN",
    "FOLDER_LIMIT",
    "LIMIT",
    "SOS_COMMANDS",
    "Case",
    "Changed",
    "Elsewhere",
    "File",
    "Given",
    "Growing",
    "Item",
    "Look",
    "Member",
    "Packed",
    "Piece",
    "Progress",
    "Reading",
    "Run",
    "Source",
    "Stop",
    "Text",
    "TextSource",
    "Unreadable",
    "Window",
    "Windowed",
    "Windows",
    "archives",
    "differing",
    "facts_of",
    "given",
    "is_sos",
    "job_of",
    "looks_binary",
    "machines",
    "names_written",
    "open_sources",
    "partial",
    "processors_at_hand",
    "prompt",
    "read_all",
    "read_sections",
    "read_source",
    "reason_of",
    "window_of",
    "without_base64",
]  # fmt: skip
__getattr__ = exported(
    __name__,
    {
        "clothes": ("without_base64",),
        "reading": ("partial",),
        "reading.case": ("Case",),
        "reading.given": ("Given", "given"),
        "reading.growing": ("Growing",),
        "reading.job": ("facts_of", "job_of"),
        "reading.many": ("Progress", "processors_at_hand", "read_all"),
        "reading.model": ("Item", "Look", "Piece", "Reading"),
        "reading.names_written": ("names_written",),
        "reading.one": ("read_source",),
        "reading.parse": ("read_sections",),
        "reading.partial": ("Elsewhere",),
        "reading.stop": ("Stop",),
        "sections": ("prompt",),
        "sections.undress": ("LIMIT",),
        "sources": ("archives", "machines"),
        "sources.archives": ("BROKEN", "Member", "reason_of"),
        "sources.files": ("FOLDER_LIMIT", "File", "TextSource", "open_sources"),
        "sources.machines": ("SOS_COMMANDS", "is_sos"),
        "sources.model": ("Packed", "Source", "Text", "Unreadable"),
        "sources.text": ("looks_binary",),
        "window.apply": ("Windows",),
        "window.bounds": ("Changed", "Window", "Windowed", "window_of"),
        "window.two": ("Run", "differing"),
    },
)
