"""Answers of the system and the environment that are in no file."""

import os
import struct
from typing import Dict, List, Mapping, Optional

from ncdiag.agent.hide import hide_secrets, is_kept

CONF_FILES = ("etc/nccl.conf", "root/.nccl.conf", "home/*/.nccl.conf")
"""NCCL's configuration files if no home folder is known."""
_LONG, _TIMEX_STATUS, _TIMEX_ROOM = 8, 40, 512
"""Of ``struct timex`` (include/uapi/linux/timex.h) where a long has 8 bytes: modes and four longs come before
``status``; 208 bytes in all."""


def kept(environ: Mapping[str, str]) -> Dict[str, str]:
    """The variables that are kept, without secrets."""
    chosen = {name: hide_secrets(value) for name, value in environ.items() if is_kept(name.upper())}
    if "HOME" in environ:
        chosen["HOME"] = environ["HOME"]
    return chosen


def environment_of(pid: int) -> Dict[str, str]:
    """The variables that are kept of a running process, as at its start. Raises OSError."""
    with open(f"/proc/{pid}/environ", "rb") as opened:
        pairs = [item.partition("=") for item in opened.read().decode("utf-8", "replace").split("\0")]
    return kept({name: value for name, equals, value in pairs if equals})


def conf_files(environ: Mapping[str, str]) -> List[str]:
    """Patterns of NCCL's configuration files; from 2.23 on NCCL_CONF_FILE replaces the one in the home folder."""
    home = environ.get("HOME")
    places = [CONF_FILES[0], home + "/.nccl.conf", environ.get("NCCL_CONF_FILE", "")] if home else list(CONF_FILES)
    return [place.strip("/") for place in dict.fromkeys(places) if place]


def sizes(folder: str = "/dev/shm") -> Optional[Dict[str, int]]:  # noqa: S108  (it is the subject, no temporary file)
    """Sizes of a file system in bytes; empty if the folder does not exist, None if unavailable."""
    try:
        status = os.statvfs(folder)
    except FileNotFoundError:
        return {}
    except OSError:
        return None
    return {
        "size_bytes": status.f_blocks * status.f_frsize,
        "used_bytes": (status.f_blocks - status.f_bfree) * status.f_frsize,
        "available_bytes": status.f_bavail * status.f_frsize,
    }


def clock_status() -> Optional[int]:
    """``status`` of ``struct timex``; None if the kernel or the C library does not provide it."""
    if struct.calcsize("l") != _LONG:
        return None
    try:
        import ctypes

        answer = ctypes.create_string_buffer(_TIMEX_ROOM)  # modes 0: nothing is set
        failed = ctypes.CDLL(None).adjtimex(answer) < 0
    except (ImportError, AttributeError, OSError, TypeError):
        return None
    return None if failed else int(struct.unpack_from("i", answer, _TIMEX_STATUS)[0])
