"""Rates between hosts that people tell in numbers: what a link carries, and what NCCL or a test of the link reached.

A number counts only with a unit, and where the words around it say what it is the rate of. Bits and bytes are told
apart by the case of the letter; a unit that leaves it open (``gb/s``) tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex

_FLAGS = re.IGNORECASE | re.VERBOSE
_LONGEST = 1000
_UNIT = (
    r"[GM]i?B(?:/s(?:ec)?|ps)|[GMgm][Bb]its?(?:/s(?:ec)?|ps)?|[GMgm]bps|[GM]b/s(?:ec)?|[Gg][Bb]E|[Gg]igabits?|MB|Gb?"
)
_CALLED = (
    r"FDR|EDR|HDR-?[12]00|HDR|NDR-?[24]00|NDR|XDR|千兆|万兆"
    r"|(?<!\d )(?<!\d-)(?<!\d)[Gg]igabit(?= (?:[Ee]thernet|LAN|network|switch|link|NIC|card|router))"
)
_OF_OTHERS = (
    r"[A-Za-z0-9_%:/-]|[.,]\d|\s?[%GMKgmk]"
    r"|\s(?:m?s|sec\w*|min\w*|steps?|\w?pus?|nodes?|hosts?|cards?|streams?|x)\b"
)
_RATE = lazy_regex(
    rf"(?:(?<![A-Za-z0-9_.,:/=-])|(?<=\dx)|(?<=\d\*))(?P<number>\d{{1,5}}(?:\.\d{{1,3}})?)[ -]?"
    rf"(?P<unit>{_UNIT})(?![A-Za-z0-9_/])"
    rf"|(?<![A-Za-z0-9_.-])(?P<name>{_CALLED})(?![A-Za-z0-9_])"
    rf"|(?<=instead of )(?:about |around |~)?(?P<other>\d{{1,5}}(?:\.\d{{1,3}})?)(?!{_OF_OTHERS})"
    rf"|(?:(?<=reach )|(?<=reaches )|(?<=reached ))(?P<bare>\d{{1,5}}(?:\.\d{{1,3}})?)(?!{_OF_OTHERS})"
)
_BARE = ("G", "Gb")
"""Units without a time: they are those of a link, or of something else."""
_A_SECOND = "MB"
"""A unit that means a rate only where somebody states that of a link: ``bandwidth between the nodes: 100MB``."""
_NAMES = {
    "FDR": 56.0, "EDR": 100.0, "HDR": 200.0, "HDR100": 100.0, "HDR200": 200.0, "NDR": 400.0, "NDR200": 200.0,
    "NDR400": 400.0, "XDR": 800.0, "GIGABIT": 1.0, "千兆": 1.0, "万兆": 10.0,
}  # fmt: skip
_NETWORK = (
    r"(?:nics?|hcas?|adapters?|ethernet|infiniband|roce|rdma|ib|links?|networks?|ports?|interfaces?|switch(?:es)?|fabric"
    r"|lan|cards?|bond|cables?|connectx\S{0,3}|cx-?\d|vpi|eth|line[- ]rate|网卡|网络|网口|内网|光纤|交换机)"
)
_BETWEEN_NOUNS = r"(?:on|over|per|for|with|from|via|across|between|in|to|and|but|is|of|at)"
_LINK_BEHIND = lazy_regex(
    rf"^[ -]?(?:(?!{_BETWEEN_NOUNS}[ ])[\w/.-]{{1,12}}[ ]){{0,2}}?{_NETWORK}(?![A-Za-z0-9_])|^的?[ ]?(?:网|IB|RoCE|光)",
    re.IGNORECASE,
)
_LINK_BEFORE = lazy_regex(
    r"\b(?:rate|speed):[ ]?$"
    rf"|(?<![A-Za-z0-9_]){_NETWORK}[ ]?(?:是|为|is|are|of|at|with|rate|speed|runs?|has|have|[:(=,])?"
    r"[ ]?(?:at[ ]|of[ ])?"
    r"(?:only[ ]|just[ ])?$",
    re.IGNORECASE,
)
_HOSTS = r"(?:nodes|hosts|machines|servers|computers)"
_LINK_TOLD = lazy_regex(
    rf"""(?:(?<![a-z0-9])(?:inter-?node|network|nic|link|lan|ethernet|internet)(?:'s)?\s(?:bandwidth|speed|rate)
      |(?:bandwidth|speed)\s(?:between|of)\s(?:(?:the|our|my|both|two|these|all)\s){{0,2}}(?:{_HOSTS}|network|nics?|link)
      |(?:link|network|connection)\sbetween\s(?:(?:the|our|my|both|two|these|all)\s){{0,2}}{_HOSTS}
      |(?:节点|机器|主机|服务器)(?:之间|间)的?(?:网络)?(?:带宽|速度|速率)|网(?:络|卡)(?:带宽|速度|速率))
      (?:\sbetween\s(?:(?:the|our|my|both|two|these|all)\s){{0,2}}{_HOSTS})?
      \s?(?:is|are|has|have|was|:|\uff1a|=|是|为|只有|有)?\s?(?:(?:about|around|only|just|roughly|ca\.|~)\s?)?$""",
    _FLAGS,
)
"""Before the rate of a link or a network that somebody states, without a program that measured it."""
_EXPECTED_BEFORE = lazy_regex(
    r"""(?:expect\w*|should|would|could|theor\w+|line\srate|peak|max(?:imum)?|advertised|rated|capable|instead\sof
      |rather\sthan|out\sof|of\s(?:the|our)(?![^.;]*:)|理论|应该|应有|预期|标称|可以达到)[^.;\d]{0,30}$""",
    _FLAGS,
)
_EXPECTED_BEHIND = lazy_regex(r"^\W{0,3}(?:expected|theor|line[ -]rate|peak|in theory|that we expect)", re.IGNORECASE)
_COUNT_BEFORE = lazy_regex(
    r"""(?<![a-z0-9_.-])(?P<count>\d{1,2}|two|dual|both|four|eight|两|四|八)\s?(?:x|\u00d7|\*|张|个|块|条|路)?\s?
      (?:(?:cx-?\d|connectx-?\d\w?|bluefield-?\d|nvidia|mellanox|broadcom|ib|roce|infiniband|hcas?|nics?|ports?|links?|of
      |at|with)\s){0,3}$""",
    _FLAGS,
)
_MEMORY = lazy_regex(r"^[ -]?(?:的)?(?:gpus?\b|memory|v?ram|hbm|a\d|h\d|显|内存)", re.IGNORECASE)
"""What has so many gigabytes, and no rate."""
_COUNT_BEHIND = lazy_regex(r"^\s?[x\u00d7*]\s?(?P<count>\d{1,2})\b")
_COUNTS = {"two": 2, "dual": 2, "both": 2, "four": 4, "eight": 8, "两": 2, "四": 4, "八": 8}
_ELSEWHERE = lazy_regex(
    r"""\b(?:nv-?link|nvswitch|pci-?e|hbm\d?|disks?|storage|nfs|nvme|ssds?|d2d|d2h|h2d|memory\sbandwidth|intra-?node
      |within|inside|(?:single|one|same|1)[\s-](?:node|host|machine|server)\b(?!s)|p2p|download\w*|upload\w*|rps)\b
      |单机|机内|卡间|节点内|显存带宽|磁盘""",
    _FLAGS,
)
"""What has rates of its own beside the network between hosts."""
_SUBJECTS = lazy_regex(
    r"""(?<![A-Za-z0-9])(?:
      (?P<host>(?:host|cpu|system)[ ]memory|without[ ](?:--)?(?:use_cuda|cuda|gdr|gpudirect))
      |(?P<gpu>(?:--)?use_(?:cuda|rocm)|(?:gpu|cuda)[ ]memory|gpudirect|gdr\b|dma-?buf)
      |(?P<rdma>ib_(?:write|read|send|atomic)_(?:bw|lat)|perftest|raw_ethernet_bw|qperf)
      |(?P<tcp>iperf3?\b|netperf|nuttcp)
      |(?P<one>-P[ ]?1(?!\d)|(?:one|single|1)[ ](?:tcp[ ])?(?:stream|thread|connection|flow)\b|单流|单线程)
      |(?P<many>-P[ ]?(?!1(?!\d))\d|(?:\d{1,3}|several|many|multiple|parallel|four|eight|more)[ ]
        (?:parallel[ ])?(?:tcp[ ])?(?:streams|threads|connections|flows)\b|多流|多线程)
      |(?P<nccl>nccl|[a-z_]{4,20}_perf\b|all_?-?reduce|alltoall|all_?-?gather|bus-?[ ]?bw|bus[ ]bandwidth|algbw))""",
    _FLAGS,
)
_OF_ANY = lazy_regex(r"^(?!.*tcp).*(?:connections?|flows?)$", re.IGNORECASE)
"""What NCCL and RDMA have as well as TCP."""
_REACHED = lazy_regex(
    r"""\b(?:reach\w*|gets?|got|gives?|achiev\w*|only|just|stuck|about|around|shows?|carr\w+|saturat\w*|sees?|limited|runs?
      |peaks?|(?:is|are|was|stays?)[ ]at)\b|只有|跑到|达到|仅|大概|左右""",
    _FLAGS,
)
_BETWEEN = lazy_regex(
    r"""\b(?:nodes|hosts|machines|servers|between|across|network|nload|iftop|bandwidth|throughput|multi-?node|inter-?node
      |traffic|connections?|same[ ]ports|perftest)\b|跨机|双机|多机|两机|节点间|网络|带宽""",
    _FLAGS,
)
_BEHIND = 40
"""Characters behind a number that may say what it is of."""
_NEXT = 2
"""Lines between two that mention one thing."""
_CLAUSE = lazy_regex(r"[,;.!?](?=\s|$)|\b(?:and|but|while|whereas|vs)\b|[\uff0c\u3002\uff1b]")


class Rate(NamedTuple):
    """``of`` as in the fact; ``gbps`` of one link and of how many ``links``."""

    of: str
    gbps: float
    links: int = 1


class RateReader:
    """Reads lines in their order: what a line is about may be above it."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._topic, self._last = _Topic(), 0

    def read(self, line: str, place: int = 0) -> Iterator[Rate]:
        """The rates that a line of a person tells; ``place`` is its number."""
        if place > self._last + _NEXT:
            self._topic = _Topic()
        self._last = place
        found = list(_RATE.finditer(line)) if len(line) <= _LONGEST else []
        end, unit = 0, None
        named = {str(each.lastgroup) for each in _SUBJECTS.finditer(line)} if found else set()
        self._topic.is_rdma = bool(named & {"rdma", "nccl"}) and "tcp" not in named
        self._topic.is_between = bool(found) and _BETWEEN.search(line) is not None
        for each, following in zip_longest(found, found[1:]):
            before, behind = line[end : each.start()], line[each.end() : following.start() if following else None]
            unit, end = each["unit"] or unit, each.end()
            self._topic.hear(before)
            clause = _CLAUSE.split(behind[:_BEHIND])[0]
            rate = _rate(each, unit, before, clause, self._topic)
            if rate is not None:
                yield rate
        self._topic.hear(line[end:])


class _Topic:
    """What the sentences have spoken of so far."""

    def __init__(self) -> None:
        self.tool, self.gpu, self.streams = "", False, ""
        self.is_rdma = False
        """Does the line mention a test of RDMA or NCCL, whose connections are no streams of TCP?"""
        self.is_between = False
        """Does the line mention several hosts or of their network?"""

    def hear(self, text: str) -> None:
        """Take up what the text names."""
        gpu = False
        for named in _SUBJECTS.finditer(text):
            kind = str(named.lastgroup)
            if kind in {"rdma", "tcp", "nccl"}:
                self.tool, self.gpu, self.streams = kind, gpu, ""
            elif kind in {"gpu", "host"}:
                self.gpu = gpu = kind == "gpu"
            elif not _OF_ANY.search(named[0]) or (self.tool in {"", "tcp"} and not self.is_rdma):
                self.streams, self.tool = kind, "tcp"

    def of(self) -> str:
        """The kind of what was measured; empty where nothing was named."""
        if self.tool == "rdma":
            return "gpu-test" if self.gpu else "rdma-test"
        if self.tool == "tcp":
            return "tcp" if self.streams == "many" else "tcp-stream"
        return self.tool


def _rate(number: re.Match[str], unit: str | None, before: str, behind: str, topic: _Topic) -> Rate | None:
    gbps = _gbps(number, unit)
    if gbps is None or _ELSEWHERE.search(_CLAUSE.split(before)[-1]) or _ELSEWHERE.search(behind):
        return None
    if number["other"] or _EXPECTED_BEFORE.search(before) or _EXPECTED_BEHIND.match(behind):
        return Rate("expected", gbps)
    is_told = not topic.of() and _LINK_TOLD.search(before) is not None
    if is_told or (number["unit"] != _A_SECOND and _is_link(number, before, behind)):
        return Rate("link", gbps, _count(before, behind))
    if number["name"] or number["unit"] in (*_BARE, _A_SECOND):
        return None
    own = _Topic()
    if re.match(r"\s?(?:in|with|by|from|for|using|on|when)\s", behind):
        own.hear(behind)
    of = own.of() or topic.of()
    if not of and topic.is_between and _REACHED.search(before[-_BEHIND:]):
        of = "job"
    return Rate(of, gbps) if of else None


def _is_link(number: re.Match[str], before: str, behind: str) -> bool:
    if number["name"] or (number["unit"] or "").lower() == "gbe":
        return True
    if number["unit"] in _BARE and _count(before, behind) > 1:
        return _MEMORY.match(behind) is None
    return _LINK_BEHIND.match(behind) is not None or _LINK_BEFORE.search(before) is not None


def _count(before: str, behind: str) -> int:
    if before.endswith("4X "):
        return 1  # lanes of one link
    found = _COUNT_BEFORE.search(before) or _COUNT_BEHIND.match(behind)
    word = found["count"].lower() if found else "1"
    return _COUNTS.get(word) or int(word) or 1


def _gbps(number: re.Match[str], unit: str | None) -> float | None:
    if number["name"]:
        return _NAMES[number["name"].upper().replace("-", "")]
    if unit is None:
        return None
    value = float(number["number"] or number["other"] or number["bare"])
    scale = 1e-3 if unit[0] in "Mm" else 1.0
    is_bytes = unit == _A_SECOND or re.match(r"[GM]i?B(?:/s|ps)", unit) is not None
    return value * scale * (8 if is_bytes else 1) or None
