"""Intentions that a file shows: which findings are deliberate, or cannot be judged from the file alone."""

from __future__ import annotations

from pathlib import Path, PurePath

from ncdiag.apps.lint.model import Document, Setting
from ncdiag.base.patterns import lazy_regex

_SWITCHED_OFF = "env-ib-disable"
_BY_THE_RUNTIME = frozenset({"k8s-ipc-lock-missing"})
"""Rules whose condition also depends on the runtime of the node: containerd may lift the limit of locked memory."""
_SLOWER = frozenset({_SWITCHED_OFF, "env-shm-disable", "env-p2p-disable"})
"""Rules on switches that cost speed, which tests do not need."""
_DELIBERATE = frozenset({_SWITCHED_OFF, "env-net-forces-socket"})
"""Rules on switches that lead to TCP."""
_OTHERS = lazy_regex(
    r"(?i)(?<![a-z])(?:ascend|npu|hccl|cambricon|mlu|iluvatar|corex|metax|maca|hygon|dcu|kunlunxin|xpu|mthreads|musa|enflame"
    r"|gcu|biren)(?![a-z])"
)
"""Vendors of other accelerators, and their devices: their libraries use NCCL's names with other requirements."""
_RDMA = ("NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "NCCL_IB_SL", "NCCL_IB_TIMEOUT", "UCX_NET_DEVICES")
_SHOWS_RDMA = lazy_regex(r"(?i)\bmlx[45]_\d|infiniband|\brdma|\broce|\bibstat|\bib_write|\bib\d\b")
_PARTS = 3
"""Number of last parts of a path outside of the current folder that show the purpose of a file."""
_TESTS = {"tests", "test", "ci", ".github", ".gitlab", ".buildkite", "ci.yml", ".gitlab-ci.yml"}
_PLUGINS = ("NCCL_OFI_", "FI_EFA_", "NCCL_FASTRAK_", "NCCL_GPUDIRECTTCPX_")
"""Variables of network plugins, which work without NCCL's own verbs."""
_TCP = lazy_regex(r"(?i)(?<![a-z])(?:ethernet|tcp(?!:|_port)|no[-_ ]?(?:ib|rdma|infiniband))(?![a-z])")
_WITHOUT = lazy_regex(r"(?i)\b(?:disab\w+|without|no|lacks?|turn\w* off)\s(?:the\s)?(?:infiniband|rdma|roce|ib)\b")
_MACHINES = lazy_regex(r"(?i)(?<![a-z])nc(?:\d{1,3}|a100|h100)?(?:ads)?[-_]?v[45](?![a-z\d])")
"""Machines without RDMA whose names are in scripts: the NC series of Azure (learn.microsoft.com, NC_A100_v4)."""
_SLINGSHOT = "hsn"
"""Interfaces of HPE Slingshot, whose NICs offer libfabric instead of verbs (docs.nersc.gov, Perlmutter network)."""
_ASKS_FOR_RDMA = lazy_regex(r"(?i)infiniband|rdma|roce|ibstat|ibv_|mlx\d|efa|_IB\b|\bIB_")


def is_meant(document: Document, rule: str, setting: Setting | None) -> bool:
    """True if a condition around the setting requires what the rule reports, or a plugin replaces it."""
    if rule != _SWITCHED_OFF or setting is None:
        return False
    plugin = any(each.name.startswith(_PLUGINS) or each.name == "FI_PROVIDER" for each in document.settings)
    return plugin or _ASKS_FOR_RDMA.search(setting.branch) is not None


def is_note(document: Document, rule: str) -> bool:
    """True if what the rule reports may be right here: the file says so, or it depends on something else.

    Switching off verbs is a fault only if the file shows that there are some.
    """
    parts = _parts(document.source)
    if rule in _SLOWER and (_TESTS & set(parts) or any(map(_OTHERS.search, parts))):
        return True
    if rule in _DELIBERATE and _is_for_tcp(document):
        return True
    return rule in _BY_THE_RUNTIME or (rule == _SWITCHED_OFF and not _has_rdma(document))


def _parts(source: str) -> tuple[str, ...]:
    """The folders of the project above the file, and its name, without folders above the project."""
    path, here = PurePath(source), Path.cwd()
    if path.is_relative_to(here):
        return path.relative_to(here).parts
    return path.parts[-_PARTS:] if path.is_absolute() else path.parts


def _has_rdma(document: Document) -> bool:
    """True if the file mentions RDMA devices other than by switching them off."""
    return any(each.name in _RDMA for each in document.settings) or _SHOWS_RDMA.search(document.text) is not None


def _is_for_tcp(document: Document) -> bool:
    """True if the name of the file or its text says that there is no RDMA, or that TCP is intended."""
    names = [each.value or "" for each in document.settings if each.name == "NCCL_SOCKET_IFNAME"]
    if any(name.lstrip("=").startswith(_SLINGSHOT) for name in names):
        return True
    path = "/".join(PurePath(document.source).parts[-2:])
    return any(pattern.search(text) for pattern in (_TCP, _WITHOUT, _MACHINES) for text in (path, document.text))
