"""Paths of files that the input shows: folders of libraries, mounts that a container needs.

Sources: pyxis (``--container-mounts=SRC:DST[:FLAGS],...``), docker run (``-v``), Kubernetes (hostPath).
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event, Host, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.files import listed_files, plugin_folders
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.machine_files import file_of_machine, given_foreign_file
from ncdiag.facts.vocabulary.mounts import PYXIS, PYXIS_MOUNTS, is_docker, is_in_container, is_mounted
from ncdiag.facts.vocabulary.platforms import platforms
from ncdiag.fixes.values import Bindings, Value, best, bound

_LIBRARIES = "LD_LIBRARY_PATH"
_KFD = "/dev/kfd"
_SAFE = lazy_regex(r"(?:/[\w.+-]{1,80}){1,12}")
_SAFE_LIST = lazy_regex(r"[\w/.:+${}-]{1,2000}")
_SAFE_MOUNTS = lazy_regex(r"([\"']?)[\w/.:,+@%=${}-]{1,800}\1")
_OF_HOSTS = lazy_regex(r"/opt/microsoft(?:/[\w.+-]{1,80}){0,4}|/srv(?:/[\w.+-]{1,80}){1,4}")
"""Folders that no image has: mounting one of them hides nothing. Of any other only the file is mounted."""
_UNSEEN = "   # first see with ls -l that the host has it"
"""Docker creates an empty folder in place of a file that is missing on the host."""
_POD_LINES = (
    "volumes: [{{name: topology, hostPath: {{path: {source}, type: {kind}}}}}]   # of the pod\n"
    "volumeMounts: [{{name: topology, mountPath: {target}, readOnly: true}}]   # of the container"
)


@best
def library_path(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """For LD_LIBRARY_PATH: the folders of the network plugin that listings show, before those that are set."""
    folders = plugin_folders(view.job, view).split(":")
    if folders == [""]:
        return Value(reason="the folder of the network plugin was not seen")
    if is_in_container(view.job, view):
        return Value(reason="the listing is not known to be that of the container")
    held = next((text for launch in view.job.launches if (text := launch.env.get(_LIBRARIES))), None)
    if held is not None and not _SAFE_LIST.fullmatch(held):
        return Value(reason=f"the value of {_LIBRARIES} is the result of a command")
    rest = [part for part in (held or f"${_LIBRARIES}").split(":") if part and part not in folders]
    return Value(text=":".join([*folders, *rest]), reason="the plugin is listed there")


@best
def topology_mount(view: View, bindings: Bindings) -> Value:
    """The option that mounts the missing topology file into the container, for what starts it."""
    event = bound(bindings, Event)
    path = str(event.fields.get("file_path") or "") if event is not None else ""
    files = listed_files(view.job, view)
    source = _source(path, files)
    if not _SAFE.fullmatch(path) or not _SAFE.fullmatch(source):
        return Value(reason="the path of the file was not seen")
    target, kind = path, "File"
    if source == path and _OF_HOSTS.fullmatch(posixpath.dirname(path)):
        source = target = posixpath.dirname(path)
        kind = "Directory"
    if is_mounted(path, view.job):
        return Value(reason=f"{target} is mounted")
    mount, unseen = f"{source}:{target}:ro", "" if _source(path, files) in files else _UNSEEN
    if any(PYXIS in launch.text for launch in view.job.launches):
        return Value(
            text=f"srun --container-mounts={_beside(mount, view.job)} ...{unseen}",
            reason="the mounts of the launch, and the file's",
        )
    if POD in platforms(view.job, view):
        text = _POD_LINES.format(source=source, target=target, kind=kind)
        return Value(text=text, reason="the path on the node")
    if any(is_docker(one) for one in view.job.launches):
        return Value(text=f"docker run -v {mount} ...{unseen}", reason="the path on the host")
    return Value(reason="no container was seen")


@best
def topology_of_machine(view: View, bindings: Bindings) -> Value:
    """The file for the machine's type, beside the one of another type that is set."""
    host = bound(bindings, Host)
    path = file_of_machine(host, view) if host is not None and given_foreign_file(host, view) else ""
    listed = listed_files(view.job, view)
    beside = [each for each in listed if posixpath.dirname(each) == posixpath.dirname(path)]
    if not _SAFE.fullmatch(path) or (beside and path not in beside):
        return Value(reason="the file of the machine's type was not seen", ask_for=("nvidia-smi -L",))
    return Value(text=path, reason="the name of the file for machines with these GPUs")


def _source(path: str, files: Sequence[str]) -> str:
    """The file of the host: that path, or the only listed file of that name in another folder."""
    same = [each for each in files if posixpath.basename(each) == posixpath.basename(path)]
    return same[0] if len(same) == 1 else path


def _beside(mount: str, job: Job) -> str:
    """The mount after all of those that the launch has; a word for them where a command makes them."""
    found = (PYXIS_MOUNTS.search(launch.text) for launch in job.launches if "--container-mounts" in launch.text)
    for held in found:
        if held is None or not _SAFE_MOUNTS.fullmatch(held["mounts"]):
            return f"<the present mounts>,{mount}"
        mark = held["mounts"][0] if held["mounts"][0] in "\"'" else ""
        return f"{mark}{held['mounts'].strip(mark or None)},{mount}{mark}"
    return mount


@best
def kfd_group(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The group of AMD's device file for ``--group-add``: its number, since its name has another one in the image."""
    found = {group for host in view.job.hosts if (group := (host.device_groups or {}).get(_KFD))}
    if len(found) == 1:
        return Value(text=found.pop(), reason=f"the group of {_KFD}")
    reason = f"the number of the group of {_KFD} was not seen"
    return Value(text=f'"$(stat -c %g {_KFD})"', reason=reason, ask_for=("the output of ls -ln /dev/kfd",))
