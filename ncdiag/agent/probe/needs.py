"""Check what a launch needs on a host: the user, files, Python, NCCL, the driver and GPUs.

Each result is a line that `ncdiag.parsers.probe` parses. A file system that hangs delays only these lines.
"""

import glob
import os
import pwd
import re
import shutil
import threading
from typing import Any, Iterator, List, Mapping, Optional, Tuple

from ncdiag.agent.libraries import found, versions
from ncdiag.agent.run import run

_SECONDS = 15.0
"""Seconds for the rest, after all connections were tested."""
_PYTHON_SECONDS = 10.0
_ASKED = "import sys; print('.'.join(map(str, sys.version_info[:3]))); print('\\n'.join(sys.path))"
_VERSION = re.compile(r"\d{1,2}\.\d{1,3}\.\d{1,3}")
_PYTHON = re.compile(r"python[\d.]{0,5}\Z")
"""Other names (python_train.sh) are the program of the launch, which must not be started here."""
_LOADED = "/sys/module/nvidia/version"
_GPUS = ("/proc/driver/nvidia/gpus/*", "/dev/nvidia[0-9]*")
"""A folder for each GPU of the driver, and a device for each GPU given to a container."""
_NODES = "/sys/class/kfd/kfd/topology/nodes/*/gpu_id"
"""A file for each node of AMD's driver, with 0 for a CPU."""


class Needs:
    """Checks in a separate thread, while the connections are tested."""

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        """Start at once. ``wanted``: ``paths`` of files and folders, ``programs`` by name or path."""
        self._words: List[str] = []
        self._looking = threading.Thread(target=self._look, args=(wanted,), daemon=True)
        self._looking.start()

    def _look(self, wanted: Mapping[str, Any]) -> None:
        for words in _told(wanted):
            self._words.append(words)

    def lines(self, host: str) -> List[str]:
        """The results available in time, with the name of the host."""
        self._looking.join(_SECONDS)
        late = ["has more that was not looked at in time"] if self._looking.is_alive() else []
        return ["probe {} {}".format(host, words) for words in self._words[:] + late]


def _told(wanted: Mapping[str, Any]) -> Iterator[str]:
    yield "is user {} uid {}, {} GPUs".format(_user(), os.geteuid(), gpus())
    driver = _first_line(_LOADED)
    if driver:
        yield "has driver {}".format(driver)
    folders: List[str] = []
    for program in wanted["programs"]:
        words, own = _program(program)
        folders += own
        yield words
    release = _nccl(folders)
    if release is not None:
        yield "has NCCL {} in {}".format(*release)
    for path in wanted["paths"]:
        yield _path(path)


def gpus() -> int:
    """The number of GPUs that the driver of NVIDIA or AMD reports."""
    counts = (len(glob.glob(pattern)) for pattern in _GPUS)
    return next(filter(None, counts), 0) or sum(_first_line(node) not in {"", "0"} for node in glob.glob(_NODES))


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a number without a name, as in a container
        return str(os.geteuid())


def _path(path: str) -> str:
    try:
        kind = "folder" if os.path.isdir(path) else "file"
        os.stat(path)
    except OSError as error:
        return "lacks {}: {}".format(path, os.strerror(error.errno or 0).lower())
    return "has {} {}".format(kind, path) if os.access(path, os.R_OK) else "lacks {}: not readable".format(path)


def _program(name: str) -> Tuple[str, List[str]]:
    """The words on a program, and the package folders of the Python that it is or is started by."""
    path = shutil.which(name)
    if path is None:
        return "lacks program {}".format(name), []
    python = _interpreter(path)
    if python is None:
        return "has program {} at {}".format(name, path), []
    answer = run([python, "-c", _ASKED], _PYTHON_SECONDS)
    version, *folders = answer.output.decode("utf-8", "replace").splitlines() or [""]
    if answer.status or not _VERSION.match(version):
        return "has program {} at {}".format(name, path), []
    real = "" if python == path else " of {}".format(python)
    return "has program {} at {}{}, Python {}".format(name, path, real, version), folders


def _interpreter(path: str) -> Optional[str]:
    """The Python that a program is, or that its first line names; None for other programs."""
    if _PYTHON.match(os.path.basename(path)):
        return path
    words = _first_line(path).split()
    if not words or not words[0].startswith("#!"):
        return None
    words[0] = words[0][2:]
    if os.path.basename(words[0]) == "env" and len(words) > 1:
        return shutil.which(words[1]) if _PYTHON.match(words[1]) else None
    return words[0] if _PYTHON.match(os.path.basename(words[0])) else None


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as opened:
            return opened.read(512).partition(b"\n")[0].decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _nccl(folders: List[str]) -> Optional[Tuple[str, str]]:
    """(version, path) of the NCCL library that a program of this Python finds first."""
    own = [os.path.join(folder, "nvidia", "nccl", "lib") for folder in folders if folder.endswith("-packages")]
    places = dict(os.environ)
    places["LD_LIBRARY_PATH"] = ":".join(filter(None, [places.get("LD_LIBRARY_PATH", ""), *own]))
    for path in found(places)[:1]:
        for version in versions([path]).values():
            return version, path
    return None
