"""Paths in messages, files that listings of hosts show, and the folder in which the network plugin is."""

from __future__ import annotations

import posixpath
import shlex

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
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


_PLAIN = lazy_regex(r"(?:/[\w.+@=:,%~ -]{1,200}){1,30}/?|/")
"""A path that is one shell word within quotation marks, and harmless if somebody leaves them out."""


def for_shell(path: str) -> str:
    """The path as a shell word; a word for it where it has characters that a shell acts on: the input is untrusted."""
    return shlex.quote(path) if _PLAIN.fullmatch(path) else "<path>"


def path_of_tool(event: Event) -> str:
    """The path in the message of a tool; empty if it names none."""
    path, rooted = event.fields.get("full_path"), event.fields.get("rooted_path")
    return str(path or "").strip() or (f"/{rooted}" if rooted else "")


@derived
def path_for_shell(event: Event, view: View) -> str:
    """The path that the line of an event names, for a command; ``<path>`` if it names none or an unsafe one."""
    return for_shell(path_of_tool(event) or str(event.fields.get("path") or ""))
