"""Find the NCCL libraries and plugins that a program on this host could load."""

import glob
import os
import re
import struct
import sys
from typing import Dict, Iterable, Iterator, List, Mapping, Optional

LIBRARIES, PLUGINS = "libnccl.so*", "libnccl-*.so*"
"""File names of the library, and of net, tuner and profiler plugins."""

SYSTEM_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/lib", "/usr/local/nccl/lib",
    "/usr/local/cuda/lib64", "/opt/nccl/lib", "/usr/lib",
)  # fmt: skip


_SAYS = re.compile(rb"NCCL version (\d{1,3}\.\d{1,3}\.\d{1,3})[+-]")
_STRINGS_LIMIT = 16 << 20  # bytes of the sections that may contain them: GPU code takes hundreds of MB
_ENTRY = 64  # bytes of a section header
_ELF64 = b"\x7fELF\x02\x01"
_CONTENT, _ALLOCATED = 1, 2  # SHT_PROGBITS; SHF_ALLOC alone: neither written nor executed


def found(environ: Mapping[str, str], pattern: str = LIBRARIES) -> List[str]:
    """The files with that name in the order of the search, each file once.

    Searched: LD_LIBRARY_PATH, ``nvidia/nccl/lib`` in the package folders of this Python (of the wheels
    nvidia-nccl-cu11, -cu12 and -cu13), the folders of /etc/ld.so.conf and the usual ones.
    """
    files: Dict[str, str] = {}
    for folder in dict.fromkeys(_folders(environ)):
        for file in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
            if os.path.isfile(file):
                files.setdefault(os.path.realpath(file), file)
    return list(files.values())


def _folders(environ: Mapping[str, str]) -> Iterator[str]:
    for name in environ.get("LD_LIBRARY_PATH", "").split(":"):
        if name:
            yield name
    for base in sys.path:
        if base.endswith(("site-packages", "dist-packages")):
            yield os.path.join(base, "nvidia", "nccl", "lib")
    yield from _configured("/etc/ld.so.conf", depth=3)
    yield from SYSTEM_FOLDERS


def _configured(file: str, depth: int) -> Iterator[str]:
    """The folders in ld.so.conf and in the files it includes."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            lines = opened.read().splitlines()
    except OSError:
        return
    for line in lines:
        words = line.split("#", 1)[0].split()
        if len(words) > 1 and words[0] == "include" and depth:
            if os.path.isabs(words[1]):
                for included in sorted(glob.glob(words[1])):
                    yield from _configured(included, depth - 1)
        elif len(words) == 1 and words[0].startswith("/"):
            yield words[0]


def versions(paths: Iterable[str]) -> Dict[str, str]:
    """The versions in the libraries (``2.27.7``), by path; libraries without one are left out."""
    told = {path: _version(path) for path in dict.fromkeys(paths)}
    return {path: version for path, version in told.items() if version is not None}


def _version(path: str) -> Optional[str]:
    """The version among the strings of the file (src/init.cc of NCCL: VERSION_STRING); the file is not executed."""
    try:
        with open(path, "rb") as opened:
            head = opened.read(64)
            if not head.startswith(_ELF64):
                return None
            (table,) = struct.unpack_from("<Q", head, 0x28)
            (count,) = struct.unpack_from("<H", head, 0x3C)
            opened.seek(table)
            entries, left = opened.read(_ENTRY * count), _STRINGS_LIMIT
            for at in range(0, len(entries) - _ENTRY + 1, _ENTRY):
                kind, flags, _, offset, length = struct.unpack_from("<IQQQQ", entries, at + 4)
                if kind == _CONTENT and flags == _ALLOCATED and length <= left:
                    left -= length
                    opened.seek(offset)
                    says = _SAYS.search(opened.read(length))
                    if says:
                        return says.group(1).decode()
    except (OSError, ValueError, OverflowError, struct.error):
        pass
    return None
