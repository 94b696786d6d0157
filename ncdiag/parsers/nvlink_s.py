"""``nvidia-smi nvlink -s``: the links of each GPU with their rates, or the sentence that all are inactive.

Source of the format: nvidia-smi (CUDA driver package): ``Link 0: 26.562 GB/s`` or ``Link 0: <inactive>`` behind a tab.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.facts.observe import Parsed
from ncdiag.parsers._gpu_list import belongs, read
from ncdiag.spans import Section

KIND = "nvlink_s"
COMMANDS: tuple[str, ...] = ()  # its first line is that of ``nvidia-smi -L``, whose module takes the commands
ANCHOR = r"\s{1,8}Link \d{1,2}: (?:\d{1,4}(?:\.\d{1,4})? GB/s|<inactive>)[ \t]*$"


def continues(lines: Sequence[str], line: str) -> bool:
    """GPUs and their links belong."""
    return belongs(line)


def parse(section: Section) -> Parsed:
    """GPUs with the number of active and inactive links."""
    return read(section, "nvidia-smi")
