"""Where NCCL's IB transport lets the NIC access GPU memory directly (GPUDirect RDMA).

Source: ncclTopoCheckGdr, src/graph/paths.cc:468-540, and ncclIbGdrSupport, src/transport/net_ib/gdr.cc:15-40
(v2.30.7-1). There are three conditions: NIC, driver and kernel support it (`support`), the GPU is near enough to the
NIC (`near_enough`), and, on the sending side, the NIC may also read (`reads`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Gpu, Host, TopoLink
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import paths, versions
from ncdiag.nccl.selection import distances
from ncdiag.nccl.selection.distances import Distances, word
from ncdiag.nccl.selection.logic import every, some
from ncdiag.nccl.selection.reasons import Reason, source
from ncdiag.nccl.selection.values import Settings, number

READ_BEGAN, DMABUF, READ_BY_CAPABILITY = Version(2, 4), Version(2, 13), Version(2, 19)
C2C_PATHS = Version(2, 26)
"""From this release on a GPU connected to its CPU by C2C may use NICs beyond the host bridge."""
CHANGES = (READ_BEGAN, Version(2, 6), DMABUF, READ_BY_CAPABILITY, Version(2, 29), *distances.CHANGES)

MODULES = ("nvidia_peermem", "nv_peer_mem")
_NOW = Version(2, 30, 7)
_C2C_GPUS = ("GH200", "GB200", "GB300", "GH100")
_CUDA_DMABUF = Version(11, 7)
_LINUX_DMABUF = Version(5, 12)
_VERBS_DMABUF = Version(34, 0)
"""The first release of rdma-core whose libibverbs has ibv_reg_dmabuf_mr (its symbol version IBVERBS_1.12)."""
_ENTERPRISE = lazy_regex(r"\.el\d|\.an\d|\.tl\d|\.oe\d|-default|\.amzn\d|uek")
"""Kernels of RHEL and related distributions, Anolis, TencentOS, openEuler, SUSE, Amazon and Oracle."""


class Gdr(msgspec.Struct, frozen=True):
    """The result for one NIC: ``enabled`` for receiving, ``reads`` for sending, None if unknown.

    ``why`` is the reason.
    """

    enabled: bool | None
    why: str
    reads: bool | None = None
    reasons: tuple[Reason, ...] = ()


class Pair(msgspec.Struct, frozen=True):
    """A GPU (``GPU0``) and its path type to a NIC, in NCCL's names; None where it is not known."""

    gpu: str
    path: str | None


def gdr(
    host: Host, hca: str, settings: Settings, version: Version | VersionRange | None, seen: Distances | None = None
) -> Gdr:  # fmt: skip
    """Return whether a NIC of the host uses GPUDirect RDMA with the GPUs nearest to it.

    NCCL decides for each pair of GPU and NIC; a NIC serves the GPUs nearest to it, so they decide for the NIC. ``seen``
    has distances that the host's own links do not show.
    """
    answers = [_at(host, hca, settings, exact, seen) for exact in versions.samples(version, CHANGES)]
    first = answers[0]
    if all(a.enabled == first.enabled for a in answers):
        reads = first.reads if all(a.reads == first.reads for a in answers) else None
        return msgspec.structs.replace(answers[-1], reads=reads)
    why = "the answer depends on the NCCL version"
    told = tuple(dict.fromkeys(reason for a in answers for reason in a.reasons))
    return Gdr(None, why, None, (Reason(hca, why, "not known", ""), *told))


def _at(host: Host, hca: str, settings: Settings, version: Version, seen: Distances | None) -> Gdr:
    can, why_can, rule = support(host, settings, version)
    near, why_near = near_enough(host, hca, settings, version, seen)
    reads, why_reads = _reads(host, settings, version)
    enabled = every((can, near))
    texts = [text for verdict, text in ((can, why_can), (near, why_near)) if verdict is enabled]
    reasons = (
        Reason(hca, why_can, rule, source("gdr support", version)),
        Reason(hca, why_near, "NCCL_NET_GDR_LEVEL", source("gdr", version)),
        Reason(hca, why_reads, "NCCL_NET_GDR_READ", source("gdr", version)),
    )
    return Gdr(enabled, "; ".join(texts), False if enabled is False else every((enabled, reads)), reasons)


def support(host: Host, settings: Settings, version: Version) -> tuple[bool | None, str, str]:
    """Can the NICs of the host reach GPU memory, by a peer memory module or DMA-BUF? With a text and the rule."""
    module, told_module = _module(host)
    dmabuf, told_dmabuf = _dmabuf(host, settings, version)
    verdict = some((module, dmabuf))
    if module or (verdict is None and dmabuf is False):
        return verdict, told_module, "peer memory module"
    if dmabuf or (verdict is None and module is False):
        return verdict, told_dmabuf, "DMA-BUF"
    return verdict, f"{told_module}, and {told_dmabuf}", "peer memory module or DMA-BUF"


def _module(host: Host) -> tuple[bool | None, str]:
    for module in host.modules:
        if module.name in MODULES:
            return True, f"{module.name} is loaded"
    if host.peermem_registered:
        return True, "a peer memory module is registered"
    absent = is_closed(host, "modules") or set(host.absent_modules or ()).issuperset(MODULES)
    if absent:
        return False, "no peer memory module is loaded"
    return None, "whether a peer memory module is loaded was not seen"


def _dmabuf(host: Host, settings: Settings, version: Version) -> tuple[bool | None, str]:
    """DMA-BUF needs the open kernel modules, Linux 5.12, CUDA 11.7, NCCL 2.13 and a device driver that supports it.

    Sources: dmaBufSupported, src/init.cc:402 (v2.30.7-1), for CUDA; NVIDIA's GPU Operator guide, "GPUDirect RDMA", for
    kernel and modules. The mlx5 driver supports it since Linux 5.12 (drivers/infiniband/hw/mlx5/mr.c).
    """
    wanted = number(settings, "NCCL_DMABUF_ENABLE", version)
    cuda = [found for gpu in host.gpus if gpu.cuda and (found := Version.parse(gpu.cuda))]
    kernel, release = _kernel(host.kernel_release)
    verbs = Version.parse(host.rdma_core_version or "")
    against = (
        (version < DMABUF, "this version has no DMA-BUF support (2.13 and later)"),
        (wanted == 0, "DMA-BUF is off (NCCL_DMABUF_ENABLE=0)"),
        (host.open_kernel_module is False, "DMA-BUF needs NVIDIA's open kernel modules"),
        (bool(cuda) and max(cuda) < _CUDA_DMABUF, "DMA-BUF needs CUDA 11.7"),
        (kernel is False, f"DMA-BUF needs Linux 5.12, the host has {release}"),
        (verbs is not None and verbs < _VERBS_DMABUF, f"DMA-BUF needs rdma-core 34, the host has {verbs}"),
    )
    for refused, why in against:
        if refused:
            return False, why
    mellanox = bool(host.hcas) and all(hca.name.startswith("mlx5") for hca in host.hcas)
    if wanted and host.open_kernel_module and cuda and kernel and mellanox:
        return True, f"DMA-BUF works: open kernel modules, Linux {release}, CUDA {max(cuda)}, mlx5 devices"
    return None, "whether DMA-BUF works (open kernel modules, Linux 5.12 and CUDA 11.7) was not seen"


def _kernel(release: str | None) -> tuple[bool | None, str]:
    """Is the kernel new enough? Unknown below 5.12 for enterprise kernels, which backport features to old numbers."""
    found = Version.parse(".".join((release or "").replace("-", ".").split(".")[:2]))
    if release is None or found is None:
        return None, ""
    if found >= _LINUX_DMABUF:
        return True, release
    return (None if _ENTERPRISE.search(release) else False), release


def level(settings: Settings, version: Version) -> tuple[str | None, str]:
    """Return the farthest path type that is allowed, and the rule that says so; None when that is not known."""
    given = settings.get("NCCL_NET_GDR_LEVEL", "")
    if given is None or version < READ_BEGAN:
        return None, "NCCL_NET_GDR_LEVEL"
    c2c = number(settings, "NCCL_NET_GDR_C2C", version) if version >= C2C_PATHS else 0
    default = paths.default_gdr_level(version, c2c=bool(c2c))
    if not given:
        return default, f"the default level {default}"
    read = paths.parse_level(given, version)
    if read is None:
        return default, f"the default level {default} (NCCL_NET_GDR_LEVEL={given} is not understood)"
    return read, f"NCCL_NET_GDR_LEVEL={given}"


def near_enough(
    host: Host, hca: str, settings: Settings, version: Version, seen: Distances | None = None
) -> tuple[bool | None, str]:  # fmt: skip
    """Are the GPUs nearest to the NIC near enough? With a sentence that says so."""
    limit, rule = level(settings, version)
    if limit is None:
        return None, "how far a GPU may be from the NIC is not known"
    found = pairs(host, hca, version) or _from(seen, hca, version)
    if not found:
        if limit == "SYS":
            return True, f"any distance is allowed ({rule})"
        return None, f"the distance between GPUs and {hca} was not seen"
    nearest = _nearest(found, version)
    verdicts = [_within(host, pair, limit, version) for pair in nearest]
    verdict = every(verdicts)
    where = f"{', '.join(pair.gpu for pair in nearest)} {_are(nearest)} {nearest[0].path} away"
    if verdict is None:
        return None, f"{where}: whether {rule} allows this is not known"
    return verdict, f"{where}, {'within' if verdict else 'beyond'} {rule}"


def _from(seen: Distances | None, hca: str, version: Version) -> tuple[Pair, ...]:
    """The paths in a topology file or in the PCI tree."""
    gpus = seen.gpus if seen is not None else ()
    found = ((gpu, seen.to_net(gpu, hca, version)) for gpu in gpus if seen is not None)
    return tuple(Pair(gpu, path) for gpu, path in found if path is not None)


def _are(found: Sequence[Pair]) -> str:
    return "is" if len(found) == 1 else "are"


def pairs(host: Host, hca: str, version: Version = _NOW) -> tuple[Pair, ...]:
    """Return the paths between the NIC and each GPU of the host, from ``nvidia-smi topo -m`` or NCCL's log."""
    return tuple(Pair(gpu, word(link, version)) for gpu, link in _links(host, hca))


def _links(host: Host, hca: str) -> Iterator[tuple[str, TopoLink]]:
    labels = {hca, *(label for label, name in (host.nic_labels or {}).items() if name == hca)}
    for link in host.links:
        gpu, other = (link.a, link.b) if link.a.startswith("GPU") else (link.b, link.a)
        if gpu.startswith("GPU") and other in labels and (link.path_type or link.level):
            yield gpu, link


def _nearest(found: Sequence[Pair], version: Version) -> list[Pair]:
    """The pairs with the smallest distance; an unknown distance counts as far."""
    types = paths.path_types(version)

    def far(pair: Pair) -> int:
        return types.index(pair.path) if pair.path in types else len(types)

    least = min(map(far, found))
    return [pair for pair in found if far(pair) == least]


def _within(host: Host, pair: Pair, limit: str, version: Version) -> bool | None:
    """Is the path within the level? On Grace, C2C may bypass the host bridge, which nvidia-smi does not show."""
    if pair.path is None:
        return None
    verdict = paths.is_within(pair.path, limit, version)
    grace = any(any(word in (gpu.model or "") for word in _C2C_GPUS) for gpu in host.gpus)
    return None if verdict is False and grace and version >= C2C_PATHS and pair.path == "PHB" else verdict


def _reads(host: Host, settings: Settings, version: Version) -> tuple[bool | None, str]:
    """May the NIC read GPU memory (the sending side)?"""
    if version < READ_BEGAN:
        return False, "the NIC writes only (reading began with 2.4)"
    wanted = number(settings, "NCCL_NET_GDR_READ", version)
    if wanted is None:
        return None, "whether NCCL_NET_GDR_READ is set is not known"
    if wanted in {0, 1}:
        return wanted == 1, f"reading is {'on' if wanted else 'off'} (NCCL_NET_GDR_READ={wanted})"
    return reads_by_itself(host, version)


def reads_by_itself(host: Host, version: Version) -> tuple[bool | None, str]:
    """Return the default: on for compute capability 8.0 (2.19 and later), GPUs with NVLink, and a single GPU."""
    newer = [_is_ampere(gpu) for gpu in host.gpus]
    by_capability = version >= READ_BY_CAPABILITY
    if by_capability and newer and every(newer):
        return True, "the NIC may read: compute capability 8.0 or newer"
    peers = [link for link in host.links if link.a.startswith("GPU") and link.b.startswith("GPU")]
    if any(link.nvlink_count or (link.level or "").startswith("NV") for link in peers):
        return True, "the NIC may read: the GPUs have NVLink peers"
    if not peers or (by_capability and (not newer or None in newer)):
        return None, "whether the NIC may read (NVLink or compute capability) was not seen"
    return False, "the NIC does not read: no NVLink between the GPUs"


def _is_ampere(gpu: Gpu) -> bool | None:
    """Is the compute capability 8.0 or higher? None if unknown."""
    found = Version.parse(gpu.compute_capability or "")
    return None if found is None else found >= Version(8, 0)
