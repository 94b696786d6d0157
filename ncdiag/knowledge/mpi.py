"""How a launch line binds the processes of Open MPI, and what UCX, below it, has to offer."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Host, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS
from ncdiag.facts.vocabulary.rdma import has_rdma_hardware

_ONE_CORE = r"(?<![\w-])--?bind-to(?:[ =]|-)(?:core|hwthread)\b"
_SEVERAL = r"(?i)\bPE=\d|--?cpus-per-(?:proc|rank)\b"


@derived
def binds_to_one_core(launch: Launch, view: View) -> bool:
    """Does the line tie each process to a single core or hardware thread?"""
    if not launch.program.endswith(MPI_PROGRAMS):
        return False
    return re.search(_ONE_CORE, launch.text) is not None and re.search(_SEVERAL, launch.text) is None


_FAMILIES: dict[str, str] = {
    "rdma": r"(?:rc|ud|dc|gga)(?:_\w+)?$|ib$|srd$",
    "gpu": r"(?:cuda|rocm|ze|gaudi)(?:_\w+)?$|gdr_copy$",
    "host": r"(?:sm|shm|mm|posix|sysv|xpmem|cma|knem|self|tcp|all)$|ugni",
}
"""The transports of UCX and the aliases of several: openucx/ucx src/ucp/core/ucp_context.c (ucp_tl_aliases)."""
Family = Literal["rdma", "gpu", "host", "none"]


def _family(name: str) -> str:
    """What a transport is for; ``none`` for a name that UCX gives to no transport."""
    return next((family for family, names in _FAMILIES.items() if re.match(names, name)), "none")


def _families(names: Collection[str]) -> set[str]:
    return {_family(name) for name in names}


def _names(text: object) -> list[str]:
    return re.findall(r"\w+", text) if isinstance(text, str) else []


@derived
def ucx_asked(event: Event, view: View) -> str:
    """The transports that were asked for and are not there: ``efa, rc``."""
    return ", ".join(_names(event.fields.get("asked")))


@derived
def ucx_lacks(event: Event, view: View) -> Family:
    """What the missing transports are for; ``none`` where UCX has no transport of such a name.

    One card has not all transports of RDMA, so that these are only lacking where none of them is there.
    """
    asked, there = _families(_names(event.fields.get("asked"))), _families(_names(event.fields.get("available")))
    if "none" in asked:
        return "none"
    return "rdma" if "rdma" in asked - there else "gpu" if "gpu" in asked else "host"


@derived
def ucx_left_out(host: Host, view: View) -> Literal["rdma", "gpu", "nothing"] | None:
    """What the UCX of a host has no transport for although the host has such devices; None where none were seen."""
    if host.ucx_transports is None:
        return None
    there = _families(host.ucx_transports)
    view.note(host, "ucx_transports")
    has_rdma = "rdma" in there or has_rdma_hardware(host, view)
    if "rdma" not in there and has_rdma:
        return "rdma"
    if "gpu" not in there and host.gpus:
        return "gpu"
    return "nothing" if has_rdma is not None and "gpu" in there else None


@derived
def ucx_built_without(host: Host, view: View) -> str | None:
    """The option that left verbs or CUDA out when the UCX of a host was built: ``--without-verbs``."""
    found = re.search(r"--(?:without-(?:verbs|ib|cuda)|with-(?:verbs|cuda)=no)(?!\S)", host.ucx_configured or "")
    if found is None:
        return None
    view.note(host, "ucx_configured")
    return found[0]
