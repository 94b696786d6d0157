"""Files that listings of hosts show: where the network plugin is, and a topology file that has another path."""

from __future__ import annotations

import posixpath

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_PLUGIN = lazy_regex(r"libnccl-net[\w-]*\.so(?:\.\d{1,6})*$")
_LIBFABRIC = "libfabric.so.1"
_TOPOLOGY = lazy_regex(r"topo[\w.-]*\.xml$|[\w-]*topo\.xml$")
_NO_LETTER = lazy_regex(r"[^a-z0-9]+")
_MISSING = "topology-file-missing"
_PLAIN = "topoxml"
"""A name that says nothing of the machine."""


@derived
def listed_files(job: Job, view: View) -> tuple[str, ...]:
    """The files of all hosts that listings show."""
    for host in job.hosts:
        if host.files:
            view.note(host, "files")
    return tuple(dict.fromkeys(path for host in job.hosts for path in host.files or ()))


@derived
def plugin_folders(job: Job, view: View) -> str:
    """The folder of the network plugin and, where it is listed, that of libfabric: ``a:b``; empty if there are two."""
    files = listed_files(job, view)
    found = dict.fromkeys(posixpath.dirname(path) for path in files if _PLUGIN.match(posixpath.basename(path)))
    fabric = dict.fromkeys(posixpath.dirname(path) for path in files if posixpath.basename(path) == _LIBFABRIC)
    if len(found) != 1:
        return ""
    return ":".join(dict.fromkeys([*found, *(fabric if len(fabric) == 1 else ())]))


@derived
def has_topology_file(job: Job, view: View) -> bool:
    """Does a host have the topology file that NCCL could not open, so that only the container lacks it?"""
    return not _missing(job).isdisjoint(listed_files(job, view))


@derived
def moved_topology_file(job: Job, view: View) -> str:
    """The only listed file that has the name of the missing one, written in another way or in another folder."""
    missing, files = _missing(job), listed_files(job, view)
    if not missing or has_topology_file(job, view):
        return ""
    names = {name for path in missing for name in _names(path)}
    near = [path for path in files if not names.isdisjoint(_names(path))]
    if not near:
        near = [path for path in files if _TOPOLOGY.search(posixpath.basename(path))]
    return near[0] if len(near) == 1 else ""


def _missing(job: Job) -> set[str]:
    return {str(event.fields.get("file_path") or "") for event in job.events if event.event == _MISSING} - {""}


def _names(path: str) -> set[str]:
    """The file's name in letters and digits, alone and with its folder: ``ndv5topoxml``."""
    parts = path.lower().split("/")
    return {_NO_LETTER.sub("", "".join(parts[-length:])) for length in (1, 2)} - {_PLAIN}
