"""The types of the tables of defects: an entry, its condition, how it shows, and the releases of a product."""

from __future__ import annotations

import functools
import re
from typing import Literal

import msgspec

from ncdiag.facts.model import Phase, What
from ncdiag.facts.scalars import Version, VersionRange

Product = Literal[
    "nccl", "rccl", "rocm", "aws-ofi-nccl", "libfabric", "nvshmem", "pytorch", "cupy", "horovod", "deepspeed",
    "lightning", "driver",
]  # fmt: skip
LABELS: dict[str, str] = {
    "nccl": "NCCL", "rccl": "RCCL", "rocm": "RCCL of ROCm", "aws-ofi-nccl": "aws-ofi-nccl", "libfabric": "libfabric",
    "nvshmem": "NVSHMEM", "pytorch": "PyTorch", "cupy": "CuPy", "horovod": "Horovod", "deepspeed": "DeepSpeed",
    "lightning": "Lightning", "driver": "driver",
}  # fmt: skip
"""The names of the products for people."""
FRAMEWORKS: frozenset[Product] = frozenset({"pytorch", "cupy", "horovod", "deepspeed", "lightning"})
"""Those that call NCCL and are found by their packages."""
OPEN, UNKNOWN = "open", "unknown"
"""In place of a release: no release has the fix; nobody found out which release has the defect first."""


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a job must have to meet a defect; all parts that are given must hold.

    ``gpus`` are families of ``words.toml``, ``cpus`` processors, ``uses`` features of ``words.toml``: one of each must
    be there. ``net`` is a part of the name of the network that ranks use (``IB``, ``Socket``), ``provider`` the
    provider of libfabric that its plugin chose (``efa``, ``cxi``), ``layer`` the link layer of the ports,
    ``transports`` the beginning of a transport in channel lines (``P2P/CUMEM``). ``variables`` are comparisons with
    their values: ``1``, ``!0``, ``>=1048576``, ``set``, or words of which one is in the value (``*LL128*``). ``ranks``
    compares the number of ranks, ``hosts`` that of hosts (``>=2``), ``ranks_a_host`` that of the ranks of each host;
    ``uneven`` there: hosts have different numbers. ``rdma_ports`` compares the number of RDMA ports of the host.
    ``mixed`` are things that differ between the hosts. ``container``: the host is one. ``links_down``: NVLinks are
    inactive.
    """

    gpus: tuple[str, ...] = ()
    cpus: tuple[Literal["arm", "amd", "intel"], ...] = ()
    uses: tuple[str, ...] = ()
    net: str = ""
    provider: str = ""
    layer: Literal["", "IB", "RoCE"] = ""
    transports: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    ranks: str = ""
    hosts: str = ""
    ranks_a_host: str = ""
    rdma_ports: str = ""
    mixed: Literal["", "gpus", "cpus", "layers"] = ""
    container: bool = False
    links_down: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts that are given."""
        return tuple(name for name in self.__struct_fields__ if getattr(self, name))


class Signature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What shows a defect beside its complaint; one of what is given must have been seen.

    ``events`` are messages of the catalogue, ``frames`` functions on a stack (two of one: ``callee < caller``), ``xid``
    an Xid in the kernel log, ``peers_refused`` GPUs whose peer access ``nvidia-smi topo -p2p`` denies, and
    ``peers_wrong`` GPUs between which data is lost: a test says so, or results with several GPUs are wrong.
    """

    events: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    xid: int | None = None
    peers_refused: bool = False
    peers_wrong: bool = False


class Defect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One defect, of the releases from ``since`` up to, but not including, ``fixed``.

    ``what`` completes a sentence that begins with the release. ``complaint`` is the kind of problem that it causes and
    ``phase`` how far the job has come by then (empty: any). ``risk``: it is reported before anything failed. An
    entry without a condition or a complaint is only explained. ``stuck_in``: functions in which a running process is
    then; its stack shows the defect where nobody says that the job hangs, and is not needed where somebody does.
    ``suspected``: the vendor names it as a possible cause, and nobody has confirmed it (a driver's entry alone).
    ``avoid`` are assignments that avoid it, ``unset`` is
    the variable to remove, ``around`` another way. ``code`` is a text that no release before ``since`` has in its
    source.
    """

    name: str
    product: Product = "nccl"
    since: str
    fixed: str
    what: str
    complaint: What | Literal[""] = ""
    phase: Phase | Literal[""] = ""
    when: Condition = Condition()
    shows: Signature = Signature()
    risk: bool = False
    stuck_in: tuple[str, ...] = ()
    suspected: bool = False
    avoid: dict[str, str] = {}
    unset: str = ""
    around: str = ""
    code: str = ""
    source: str

    @property
    def low(self) -> Version | None:
        """The first release with the defect; None if unknown."""
        return None if self.since == UNKNOWN else version_of(self.since)

    @property
    def high(self) -> Version | None:
        """The first release with the fix; None if there is none."""
        return None if self.fixed == OPEN else version_of(self.fixed)

    @property
    def leads(self) -> bool:
        """Can it be the answer: are its first release, a condition, and what goes wrong known?"""
        return self.low is not None and bool(self.complaint) and bool(self.when.parts or self.shows != Signature())

    def covers(self, version: VersionRange) -> bool | None:
        """Is the release known to have the defect? None if it may; never True where the first one is unknown."""
        newer = version.less(self.high) if self.high is not None else True
        if newer is False:
            return False
        if self.low is None:
            return None
        older = version.less(self.low)
        return False if older else None if older is None or newer is None else True


class Use(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What shows that a job uses a feature: messages, functions on stacks, values of variables.

    People name it by the words of `ncdiag.parsers.user_text.context`.
    """

    means: str
    events: tuple[str, ...] = ()
    frames: str = ""
    variables: dict[str, str] = {}


class Minimum(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A release that an advisory asks for at least, where its condition holds.

    ``branches`` are for single branches, by the beginning of the release (``580``); ``least`` is for all others, empty
    for none. ``why`` completes the sentence "older than RELEASE: ". ``security``: jobs run as well with an older one.
    """

    name: str
    product: Product
    least: str = ""
    branches: dict[str, str] = {}
    why: str
    when: Condition = Condition()
    security: bool = False
    source: str
    checked: str

    def wanted(self, version: Version) -> str:
        """The first release that is enough, for a release of this branch; empty if it is none that the entry names."""
        parts = (str(version.major), f"{version.major}.{version.minor}")
        return next((self.branches[part] for part in parts if part in self.branches), self.least)


class Tables(msgspec.Struct, frozen=True, kw_only=True):
    """All tables.

    ``releases`` are the published releases of NCCL with their dates, ``first`` the first for GPUs, ``rocm`` the release
    of RCCL in each ROCm.
    """

    defects: tuple[Defect, ...] = ()
    minimums: tuple[Minimum, ...] = ()
    gpus: dict[str, str] = {}
    first: dict[str, str] = {}
    uses: dict[str, Use] = {}
    releases: dict[str, str] = {}
    rocm: dict[str, str] = {}
    checked: dict[str, str] = {}


@functools.lru_cache(maxsize=1024)
def version_of(text: str) -> Version:
    """The release; raises ValueError for a text that is none."""
    version = Version.parse(text)
    if version is None or not re.fullmatch(r"\d+\.\d+(?:\.\d+)?", text):
        msg = f"{text!r} is not a release such as 2.18.3"
        raise ValueError(msg)
    return version
