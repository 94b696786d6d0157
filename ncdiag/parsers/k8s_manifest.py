"""Manifests of Kubernetes: what a pod that asks for GPUs is given (variables, /dev/shm, capabilities, network, RDMA).

Pod, Job, JobSet, StatefulSet, Deployment, and the training operators' MPIJob, PyTorchJob, TrainJob, LeaderWorkerSet,
RayCluster and Volcano jobs: a pod specification is recognised by its ``containers``, wherever it stands. A Launch of
the program ``kubernetes`` for each container with GPUs; its ``nnodes`` are the pods with GPUs of that object. A
NetworkPolicy that keeps pods of its namespace from each other is an event.

Sources: Kubernetes API reference v1.31 (PodSpec, Container, EmptyDirVolumeSource), Kubeflow training-operator v1.8
(kubeflow.org/v1), LeaderWorkerSet v0.5 (leaderworkerset.x-k8s.io/v1), Multus quick start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.facts.scalars import is_rdma_resource
from ncdiag.formats.shell import is_variable, without_secrets
from ncdiag.formats.units import cpu_quantity
from ncdiag.formats.yaml import Node, load
from ncdiag.parsers import _k8s_ended, _k8s_place, _k8s_policy
from ncdiag.parsers import env as env_parser
from ncdiag.parsers import launch as launch_parser

KIND = "k8s_manifest"
COMMANDS: tuple[str, ...] = ()
EVENTS = {"network-policy": {"policy": "str", "pods": "str"}}
"""As `kubectl_networkpolicies` has them."""
ANCHOR = (
    r"(?:- )?apiVersion:[ \t]+\S|[ \t]{2,40}(?:(?:initC|c)ontainers|template|spec|Worker|Master|Launcher):[ \t]*$"
    r"|[ \t]{2,40}command:[ \t]+\["
)

_TOP = lazy_regex(r"(?:apiVersion|kind|metadata|spec|status|data|items|type):(?:\s|$)|-\s")
_OF_CONTROLLER: Mapping[str, Any] = {"shm_mounted": False}
"""What the controller of an object may change: it may mount memory at /dev/shm."""
_OF_PART: Mapping[str, Any] = {**_OF_CONTROLLER, "network": "pod", "runtime_class": "", "privileged": False}
"""What the rest of a manifest may say."""
_PART = lazy_regex(r"(?P<indent>[ \t]{2,40})\S")
"""The first line of a part of a manifest, which lacks what is above it."""
_COUNTED = lazy_regex(r"[ \t]{0,60}(?:replicas|parallelism|numNodes):")
"""A number of pods, which in a part of a manifest may be above its first line."""
_LIMIT = 20_000
_NETWORKS = ("k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network")
_GPU = lazy_regex(r"(?:nvidia|amd)\.com/(?:gpu|mig-[\w.]+)$|huawei\.com/Ascend\w*$")
_EFA = "vpc.amazonaws.com/efa"
_SIZE = lazy_regex(r"(?P<number>\d{1,15})(?P<unit>(?:[kMGTP]|[KMGTP]i)?)$")
_UNITS = {"": 1, **{f"{letter}i": 1024**power for power, letter in enumerate("KMGTP", 1)},
          **{letter: 1000**power for power, letter in enumerate("kMGTP", 1)}}  # fmt: skip
_SKIPPED = frozenset({"status", "managedFields"})
_INDEPENDENT = frozenset({"Pod", "Deployment", "DaemonSet", "ReplicaSet", "PodTemplate", "List"})
"""Objects whose pods are no job together: how many there are says nothing of its size."""
_AS_WRITTEN = lazy_regex(
    r"(?:v1|(?:apps|batch)/\S+|(?:[\w-]+\.)?kubeflow\.org/\S+|batch\.volcano\.sh/\S+"
    r"|(?:jobset|leaderworkerset)\.x-k8s\.io/\S+)$"
)
"""Objects whose controllers start pods as they are written. Others add volumes: KubeRay and KServe mount /dev/shm
(SharedMemoryVolumeName in KubeRay's ray-operator/controllers/ray/common/pod.go, llmisvcconfigs of KServe's charts)."""
_DEPTH = 40
_SHM = "/dev/shm"  # noqa: S108  (the place of shared memory, no temporary file)


_Notes = tuple[Node | None, Node | None]


class _Pod(msgspec.Struct):
    spec: Node
    labels: Node | None
    annotations: Node | None
    count: int


def continues(lines: Sequence[str], line: str) -> bool:
    """Indented lines, items, comments and the keys of an object, to the next object."""
    part = _PART.match(lines[0]) if lines else None
    if part is not None:
        return len(lines) < _LIMIT and line.startswith(part["indent"]) and line.strip() != ""
    if not line.strip():
        return True
    if len(lines) >= _LIMIT or line.startswith(("---", "apiVersion:")):
        return False
    return line[0] in " \t#" or _TOP.match(line) is not None


def parse(section: Section) -> Parsed:
    """Launches of the containers with GPUs, settings of their variables, and what their commands start."""
    section = without_secrets(section)
    part = _PART.match(section.lines[0]) if section.lines else None
    width = len(part["indent"].expandtabs(4)) if part else 0
    root, unread = load([line.expandtabs(4)[width:] for line in section.lines])
    found: list[Observation] = []
    if part and (root.get("command") or root.get("args")):
        found += _started(section, root)
    for each in root.value if isinstance(root.value, list) else root.items("items") or [root]:
        found += _object(section, each)
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _object(section: Section, root: Node) -> Iterator[Observation]:
    kind = root.text("kind") or "object"
    pods = list(_pods(root, (None, None), 1, 0))
    counts = [pod.count for pod in pods if any(map(_gpus, _containers(pod)))]
    version = root.text("apiVersion")
    is_part = bool(section.lines) and section.lines[0][:1].isspace()
    as_written = not is_part and (version is None or _AS_WRITTEN.match(version) is not None)
    is_counted = not is_part or any(_COUNTED.match(line) for line in section.lines)
    total = sum(counts) if is_counted and kind not in _INDEPENDENT else None
    name = root.text("metadata", "name") or root.text("metadata", "generateName") or ""
    yield from _k8s_ended.ended(section, root)
    restricted = _k8s_policy.restricted(root)
    if restricted is not None:
        yield observe(
            section, root.line, "Event", event="network-policy", origin="launcher", kind="fact",
            text=f"{kind} {name}", count=1, order=section.number(root.line),
            fields={"policy": name, "pods": restricted},
        )  # fmt: skip
    for pod in pods:
        for container in _containers(pod):
            yield from _started(section, container)
            if _gpus(container):
                title = f"{kind} {name}, container {container.text('name') or ''}".replace(" ,", ",").strip()
                for seen in _container(section, pod, container, {"text": title, "nnodes": total}):
                    yield seen if as_written else _without_absence(seen, _OF_PART if is_part else _OF_CONTROLLER)


def _without_absence(seen: Observation, claims: Mapping[str, Any]) -> Observation:
    """An observation without these claims, which what is not shown may contradict."""
    kept = {name: value for name, value in seen.fields.items() if name not in claims or claims[name] != value}
    return msgspec.structs.replace(seen, fields=kept)


def _pods(node: Node, notes: _Notes, count: int, depth: int) -> Iterator[_Pod]:
    """Pod specifications below a node, each with its number of pods and the labels and annotations nearest above."""
    if depth > _DEPTH:
        return
    if not isinstance(node.value, dict):
        for item in node.items():
            yield from _pods(item, notes, count, depth + 1)
        return
    notes = (node.get("metadata", "labels") or notes[0], node.get("metadata", "annotations") or notes[1])
    if node.items("containers"):
        yield _Pod(node, *notes, count)
        return
    group = node.get("leaderWorkerTemplate")
    if group is not None:
        yield from _group(group, notes, depth)
        return
    for number in ("replicas", "parallelism", "numNodes"):
        count *= _count(node.text(number))
    for key, child in node.value.items():
        if key not in _SKIPPED:
            yield from _pods(child, notes, count, depth + 1)


def _group(group: Node, notes: _Notes, depth: int) -> Iterator[_Pod]:
    """The pods of a LeaderWorkerSet's group, which is a job of its own (``replicas`` counts the groups)."""
    leader = group.get("leaderTemplate") or Node(group.line, {})
    led = list(_pods(leader, notes, 1, depth + 1))
    yield from led
    worker = group.get("workerTemplate") or Node(group.line, {})
    yield from _pods(worker, notes, max(1, _count(group.text("size")) - len(led)), depth + 1)


def _count(text: str | None) -> int:
    """A number of pods, one where none is said; not more than any cluster has."""
    return min(int(text), 1 << 16) if text and text.isascii() and text.isdigit() and len(text) < 7 else 1  # noqa: PLR2004


def _containers(pod: _Pod) -> list[Node]:
    return pod.spec.items("containers")


def _resources(container: Node) -> dict[str, str]:
    """Requests and limits by name; the limits count."""
    asked: dict[str, str] = {}
    for side in ("requests", "limits"):
        asked.update({k: v.value for k, v in container.pairs("resources", side).items() if isinstance(v.value, str)})
    return asked


def _gpus(container: Node) -> str | None:
    """How many GPUs the container asks for, as written; None for none."""
    counts = [number for name, number in _resources(container).items() if _GPU.match(name) and number != "0"]
    return counts[0] if counts else None


def _count_of(text: str | None) -> int | None:
    """A number of devices as a resource writes it; 0 where the resource is not asked for."""
    return 0 if text is None else int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None  # noqa: PLR2004


def _container(section: Section, pod: _Pod, container: Node, fields: dict[str, Any]) -> Iterator[Observation]:
    security = container.get("securityContext")
    privileged = security.text("privileged") if security else None
    added = security.items("capabilities", "add") if security else []
    resources = _resources(container)
    fields |= {
        "program": "kubernetes",
        "image": container.text("image"),
        "gpus": _gpus(container),
        "privileged": privileged == "true",
        "cap_add": [cap.value for cap in added if isinstance(cap.value, str)],
        "network": "host" if pod.spec.text("hostNetwork") == "true" else "pod",
        "networks": list(_networks(pod.annotations)),
        "ipc": "host" if pod.spec.text("hostIPC") == "true" else None,
        "rdma_resources": [name for name, number in resources.items() if is_rdma_resource(name) and number != "0"],
        "efa_devices": _count_of(resources.get(_EFA)),
        "cpu_limit": cpu_quantity(container.text("resources", "limits", "cpu")),
        "runtime_class": pod.spec.text("runtimeClassName") or "",
        "mesh": _k8s_place.mesh(pod.spec, pod.labels, pod.annotations),
        **_k8s_place.place(pod.spec),
        **_shared_memory(pod, container),
    }
    variables = {n: (v, line) for n, v, line in _variables(container) if is_variable(n)}
    fields["env"] = {name: value for name, (value, _) in variables.items()} or None
    yield observe(section, container.line, "Launch", standing="manifest", **fields)
    for name, (value, line) in variables.items():
        yield observe(
            section, line, "Setting", (name,), standing="manifest", is_set=True, text=value, origin="manifest"
        )


def _networks(annotations: Node | None) -> Iterator[str]:
    """Names of further networks that Multus gives the pod: ``a,b@net1`` or a list in JSON."""
    for key in _NETWORKS:
        text = annotations.text(key) if annotations else None
        if not text:
            continue
        try:
            listed = json.loads(text) if text.lstrip().startswith("[") else text.split(",")
        except ValueError:
            listed = []
        for item in listed if isinstance(listed, list) else []:
            name = item.get("name") if isinstance(item, dict) else item
            if isinstance(name, str) and name.strip():
                yield name.strip()


def _shared_memory(pod: _Pod, container: Node) -> dict[str, Any]:
    """Whether a volume of memory (or the host's) is mounted at /dev/shm, and the size that it is limited to."""
    mounts = container.items("volumeMounts")
    names = [m.text("name") for m in mounts if (m.text("mountPath") or "").rstrip("/") == _SHM]
    for volume in pod.spec.items("volumes"):
        if volume.text("name") in names:
            memory = volume.text("emptyDir", "medium") == "Memory"
            shared = volume.text("hostPath", "path") is not None
            size = _SIZE.match(volume.text("emptyDir", "sizeLimit") or "") if memory else None
            return {
                "shm_mounted": memory or shared or None,
                "shm_size_bytes": int(size["number"]) * _UNITS[size["unit"]] if size else None,
            }
    return {"shm_mounted": None if names else False}


def _variables(container: Node) -> Iterator[tuple[str, str, int]]:
    """Name, value and place of the variables with a value of their own (``valueFrom`` is not known here)."""
    for item in container.items("env"):
        name, value = item.text("name"), item.get("value")
        if name and value is not None and isinstance(value.value, str):
            yield name, value.value, value.line


def _started(section: Section, container: Node) -> Iterator[Observation]:
    """What the command starts and exports, read as the shell would see it."""
    anchors = re.compile(f"(?:{launch_parser.ANCHOR})|(?:{env_parser.ANCHOR})")
    words: list[str] = []
    for node in [*container.items("command"), *container.items("args")]:
        if isinstance(node.value, str) and "\n" in node.value:
            yield from _script(section, node, anchors)
        elif isinstance(node.value, str):
            words.append(node.value)
    line = " ".join(words)
    if words and anchors.match(line):
        first = (container.items("command") or container.items("args"))[0]
        yield from _script(section, Node(first.line, line), anchors)


def _script(section: Section, node: Node, anchors: re.Pattern[str]) -> Iterator[Observation]:
    lines = str(node.value).split("\n")
    index = 0
    while index < len(lines):
        first, text = index, lines[index].strip()
        while text.endswith("\\") and index + 1 < len(lines):
            index += 1
            text = f"{text[:-1].rstrip()} {lines[index].strip()}"
        index += 1
        if not anchors.match(text):
            continue
        parser = launch_parser if re.match(launch_parser.ANCHOR, text) else env_parser
        piece = msgspec.structs.replace(section, kind=parser.KIND, lines=(text,), numbers=(), command=None)
        place = section.span(min(node.line + first, len(section.lines) - 1))
        yield from (msgspec.structs.replace(o, span=place) for o in parser.parse(piece).observations)
