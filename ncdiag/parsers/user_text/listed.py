"""What a listing shows: libraries and XML files, which of them one process maps, and folders of others than root.

Source of the format: rows of ``ls -l`` below their folder, of ``ls -ld``, paths that ``find`` prints, and rows of
``/proc/PID/maps`` (proc_pid_maps(5)), ``lsof -p`` and ``pmap``.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex

_FILE = r"[\w.+-]{1,80}\.(?:xml|so(?:\.\d{1,6}){0,4})"
_FOLDER = r"(?:/[\w.+-]{1,80}){1,12}"
_HEADING = lazy_regex(rf"(?P<folder>{_FOLDER})/?:\s*$")
_TYPED = lazy_regex(r"[^$#%>\n]{0,80}[$#%>]\s{0,4}(?P<command>[a-z(].{0,400})$")
_LISTS = lazy_regex(rf"(?:sudo\s)?(?:ls|ll)(?:\s-\w+)*(?P<folders>(?:\s{_FOLDER}/?){{1,8}})\s*(?:\||$)")
_INSIDE = lazy_regex(
    r"--container-image|docker exec|podman exec|singularity exec|apptainer exec|enroot start|docker run"
)
"""Commands whose output is that of a container."""
_ROW = lazy_regex(rf"\s*[-l][rwxsStT-]{{9}}[.+@]?\s.{{8,80}}\s(?P<file>(?:{_FOLDER}/)?{_FILE})(?:\s->\s\S+)?\s*$")
_PATH = lazy_regex(rf"\s*(?:\S+ \([^()]{{1,60}}\) => )?(?P<path>{_FOLDER}/{_FILE})\s*$")
_OF_FOLDER = lazy_regex(
    rf"\s*d(?P<mode>[rwxsStT-]{{9}})[.+@]?\s+\d+\s+(?P<owner>[\w.-]{{1,40}})\s+\S{{1,40}}\s.{{4,60}}\s(?P<path>{_FOLDER})/?\s*$"
)
_OF_DEVICE = lazy_regex(
    r"\s*c[rwxsStT-]{9}[.+@]?\s+\d+\s+\S{1,40}\s+(?P<group>\d{1,7})\s+\d+,\s*\d+\s.{4,40}\s(?P<path>/dev/[\w./-]{1,60})\s*$"
)
_MAPS = lazy_regex(r"\bproc/[^\s/*]{1,60}/(?:maps|smaps|numa_maps)\b|\b(?:lsof\s[^|]{0,60}-p|pmap)\s")
"""In a command that lists the files of one process."""
_OF_MAPS = lazy_regex(
    r"\s*[0-9a-f]{6,16}-[0-9a-f]{6,16} [rwxsp-]{4} [0-9a-f]{4,16} \S{3,9} \d{1,20}\s+"
    rf"(?P<path>{_FOLDER}/{_FILE})\s*$"
)
_LAST = lazy_regex(rf"\S.*\s(?P<path>{_FOLDER}/{_FILE})\s*$")
_ANYBODY = "anybody"
_SIGNS = (".xml", ".so")
_MOST, _LONGEST = 64, 600


def read(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Path and place of each file, outside of containers."""
    if not any(sign in line for line in lines for sign in _SIGNS):
        return
    folder, is_inside, count = "", False, 0
    for place, line in enumerate(lines):
        if (typed := _TYPED.match(line)) is not None:
            listed = _LISTS.match(typed["command"])
            folders = listed["folders"].split() if listed else []
            folder, is_inside = folders[0] if len(folders) == 1 else "", _INSIDE.search(line) is not None
        elif heading := _HEADING.match(line):
            folder = heading["folder"]
        elif any(sign in line for sign in _SIGNS) and not is_inside and count < _MOST:
            row, alone = _ROW.match(line), _PATH.match(line)
            path = alone["path"] if alone else posixpath.join(folder, row["file"]) if row else ""
            if path.startswith("/"):
                count += 1
                yield path, place


def mapped(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Path and place of each library that a listing shows in the memory of one process."""
    if ".so" not in "\n".join(lines):
        return
    is_of_one, count = False, 0
    for place, line in enumerate(lines):
        if (typed := _TYPED.match(line)) is not None:
            is_of_one = _MAPS.search(typed["command"]) is not None
        elif ".so" in line and len(line) < _LONGEST and count < _MOST:
            found = _OF_MAPS.match(line) or ((_PATH.match(line) or _LAST.match(line)) if is_of_one else None)
            if found:
                count += 1
                yield found["path"], place


def folders(lines: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Path, owner (``anybody`` where all may write) and place of each folder that is not only root's."""
    if not any(line.lstrip().startswith("d") and _OF_FOLDER.match(line) for line in lines):
        return  # few texts have such a row, and only beside one the commands matter
    is_inside = False
    for place, line in enumerate(lines):
        if _TYPED.match(line) is not None:
            is_inside = _INSIDE.search(line) is not None
        elif not is_inside and line.lstrip().startswith("d") and (row := _OF_FOLDER.match(line)) is not None:
            owner = _ANYBODY if row["mode"][-2] == "w" else row["owner"]
            if owner != "root" and row["mode"][1] == "w":
                yield row["path"], owner, place


def devices(lines: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """Path, number of the group and place of each device file; the numbers are the same inside of a container."""
    for place, line in enumerate(lines):
        if line.lstrip().startswith("c") and (row := _OF_DEVICE.match(line)) is not None:
            yield row["path"], row["group"], place
