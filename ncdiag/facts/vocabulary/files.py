"""Files that listings of hosts show, and the folder in which the network plugin is."""

from __future__ import annotations

import posixpath

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_PLUGIN = lazy_regex(r"libnccl-net[\w-]*\.so(?:\.\d{1,6})*$")
_LIBFABRIC = "libfabric.so.1"


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
