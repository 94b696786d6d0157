"""``nvidia-smi -L``: one line a GPU, indented lines for its MIG devices.

Source of the format: nvidia-smi (CUDA driver package). ``nvidia-smi nvlink -s`` begins with the same line, so its
links are read here as well when no command says which of the two it is.
"""  # noqa: N999  (named after the tool's option, as the section kind is)

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed
from ncdiag.parsers._gpu_list import GPU, belongs, read

KIND = "nvidia_smi_L"
COMMANDS: tuple[str, ...] = ("nvidia-smi -L", "nvidia-smi --list-gpus", "nvidia-smi nvlink")
ANCHOR = GPU


def continues(lines: Sequence[str], line: str) -> bool:
    """More GPUs, MIG devices and NVLinks belong."""
    return belongs(line)


def parse(section: Section) -> Parsed:
    """GPUs by index with model and UUID."""
    return read(section, "nvidia-smi")
