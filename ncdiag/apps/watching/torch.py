"""The names under which the installed PyTorch reads the settings of its flight recorder.

TORCH_FR_... are newer names of TORCH_NCCL_... (torch/csrc/distributed/c10d/FlightRecorder.hpp). A release that knows
both warns of the older one on standard error, one that does not passes over the newer one: so the headers are asked,
which every package of PyTorch has.
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
"""Newer and older name of each setting."""
_HEADERS = "lib*/python3*/*-packages/torch/include/torch/csrc/distributed/c10d/"
"""Debian, Ubuntu and images made of them have dist-packages."""
_FILES = ("FlightRecorder.hpp", "FlightRecorderDetail.hpp", "ProcessGroupNCCL.hpp")
_PYTHONS = ("torchrun", "python3", "python")
_LIMIT = 1 << 20


class Names(msgspec.Struct, frozen=True):
    """A name for each setting: entries that are kept, dump on a timeout, names of dumps, names of pipes that ask."""

    size: str
    on_timeout: str
    file: str
    pipe: str

    def aliases(self, name: str) -> tuple[str, ...]:
        """All names of the setting that has this one."""
        return next((pair for pair in _PAIRS.values() if name in pair), (name,))


def names(argv: Sequence[str], environment: Mapping[str, str]) -> Names:
    """The names to use for a command; the older ones where no PyTorch is seen beside its programs."""
    for folder in _prefixes(argv, environment):
        text = "".join(_text(path / file) for path in folder.glob(_HEADERS) for file in _FILES)
        if text:
            return Names(**{field: new if f'"{new}"' in text else old for field, (new, old) in _PAIRS.items()})
    return Names(**{field: old for field, (_, old) in _PAIRS.items()})


def _prefixes(argv: Sequence[str], environment: Mapping[str, str]) -> Iterator[Path]:
    """The installations whose programs the command may start: the folder above that of a program."""
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
