"""Paths of files that the input shows: folders of libraries, mounts that a container needs.

Sources: pyxis (``--container-mounts=SRC:DST[:FLAGS],...``), docker run (``-v``), Kubernetes (hostPath).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event, Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.files import plugin_folders
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.platforms import platforms
from ncdiag.fixes.values import Bindings, Value, best, bound

_LIBRARIES = "LD_LIBRARY_PATH"
_MOUNTS = lazy_regex(r"--container-mounts[=\s](?P<mounts>[\w./:,+-]{1,800})")
_VOLUME = lazy_regex(r"(?:-v|--volume)[=\s](?P<mount>[\w./:+-]{1,300})")
_KFD = "/dev/kfd"
_IMAGE = "--container-image"
_SAFE = lazy_regex(r"(?:/[\w.+-]{1,80}){1,12}")
_WIDE = frozenset({"/", "/etc", "/usr", "/lib", "/lib64", "/opt", "/tmp", "/home", "/root", "/var"})  # noqa: S108
"""Folders that a container has itself: only the file is mounted."""
_POD_LINES = (
    "volumes: [{{name: topology, hostPath: {{path: {path}}}}}]   # of the pod\n"
    "volumeMounts: [{{name: topology, mountPath: {path}, readOnly: true}}]   # of the container"
)


@best
def library_path(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """For LD_LIBRARY_PATH: the folders of the network plugin that listings show, before those that are set."""
    folders = plugin_folders(view.job, view).split(":")
    if folders == [""]:
        return Value(reason="the folder of the network plugin was not seen")
    held = next((text for launch in view.job.launches if (text := launch.env.get(_LIBRARIES))), None)
    rest = [part for part in (held or f"${_LIBRARIES}").split(":") if part and part not in folders]
    return Value(text=":".join([*folders, *rest]), reason="the plugin is listed there")


@best
def topology_mount(view: View, bindings: Bindings) -> Value:
    """The option that mounts the missing topology file into the container, for what starts it."""
    event = bound(bindings, Event)
    path = str(event.fields.get("file_path") or "") if event is not None else ""
    if not _SAFE.fullmatch(path):
        return Value(reason="the path of the file was not seen")
    what = posixpath.dirname(path)
    what = path if what in _WIDE else what
    if any(_reaches(mount, path) for mount in _mounts(view.job)):
        return Value(reason=f"{what} is mounted")
    launch = next((one for one in view.job.launches if _IMAGE in one.text), None)
    if launch is not None:
        held = _MOUNTS.search(next((one.text for one in view.job.launches if _MOUNTS.search(one.text)), ""))
        mounts = ",".join([*([held["mounts"]] if held else []), f"{what}:{what}:ro"])
        return Value(text=f"srun --container-mounts={mounts} ...", reason="the mounts of the launch, and the file's")
    if POD in platforms(view.job, view):
        return Value(text=_POD_LINES.format(path=what), reason="the folder of the file on the node")
    if any(_is_docker(one) for one in view.job.launches):
        return Value(text=f"docker run -v {what}:{what}:ro ...", reason="the folder of the file on the host")
    return Value(reason="no container was seen")


@best
def kfd_group(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The group of AMD's device file for ``--group-add``: its number, since its name has another one in the image."""
    found = {group for host in view.job.hosts if (group := (host.device_groups or {}).get(_KFD))}
    if len(found) == 1:
        return Value(text=found.pop(), reason=f"the group of {_KFD}")
    reason = f"the number of the group of {_KFD} was not seen"
    return Value(text=f'"$(stat -c %g {_KFD})"', reason=reason, ask_for=("the output of ls -ln /dev/kfd",))


def _is_docker(launch: Launch) -> bool:
    return launch.program.startswith(("docker", "podman")) or "compose" in launch.program


def _mounts(job: Job) -> Iterator[str]:
    """Source and target of each mount of a launch, ``a:b``."""
    for launch in job.launches:
        for found in _MOUNTS.finditer(launch.text):
            yield from found["mounts"].split(",")
        yield from (found["mount"] for found in _VOLUME.finditer(launch.text))


def _reaches(mount: str, path: str) -> bool:
    target = [*mount.split(":"), mount][1]
    return path == target or path.startswith(target.rstrip("/") + "/")
