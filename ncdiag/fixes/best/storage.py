"""Another folder to write to, on a file system with room: as the option or the variable that names the full one.

Sources: torch/_inductor/runtime/cache_dir_utils.py (TORCHINDUCTOR_CACHE_DIR), triton python/triton/knobs.py
(TRITON_CACHE_DIR), huggingface_hub constants.py (HF_HOME), Python tempfile (TMPDIR).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event, Host
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best, bound

_PATH = lazy_regex(r"(?P<path>(?:/[\w.+-]{1,120}){1,16})")
_OPTION = lazy_regex(r"(?P<option>--?[A-Za-z][\w-]{1,60})[=\s](?P<value>(?:/[\w.+-]{1,120}){1,16})")
_VARIABLES = (
    ("torchinductor", "TORCHINDUCTOR_CACHE_DIR"), ("triton", "TRITON_CACHE_DIR"), ("huggingface", "HF_HOME"),
    ("/tmp/", "TMPDIR"),  # noqa: S108
)  # fmt: skip
_WORDS = lazy_regex(r"[/_.-]+")
_ANYBODY = "anybody"
_OF_KERNEL = ("/dev", "/proc", "/run", "/sys")
_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs", "shm", "none", "overlay"})
"""File systems whose files use the memory that the job needs, or that a container loses."""
_ROOM = 8 << 30
"""Bytes that have to be free: less is soon used up as well."""
_ASK = ("df -h",)


@best
def other_folder(view: View, bindings: Bindings) -> Value:
    """The option of the launch, or the variable, with a folder of the user on another file system that has room."""
    path = _path(bound(bindings, Event))
    if not path:
        return Value(reason="the path of the file was not seen")
    folder = _folder(path, view)
    if folder is None:
        return Value(reason="no folder on a file system with room was seen", ask_for=_ASK)
    given = [found for launch in view.job.launches for found in _OPTION.finditer(launch.text)]
    option = next((found for found in given if _is_inside(path, found["value"])), None)
    if option is not None:
        text = f"{option['option']} {folder}   # in place of {option['value']}"
        return Value(text=text, reason=f"{folder} is on another file system")
    variable = next((name for word, name in _VARIABLES if word in path), None)
    if variable is None:
        return Value(reason="no option or variable for the folder was seen")
    return Value(text=f"export {variable}={folder}   # on every host", reason=f"{folder} is on another file system")


def _path(event: Event | None) -> str:
    """The path of the file that could not be written."""
    texts = () if event is None else (event.fields.get(name) for name in ("full_path", "shm_file", "error"))
    return next((found["path"] for text in texts if text and (found := _PATH.search(str(text)))), "")


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _folder(path: str, view: View) -> str | None:
    """The user's own folder on another file system, else one for everybody; None where two are alike."""
    names = set(_WORDS.split(path))
    found = {
        (owner == _ANYBODY, name) for host in view.job.hosts for name, owner in (host.folders or {}).items()
        if (owner == _ANYBODY or owner in names) and _has_room(host, name, path)
    }  # fmt: skip
    own = sorted(name for is_common, name in found if not is_common) or sorted(name for _, name in found)
    deepest = [name for name in own if not any(_is_inside(other, name) for other in own if other != name)]
    return deepest[0] if len(deepest) == 1 else None


def _has_room(host: Host, folder: str, path: str) -> bool:
    """Is the folder on another file system than the path, on a disk or a server, and is there room?"""
    mounts = {mount.path: mount.available_bytes or 0 for mount in host.mounts or ()}
    here, there = _mount(folder, mounts), _mount(path, mounts)
    if here is None or here == there or mounts[here] < _ROOM or any(_is_inside(folder, each) for each in _OF_KERNEL):
        return False
    return not any({mount.filesystem, mount.fstype} & _IN_MEMORY for mount in host.mounts or () if mount.path == here)


def _mount(path: str, mounts: dict[str, int]) -> str | None:
    return max((name for name in mounts if _is_inside(path, name) or name == "/"), key=len, default=None)
