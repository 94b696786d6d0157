"""The names of the flight recorder's settings in the installed PyTorch.

TORCH_FR_... are newer names of TORCH_NCCL_... (torch/csrc/distributed/c10d/FlightRecorder.hpp). A release that knows
both prints a warning about the older one; one that does not, ignores the newer one. Therefore the headers, which every
PyTorch package contains, are searched.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

_PAIRS = {
    "size": ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"),
    "on_timeout": ("TORCH_FR_DUMP_ON_TIMEOUT", "TORCH_NCCL_DUMP_ON_TIMEOUT"),
    "file": ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"),
    "pipe": ("TORCH_FR_DEBUG_INFO_PIPE_FILE", "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"),
}
"""The newer and the older name of each setting."""
_HEADERS = "lib*/python3*/*-packages/torch/include/torch/csrc/distributed/c10d/"
"""Debian, Ubuntu and images based on them have dist-packages."""
_FILES = ("FlightRecorder.hpp", "FlightRecorderDetail.hpp", "ProcessGroupNCCL.hpp")
_PYTHONS = ("torchrun", "python3", "python")
_LIMIT = 1 << 20


class Names(msgspec.Struct, frozen=True):
    """A name for each setting: number of entries, dump on a timeout, prefix of dumps, prefix of request pipes."""

    size: str
    on_timeout: str
    file: str
    pipe: str

    def aliases(self, name: str) -> tuple[str, ...]:
        """All names of the setting with this name."""
        return next((pair for pair in _PAIRS.values() if name in pair), (name,))


def names(argv: Sequence[str], environment: Mapping[str, str]) -> Names:
    """The names to use for a command; the older ones if no PyTorch is found near its programs."""
    for folder in _prefixes(argv, environment):
        text = "".join(_text(path / file) for path in folder.glob(_HEADERS) for file in _FILES)
        if text:
            return Names(**{field: new if f'"{new}"' in text else old for field, (new, old) in _PAIRS.items()})
    return Names(**{field: old for field, (_, old) in _PAIRS.items()})


def _prefixes(argv: Sequence[str], environment: Mapping[str, str]) -> Iterator[Path]:
    """The installations whose programs the command may start: the parent of a program's folder."""
    for word in dict.fromkeys([*argv, *_PYTHONS]):
        found = None if word.startswith("-") or "=" in word else shutil.which(word, path=environment.get("PATH"))
        if found is not None:
            yield Path(found).parent.parent


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_LIMIT)
    except OSError:
        return ""
