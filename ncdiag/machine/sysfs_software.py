"""Software of a host, as found in files: the RDMA libraries and their drivers, OFED, IMEX.

rdma-core's release is at the end of its libraries' file names (``libibverbs.so.1.14.44.0``: release 44.0; its
CMakeLists.txt, rdma_library); MLNX_OFED or DOCA is recognised by the version of the module mlx5_core, which
the kernel's own module does not have (older kernels: ``5.0-0``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.machine.tree import Tree

_LIBRARIES = (
    "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "lib64", "lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
)  # fmt: skip
_VERBS = lazy_regex(r"libibverbs\.so\.1\.\d{1,4}\.(\d{1,4}\.\d{1,4})$")
_PROVIDER = lazy_regex(r"lib([\w-]{1,40})-rdmav\d{1,3}\.so$")
_OFED = lazy_regex(r"\d{1,4}\.\d{1,3}-\d[\w.-]{0,30}$")
_KERNELS_OWN = "5.0-0"
_MLX5 = "sys/module/mlx5_core/version"
_CHANNELS = "dev/nvidia-caps-imex-channels"
_NODES = "etc/nvidia-imex/nodes_config.cfg"


def rdma_core(tree: Tree) -> Iterator[Observation]:
    """The release of rdma-core, and the adapters for which its libraries have drivers (``mlx5``, ``efa``)."""
    providers: set[str] = set()
    seen = ""
    told = False
    for folder in _LIBRARIES:
        for name in tree.names(folder) or ():
            found = _VERBS.match(name)
            if found and not told:
                told = True
                yield tree.fact(f"{folder}/{name}", "Host", text=name, line=0, rdma_core_version=found[1])
        for name in tree.names(f"{folder}/libibverbs") or ():
            provider = _PROVIDER.match(name)
            if provider:
                seen = seen or f"{folder}/libibverbs"
                providers.add(provider[1])
    if told or providers:  # a library without drivers can open no adapter
        names = sorted(providers)
        yield tree.fact(seen or "usr/lib", "Host", text=" ".join(names), line=0, verbs_providers=names)


def ofed(tree: Tree) -> Iterator[Observation]:
    """The version of the OFED or DOCA release of the adapter's kernel module."""
    text = tree.text(_MLX5)
    if text and text != _KERNELS_OWN and _OFED.match(text):
        yield tree.fact(_MLX5, "Host", text=text, ofed_version=text)


def imex(tree: Tree) -> Iterator[Observation]:
    """Channels of NVIDIA's IMEX that programs may open, and the number of nodes in the configuration of its daemon.

    GPUs of several nodes can share memory over NVLink only with them (nvidia-imex.conf and the IMEX user guide).
    """
    names = tree.names(_CHANNELS)
    if names is None and (_CHANNELS in tree.refused or not tree.exists("dev/nvidiactl")):
        return
    channels = [name for name in names or () if name.startswith("channel")]
    yield tree.fact(_CHANNELS, "Host", text=" ".join(channels), line=0, imex_channels=channels)
    lines = [line.split("#", 1)[0].strip() for line in tree.lines(_NODES) or ()]
    if any(lines):
        yield tree.fact(_NODES, "Host", text="", line=0, imex_nodes=sum(1 for line in lines if line))
