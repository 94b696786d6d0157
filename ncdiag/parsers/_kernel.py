"""Kernel lines that tell of a fault by their form: a part that jobs need, and a word that says it went wrong.

What the catalogue knows is told better by it; this is for drivers and releases that nobody wrote a message for.
Formats: ``driver address: text`` of dev_err (Linux Documentation/core-api/printk-basics.rst), NVRM, EDAC and mce.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._context import Context
from ncdiag.parsers._events import Found

EVENTS = {"kernel-fault": {"part": "str"}}
"""Events that are told by the form of a line, and the types of their fields."""

_LOOKED_AT = 600
_PART = lazy_regex(
    r"(?P<part>NVRM|nvidia[\w-]*|nvswitch\w*|mlx[45]_\w+|mlxfw|ib_\w+|infiniband|rdma\w*|irdma|bnxt_(?:en|re)|efa|ena|amdgpu"
    r"|amdkfd|kfd|habanalabs|pcieport|pciehp|DPC|AER|DMAR|AMD-Vi|arm-smmu[\w-]*|EDAC|mce|MCE|GHES|watchdog|rcu|NMI|BUG|Oops"
    r"|Kernel panic|Hardware Error|vfio\w*|gdrdrv|nv_peer_mem|hns3?\w*|hisi\w*|davinci\w*|i40e|ice|ixgbe"
    r"|nfsd?|NFS|[Ll]ustre\w*|LNet\w*|(?:lib)?ceph|ib\d+|bond\d+|rpcrdma)\b",
)
_FAULT = lazy_regex(
    r"(?:uncorrect(?:ed|able)|UE\b|[Ff]atal|FATAL|[Ff]ail(?:ed|ure|s)?\b|FAIL|[Ee]rrors?\b|ERROR|[Ff]ault|panic|lockup|LOCKUP"
    r"|stall(?:ed|s)?\b|timed?\s?out|[Tt]imeout|TIMEOUT|fallen off|degraded|unresponsive|hung\b|reset (?:failed|begin)"
    r"|unplugged|[Hh]igh [Tt]emperature|overheat\w*|not responding|thermal (?:trip|shutdown)"
    r"|GPU reset|[Ll]ink [Dd]own|containment|assert\w*|[Cc]orrupt\w*|BUG:|Oops|Machine [Cc]heck|[Hh]ardware [Ee]rror)"
)
_MILD = lazy_regex(
    r"(?<![Uu]n)[Cc]orrected|(?<![Uu]n)[Cc]orrectable|[Nn]on-?[Ff]atal|[Rr]ecovered|reset success|[Ss]ucceeded|\bCE\b"
    r"|(?:error|fault|fail)\w*[\s:=]{1,4}0\b|\b(?:no|0|without) (?:error|fault)|error status/mask|Decoding|injection"
)
"""What the hardware got over, and counters that are at 0."""
_TELLS = lazy_regex(
    r"enabled|loaded|initiali[sz]ed|registered|version|[Dd]ebug|DEBUG|ACPI|taints|tainting|handler|support"
)
"""What a driver tells of itself, unless it says that this failed."""
_FAILED = lazy_regex(r"\b(?:[Ff]ailed|FAILED|[Ff]atal|FATAL|[Tt]imed out)\b")


def find(text: str, context: Context) -> Found | None:
    """The fault that a kernel line (without its head) tells of; None for other lines."""
    text = text[:_LOOKED_AT]
    part = _PART.search(text[:120])
    if part is None or not _FAULT.search(text) or _MILD.search(text):
        return None
    if _TELLS.search(text) and not _FAILED.search(text):
        return None
    return Found("kernel-fault", "kernel", "symptom", {"part": part["part"]})
