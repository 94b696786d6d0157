"""Checks of the context of settings: containers, leftovers of experiments, recipes of clouds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ncdiag.apps.lint import commands, rendezvous
from ncdiag.apps.lint.blocks import with_key
from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Finding, Place, Setting, Started
from ncdiag.apps.lint.nesting import launches
from ncdiag.apps.lint.relevance import is_told_whole
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import VersionRange
from ncdiag.nccl import environment

_LEFT_ON = {
    "CUDA_LAUNCH_BLOCKING": r"[1-9]\d*", "TORCH_DISTRIBUTED_DEBUG": "(?i:DETAIL|INFO)",
    "TORCH_CPP_LOG_LEVEL": "(?i:INFO)",
    "NCCL_DEBUG_SUBSYS": r"(?i:(?:.*,)?(?:ALL|COLL|CALL|ALLOC|PROXY|P2P)(?:,.*)?)", "NCCL_CHECK_POINTERS": r"[1-9]\d*",
    "NCCL_CHECK_MODE": "DEBUG_.*",
}  # fmt: skip
"""Variables besides the experimental ones that cost time or flood the log, and the values that do."""
_TOLD_BY_RULES = {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}
_CLOUDS: dict[str, re.Pattern[str]] = {
    "AWS": lazy_regex(r"FI_EFA_\w+=|FI_PROVIDER=efa|NCCL_OFI_\w+=|NCCL_NET=AWS Libfabric"),
    "Google Cloud": lazy_regex(r"NCCL_(?:FASTRAK|GPUDIRECTTCPX|SHIMNET)_\w+=|NCCL_NET=(?:FasTrak|gIB|GPUDirectTCPX)"),
    "Azure": lazy_regex(r"\w+=/opt/microsoft/"),
    "Tencent Cloud": lazy_regex(r"LIGHT_\w+="),
}
_PLACES = {
    "AWS": lazy_regex(r"vpc\.amazonaws\.com/efa|\.dkr\.ecr\.[\w-]{2,30}\.amazonaws\.com/"),
    "Google Cloud": lazy_regex(r"networking\.gke\.io/|cloud\.google\.com/gke|gcr\.io/|-docker\.pkg\.dev/"),
    "Azure": lazy_regex(r"\.azurecr\.io/"),
}
_INTERFACE = lazy_regex(r"=?(?:ib\d|bond\d|en[ops]\w*\d|eth[1-9]|ens\d)")
_RDMA = ("NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "NCCL_IB_QPS_PER_CONNECTION")
_DOCKERS = {"docker run", "podman run", "nvidia-docker run", "nerdctl run", "docker compose"}


def check(document: Document, version: VersionRange | None) -> Iterator[Finding]:
    """Findings on the whole file."""
    yield from _left_on(document, version)
    yield from _clouds(document)


def of_container(document: Document) -> Iterator[Finding]:
    """Findings on one container or script; the document contains only that."""
    yield from rendezvous.check(document)
    yield from commands.check(document)
    yield from _containers(document)


def _containers(document: Document) -> Iterator[Finding]:
    for launch in launches(document):
        program, env = launch.get("program"), launch.get("env", {})
        if program == "kubernetes":
            yield from _pod(document, launch, env)
        if program not in _DOCKERS or launch.get("privileged") or not is_told_whole(launch):
            continue
        place, started = launch["_place"], launch["_command"]
        has = any("infiniband" in device for device in launch.get("devices", ()))
        wants = has or any(name in env for name in _RDMA)
        locks = launch.get("memlock") == "unlimited" or {"IPC_LOCK", "CAP_IPC_LOCK", "ALL"} & set(
            launch.get("cap_add", ())
        )
        if wants and not has:
            what = f"The container of {program} sets RDMA variables but gets no RDMA devices"
            option = "--device=/dev/infiniband", "devices", "[/dev/infiniband]"
            edits = _given(document, place, started, option)
            yield finding("container-rdma-devices-missing", place, what=what, edits=edits, fixable=bool(edits))
        if wants and not locks:
            what = f"The container of {program} uses RDMA but may not lock memory"
            edits = _given(document, place, started, ("--ulimit memlock=-1", "ulimits", "{memlock: -1}"))
            yield finding("container-memlock-missing", place, what=what, edits=edits, fixable=bool(edits))


def _given(document: Document, place: Place, started: Started | None, option: tuple[str, str, str]) -> tuple[Edit, ...]:
    """The edit that sets an option of a container: of the command, or as a key of the service."""
    words, key, value = option
    if started is not None:
        return (Edit(started.behind, started.behind, f" {words}"),) if started.behind is not None else ()
    return with_key(document, document.line(place.start), key, value) if document.form == "compose" else ()


def _pod(document: Document, launch: dict[str, Any], env: dict[str, str]) -> Iterator[Finding]:
    value = env.get("NCCL_SOCKET_IFNAME", "")
    if launch.get("network") == "pod" and not launch.get("networks") and _INTERFACE.match(value):
        own = [s for s in document.settings if s.name == "NCCL_SOCKET_IFNAME" and s.value == value]
        place = own[0].value_at if own else launch["_place"]
        what = f"NCCL_SOCKET_IFNAME={value} names an interface that the pod does not have"
        yield finding("pod-names-host-interface", place, variable="NCCL_SOCKET_IFNAME", what=what)


def _left_on(document: Document, version: VersionRange | None) -> Iterator[Finding]:
    """Settings that slow a job down or override NCCL's choice; the tuning of a cloud's recipe is not reported alone."""
    recipe = any(pattern.match(_written(s)) for s in document.settings for pattern in _CLOUDS.values())
    for setting in document.settings:
        known = environment.variables().get(setting.name)
        if not setting.value or known is None or setting.reaches == "shell" or setting.name in _TOLD_BY_RULES:
            continue
        tuning = recipe or known.type == "size"
        experimental = known.experimental and not tuning and setting.value != str(known.default_at(version))
        if experimental or re.fullmatch(_LEFT_ON.get(setting.name, r"(?!)"), setting.value[:200]):
            yield finding(
                "debug-setting-left-on", setting.name_at, variable=setting.name,
                what=f"{setting.name}={setting.value[:60]} is for experiments and debugging",
                reason=f"{known.means}. {known.effect}",
                edits=(setting.removal,) if setting.removal else (),
            )  # fmt: skip


def _written(setting: Setting) -> str:
    return f"{setting.name}={setting.value or ''}"[:400]


def _clouds(document: Document) -> Iterator[Finding]:
    """Variables of one cloud's network in a file for another cloud; a template may be for several."""
    if "{{" in document.text:
        return
    marked: list[tuple[str, Setting]] = []
    for setting in document.settings:
        if not setting.branch:
            marked += [(cloud, setting) for cloud, pattern in _CLOUDS.items() if pattern.match(_written(setting))]
    here = next((cloud for cloud, pattern in _PLACES.items() if pattern.search(document.text)), None)
    counts = Counter(cloud for cloud, _ in marked)
    home = here or (counts.most_common(1)[0][0] if counts else None)
    for cloud, setting in marked:
        if cloud != home:
            yield finding(
                "recipe-of-another-cloud", setting.name_at, variable=setting.name,
                what=f"{setting.name} belongs to the network of {cloud}, and this file is for {home}",
                edits=(setting.removal,) if setting.removal else (),
            )  # fmt: skip
