"""GPUs and the links between them: boards, cards, NVSwitches, peer access."""

from __future__ import annotations

import msgspec

from ncdiag.base.products import Product, product_of
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Gpu, HealthCheck, Host, Rank, TopoLink
from ncdiag.facts.scalars import bus_id
from ncdiag.facts.view import View


@derived
def uses_p2p(rank: Rank, view: View) -> bool | None:
    """Does the rank reach another GPU of its host directly?"""
    return None if rank.transports is None else any(name.startswith("P2P/") for name in rank.transports)


_BUSY_PERCENT, _WAITING_SHARE, _STILL_PERCENT = 95, 0.45, 3
"""The load of a GPU whose kernels wait for each other, and the shares of its power limit and of the time in which its
memory is in use, in percent, that they stay below: the kernels of a collective poll flags and move nothing."""


@derived
def spins(gpu: Gpu, view: View) -> bool | None:
    """Do kernels run on the GPU all the time and do little, as those of a collective that waits for others do?

    None where the load is not known, or neither power with its limit nor the use of the memory is.
    """
    shares = _shares(gpu)
    if gpu.load_percent is None or not shares:
        return None
    found = gpu.load_percent >= _BUSY_PERCENT and all(share < most for share, most in shares)
    if found:
        view.note(gpu, "load_percent")
    return found


def _shares(gpu: Gpu) -> list[tuple[float, float]]:
    """The known shares of power and of the use of the memory, each with the limit below which a kernel only waits."""
    power, limit, active = gpu.power_watts, gpu.power_limit_watts, gpu.memory_activity_percent
    shares = [(power / limit, _WAITING_SHARE)] if power and limit else []
    return shares if active is None else [*shares, (active, _STILL_PERCENT)]


@derived
def place(gpu: Gpu, view: View) -> str:
    """The GPU with its host, ``GPU 0000:17:00.0 of n1``, by the bus id or the index, whichever is known."""
    return f"GPU {gpu.bus_id if gpu.bus_id is not None else gpu.index} of {gpu.host}"


@derived
def is_module(gpu: Gpu, view: View) -> bool | None:
    """Is the GPU an SXM module or a GPU of a rack? False for a card; None where the model does not decide."""
    product = product_of(gpu.model)
    return _MODULES.get(product.form) if product is not None else None


def driver_of(host: Host) -> str | None:
    """The release of the GPU driver, as the host or the list of its GPUs shows it."""
    return host.driver or next((gpu.driver for gpu in host.gpus if gpu.driver), None)


def numbered(host: Host) -> tuple[Gpu, ...]:
    """The GPUs of a host in nvidia-smi's order.

    Where no tool numbered any, sorted by bus id, which is the same order.
    """
    if any(gpu.index is not None or gpu.bus_id is None for gpu in host.gpus):
        return host.gpus
    ordered = sorted(host.gpus, key=lambda gpu: gpu.bus_id or "")
    return tuple(msgspec.structs.replace(gpu, index=number) for number, gpu in enumerate(ordered))


_MODULES = {"module": True, "rack": True, "card": False}


def module_of(gpu: Gpu) -> Product | None:
    """The product data of an SXM module or a GPU of a rack; None for a card, and where the model is not known."""
    product = product_of(gpu.model)
    return product if product is not None and _MODULES.get(product.form) else None


@derived
def is_of_rack(gpu: Gpu, view: View) -> bool | None:
    """Is the GPU part of a rack, whose NVSwitches are in other trays, so that no service of this host sets them up?"""
    product = product_of(gpu.model)
    return None if gpu.model is None else product is not None and product.form == "rack"


def listed(host: Host) -> list[Gpu] | None:
    """The GPUs of the host as nvidia-smi lists them; None when no list is known to be complete."""
    gpus = [gpu for gpu in host.gpus if gpu.index is not None]
    whole = {"nvidia_smi", "nvidia_smi_L", "nvidia_smi_q", "nvml"} & host.complete
    return gpus if gpus and (whole or len(gpus) == host.gpus_attached) else None


def gpu_of(rank: Rank, host: Host) -> Gpu | None:
    """The GPU of a rank by its bus id; by CUDA's number where the host's GPUs have no bus ids. None if unknown."""
    where = bus_id(rank.bus_id or "")
    by_bus = next((gpu for gpu in host.gpus if where and gpu.bus_id == where), None)
    if by_bus is not None or any(gpu.bus_id for gpu in host.gpus):
        return by_bus
    return next((gpu for gpu in host.gpus if rank.cuda_dev is not None and gpu.index == rank.cuda_dev), None)


DATA_TESTS = frozenset({"nvbandwidth", "simpleP2P"})


@derived
def is_wrong_data(check: HealthCheck, view: View) -> bool:
    """Did a copy between GPUs arrive with wrong data?"""
    return noted_hit(check, view, is_hit=check.result == "fail" and check.program in DATA_TESTS)


def noted_hit(check: HealthCheck, view: View, *, is_hit: bool) -> bool:
    """Return ``is_hit``; when it is True, record the whole check as evidence."""
    if is_hit:
        view.note(check)
    return is_hit


@derived
def whose(check: HealthCheck, view: View) -> str:
    """What the check was about: ``GPU 3 of n1``, ``NvSwitch 1 of n1``, or the host where it was about all its GPUs."""
    if check.part:
        return f"{check.part} of {check.host}"
    numbers = ", ".join(map(str, check.gpus))
    return f"{'GPU' if len(check.gpus) == 1 else 'GPUs'} {numbers} of {check.host}" if numbers else check.host


@derived
def reason(check: HealthCheck, view: View) -> str:
    """The message of the check, ``: GPU 3's NvLink link 7 is currently down``, or an empty text."""
    return f": {check.message}" if check.message else ""


DISABLED_BY_KEY = "DR"
_NO_PEER_ACCESS = frozenset({"CNS", "GNS", "TNS", "NS", DISABLED_BY_KEY})
"""The results of ``nvidia-smi topo -p2p`` that mean that peer access is unavailable.

Not supported by the chipset, the GPU, the topology, or at all, or disabled by a registry key of the driver.
"""
SIBLINGS = 4
"""The number of ports of one model from which a single slower one is considered an outlier."""


@derived
def lacks_peer_access(link: TopoLink, view: View) -> bool | None:
    """Does the driver not offer peer access between the two GPUs?"""
    return offers_no_access(link)


def offers_no_access(link: TopoLink) -> bool | None:
    """`lacks_peer_access` for loops over all pairs of all hosts: the same answer without caching and evidence."""
    told = p2p_words(link)
    if link.peer_access is not None and not told & _NO_PEER_ACCESS:
        return not link.peer_access
    return bool(told & _NO_PEER_ACCESS) if told - {"U"} else None


def p2p_words(link: TopoLink) -> set[str]:
    """The results of ``nvidia-smi topo -p2p`` for a pair: for reading, for writing, and the overall status."""
    return {word for word in (link.p2p_read, link.p2p_write, link.p2p_status) if word is not None}


@derived
def is_gpu_pair(link: TopoLink, view: View) -> bool:
    """Does the link connect two GPUs?"""
    return joins_gpus(link)


def joins_gpus(link: TopoLink) -> bool:
    """`is_gpu_pair` without a view."""
    return link.a.startswith("GPU") and link.b.startswith("GPU")


_MOST_LINKS = 18
"""The largest number of NVLinks of a GPU, through Blackwell.

If the counts to all other GPUs add up to more, a switch joins the GPUs, so that the same links count for each of them.
"""
_BRIDGED = 12
"""The number of NVLinks of bridges between two cards (A100 PCIe, H100 NVL); an A100 on an NVSwitch has as many."""


def gpu_pairs(host: Host) -> list[TopoLink]:
    """The pairs of GPUs of the host whose level ``nvidia-smi topo -m`` shows."""
    return [link for link in host.links if link.level and link.b.startswith("GPU") and link.a.startswith("GPU")]


@derived
def has_nvswitch(host: Host, view: View) -> bool | None:
    """Do NVSwitches of this host connect its GPUs?

    True for a switch on the PCI bus, for more links than a mesh or bridges have, or for a whole board of SXM modules.
    The switches of a rack (GB200) do not count; other machines manage them. None where a pair has as many links as
    bridges do.
    """
    if any(is_of_rack(gpu, view) for gpu in host.gpus):
        return False
    if any("NVSwitch" in (device.description or "") for device in host.pci):
        return True
    modules = [is_module(gpu, view) for gpu in host.gpus]
    if modules and not any(is_it is not False for is_it in modules):
        return False
    counts = _links_of_gpus(host)
    if any(sum(links) > _MOST_LINKS for links in counts.values()) or _is_switched_board(host):
        return True
    most = max((count for links in counts.values() for count in links), default=0)
    if most >= _BRIDGED and False not in modules:
        return True if most >= _MOST_LINKS or True in modules else None
    return False if counts or "lspci" in host.complete else None


def _is_switched_board(host: Host) -> bool:
    """Does the host have a whole board of modules of a model whose boards are connected by NVSwitches?"""
    boards = [module.board for gpu in host.gpus if (module := module_of(gpu)) is not None and module.switched]
    return any(board is not None and len(boards) >= board for board in boards)


def _links_of_gpus(host: Host) -> dict[str, list[int]]:
    """The numbers of NVLinks to each other GPU, by GPU, as ``nvidia-smi topo -m`` counts them."""
    found: dict[str, list[int]] = {}
    for link in gpu_pairs(host):
        for name in (link.a, link.b):
            found.setdefault(name, []).append(link.nvlink_count or 0)
    return found


@derived
def has_nvlink(host: Host, view: View) -> bool | None:
    """Does NVLink connect any GPUs of the host? None when their links were not shown."""
    pairs = gpu_pairs(host)
    for link in pairs[:1]:
        view.note(link)
    return any((link.level or "").startswith("NV") for link in pairs) if pairs else None


MESH_SIZE = 8
"""The number of GPUs of a board on which xGMI connects each GPU to each other one."""


def link_gbs(gpu: Gpu) -> float | None:
    """The bandwidth of one xGMI link of the GPU in one direction, in GB/s; None for models without a mesh."""
    product = product_of(gpu.model)
    return product.link_gbs if product is not None and product.form == "mesh" else None
