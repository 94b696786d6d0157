"""File systems that a job cannot use: full, over the quota, read-only, or on a server that does not answer."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.files import for_shell, path_of_tool
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.knowledge.limits.lost_storage import LOST, SERVER_LOST, has_evicted, is_no_storage, is_past_loss

_FULL, _READ_ONLY, _EXCEPTION = "storage-full", "storage-read-only", "python-exception"
_MPI_FILE, _SHM = "mpi-shm-full", "/dev/shm"  # noqa: S108  (a path that lines name)
"""Open MPI's file for its messages inside a host; without /dev/shm it is in the session folder."""
_STORAGE = {
    _FULL: "A file system is full, or its quota is used up",
    _READ_ONLY: "A file system is read-only",
}
_SAID = lazy_regex(
    r"\[Errno (?:28|122)\][^:]{0,40}(?:: ?['\"](?!/dev/shm)(?P<path>[^'\"]{1,400}))|\[Errno 122\]|\bStorageFull\b"
    r"|\[Errno (?P<read_only>30)\][^:]{0,40}(?:: ?['\"](?P<other>[^'\"]{1,400}))?"
    r"|(?:^|\s)(?P<written>/(?!dev/shm)[^\s:;]{1,400})[:;] (?:No space left on device|Disk quota exceeded)"
)
"""The words of Python and Rust for ENOSPC with a file, EDQUOT and EROFS; without a file it may be shared memory.

TensorFlow writes the file in front (tsl/platform/errors.cc, IOError), as many programs in C do.
"""


_NO_SPACE = "[Errno 28]"
_WRITER = lazy_regex(r"inline_container\.cc|PytorchStreamWriter failed writing")


@derived_of(_FULL, _READ_ONLY, _EXCEPTION, _MPI_FILE)
def is_storage_failure(event: Event, view: View) -> bool:
    """Could a program not write a file because its file system is full, over its quota, or read-only?"""
    if event.event == _MPI_FILE and str(event.fields.get("shm_file", "")).startswith(_SHM):
        return False
    text = str(event.fields.get("error", ""))
    said = event.event != _EXCEPTION or _SAID.search(text) is not None or (_NO_SPACE in text and _saves(view.job, view))
    return said and is_open_failure(event, view)


@derived
def _saves(job: Job, view: View) -> bool:
    """Did PyTorch fail to write a file of tensors, which is no shared memory (caffe2/serialize/inline_container.cc)?"""
    return any(_WRITER.search(str(e.fields.get("error", ""))) for e in job.events if e.event == _EXCEPTION)


@derived
def storage_trouble(event: Event, view: View) -> str:
    """What keeps a file from being written, with its path: ``A file system is read-only: /root/.cache``."""
    path, kind = str(event.fields.get("full_path") or event.fields.get("shm_file") or "").strip(), event.event
    kind = _FULL if kind == _MPI_FILE else kind
    said = _SAID.search(str(event.fields.get("error", ""))) if kind == _EXCEPTION else None
    if said is not None:
        path, kind = said["path"] or said["other"] or said["written"] or "", _READ_ONLY if said["read_only"] else _FULL
    text = _STORAGE.get(kind, "A file cannot be written")
    if kind == _FULL and (full := _full_mount(event, view)):
        return f"{full} is full (df: nothing available)"
    return f"{text}: {path}" if path else text


_APART = ("/dev", "/run", "/sys", "/snap", "/boot")
"""Where no program of a job writes its files; some are always full."""


def _full_mount(event: Event, view: View) -> str:
    """The only file system of the input without room; empty if none or several are full."""
    hosts = [host for host in view.job.hosts if event.host in {None, host.name}] or view.job.hosts
    mounts = [mount for host in hosts for mount in host.mounts or ()]
    full = [
        each for each in mounts if each.available_bytes == 0 and each.size_bytes and not each.path.startswith(_APART)
    ]
    if len({each.path for each in full}) != 1:
        return ""
    view.note(full[0])
    return full[0].path


@derived
def storage_path(event: Event, view: View) -> str:
    """The full file system for a command, or a word for it."""
    return for_shell(_full_mount(event, view))


_LOSSES = {
    5: "cannot be read or written (Input/output error)",
    107: "is not connected: the program or server that provides it is gone",
    108: "is shut down for this client, which Lustre has evicted",
    112: "is on a host that is down",
    116: "is stale: its server no longer knows the file",
    121: "failed on its server (Remote I/O error)",
}
"""What a network file system returns, by Linux's number of the error (include/uapi/asm-generic/errno.h)."""
_ERRNO = lazy_regex(
    r"\[Errno (?P<number>5|107|108|112|116|121)\][^:]{0,60}: ?['\"](?P<path>[^'\"]{1,400})"
    r"|\bos error (?P<rust>107|108|116|121)\b"
)
"""The words of Python, with a file, and those of Rust; EIO without a file may be that of a device."""
_WORDS = (
    ("Stale file handle", 116), ("Stale NFS file handle", 116), ("Transport endpoint is not connected", 107),
    ("Cannot send after transport endpoint shutdown", 108), ("Remote I/O error", 121), ("Host is down", 112),
)  # fmt: skip


@derived_of(LOST, SERVER_LOST, _EXCEPTION)
def is_storage_loss(event: Event, view: View) -> bool:
    """Did a file system fail that a server provides, or did the server not answer and has not since?"""
    found = _ERRNO.search(str(event.fields.get("error", "")))
    if event.event == _EXCEPTION and found is None:
        return False
    path = path_of_tool(event) or str((found and found["path"]) or "")
    return not is_no_storage(path) and is_open_failure(event, view) and not is_past_loss(event, view)


_STALE = "116"
_OF_PROGRAM = lazy_regex(
    r"(?:.*/)?(?:site|dist)-packages/.*|/(?:.*/)?s?bin/[^/.]+"
    r"|/(?:.*/)?(?:\w{0,10}conda\d?|envs?|venvs?|\.venv|virtualenvs)/(?:.*/)?(?:bin|lib(?:64|exec)?|include)/.*"
    r"|.*\.(?:py[cio]?|so(?:\.\d{1,6}){0,4}|pyd|sh)"
)
"""Files of a program: code, and files of an environment; a folder ``bin`` or ``envs`` alone may also hold data."""


@derived_of(_EXCEPTION)
def is_program_replaced(event: Event, view: View) -> bool:
    """Is a file of the program stale (ESTALE), as after it was replaced in a shared folder, and no data file lost?

    If the server has lost its file system, data files are stale as well, or it does not answer.
    """
    return _is_program_stale(event) and all(map(_is_program_stale, _storage_losses(view.job, view)))


@derived
def _storage_losses(job: Job, view: View) -> tuple[Event, ...]:
    """The lines about file systems that servers no longer provide."""
    return tuple(event for event in job.events if is_storage_loss(event, view))


def _is_program_stale(event: Event) -> bool:
    found = _ERRNO.search(str(event.fields.get("error", "")))
    return found is not None and found["number"] == _STALE and _OF_PROGRAM.fullmatch(found["path"] or "") is not None


@derived
def storage_loss(event: Event, view: View) -> str:
    """What happened to the file system, with its path or server."""
    if has_evicted(event, view):
        return f"{event.fields.get('target')} has evicted the Lustre client"
    if event.event == SERVER_LOST:
        server = event.fields.get("target") or event.fields.get("file_service")
        return f"The file server {server} does not answer" if server else "A file server does not answer"
    if event.event == LOST:
        path = path_of_tool(event)
        number = next((number for words, number in _WORDS if words in event.text), 5)
    else:
        found = _ERRNO.search(str(event.fields.get("error", "")))
        path = (found["path"] or "") if found else ""
        number = int(found["number"] or found["rust"]) if found else 5
    return f"{path or 'A file system'} {_LOSSES[number]}"


@derived
def lost_path(event: Event, view: View) -> str:
    """The path for a command, or a word for it."""
    found = _ERRNO.search(str(event.fields.get("error", "")))
    return for_shell(path_of_tool(event) or (found["path"] if found else None) or "")
