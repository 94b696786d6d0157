"""Sizes of a job that people name, and functions that they saw on a stack: ``7 ranks on n1 and 8 on n2``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.counted import SPELT, number
from ncdiag.parsers.user_text.moods import stated

_N = rf"(?:\d{{1,6}}|{'|'.join(SPELT)})"
_RANKS = r"(?:ranks?|gpus?|processes)"
_HOST = r"(?:nodes?|hosts?|machines?|servers?|trays?)"
_ON = rf"(?:on|in|at)\s(?:the\s|a\s|an\s|host\s|node\s)?(?:\w+\s)?(?:{_HOST}|[\w-]*\d)"
_WHOLE = r"(?!\s(?:on|per|in|at|each|a|of|that|which|missing)\b)"
_TOTAL = lazy_regex(
    rf"\b(?P<a>{_N})-(?:rank|gpu)\b"
    rf"|\b(?:job|run|communicator|group|test|training|world(?:\ssize)?)\s(?:with|of|on|over|across)\s(?P<b>{_N})\s{_RANKS}\b{_WHOLE}"
    rf"|\b(?:all-?\s?(?:reduce|gather|to-?\s?all)|reduce-?\s?scatter|broadcast|collectives?|allreduce|allgather|alltoall)\s"
    rf"(?:with|on|over|across|between|among)\s(?:just\s|only\s|exactly\s)?(?P<c>{_N})\s{_RANKS}\b{_WHOLE}"
    rf"|\bnranks\s?[=:]?\s?(?P<d>\d{{1,6}})\b",
    re.IGNORECASE,
)
"""A number of ranks that the whole job has; ``2 ranks crashed`` is a part of it."""
_TWO = lazy_regex(
    rf"\b(?P<one>{_N})\s{_RANKS}\s{_ON}(?:\s\w+){{0,2}},?\s(?:and|but|while|versus|vs\.?|with)\s(?:only\s)?"
    rf"(?P<other>{_N})\s(?:{_RANKS}\s)?(?:{_ON}|on\sthe\s(?:other|second|last|rest))"
    rf"|\b(?P<first>\d{{1,2}})\s?\+\s?(?P<second>\d{{1,2}})(?:\s?=\s?\d{{1,3}})?\s{_RANKS}\b",
    re.IGNORECASE,
)
_UNEVEN = lazy_regex(
    rf"\b(?:uneven|unequal|different|unbalanced|irregular)\s(?:numbers?\sof\s|counts?\sof\s)?{_RANKS}\s"
    rf"(?:counts?\s|distributions?\s)?(?:per|on\seach|on\sthe|across|between|among|over)\s(?:the\s|multi(?:ple)?[\s-]?)?{_HOST}"
    rf"|\b{_HOST}\s(?:has|have|had|with)\s(?:an?\s)?(?:uneven|unequal|different)\s(?:numbers?\sof\s){_RANKS}\b"
    rf"|(?:每|各)(?:个|台)?(?:节点|机器|主机)的?\s?(?:GPU|卡|进程)\s?数量?\s?(?:不同|不一样|不一致|不相等|不等)",
    re.IGNORECASE,
)
_EACH = lazy_regex(rf"\b(?P<n>{_N})\s(?:ranks|processes)\s(?:per|on\s(?:each|every)|a|each)\s?{_HOST}\b", re.IGNORECASE)
_CARDS = r"(?:(?:(?:rdma|ib|infiniband|roce)\s)?(?:ports|devices|hcas|nics|vfs|network\scards))"
_PORTS = lazy_regex(
    rf"\b{_HOST}\s(?:has|have|with)\s(?P<a>\d{{1,4}})\s(?:\w+\s)?{_CARDS}\b"
    rf"|\b(?P<b>\d{{1,4}})\s(?:\w+\s)?{_CARDS}\s(?:\([^)]{{0,20}}\)\s)?(?:per|in\seach|on\seach|in\sone|on\sone|in\sa|on\sa)\s{_HOST}\b",
    re.IGNORECASE,
)
_CPUS = lazy_regex(
    r"(?<![\w.,/-])(?P<n>\d{1,4})(?:\s|-)?(?:v?cpus?(?:\scores?)?|(?:cpu|physical|logical|hyper)[\s-]?(?:cores?|processors)"
    r"|cores?(?=\s(?:and|of\scpu|machine|node|host|server)|,|\.|$))\b"
    r"(?!\s(?:per|for|each|a|are|is|at|stay|were|threads?|sockets?|nodes?|groups?)\b|/|\s?[%:])",
    re.IGNORECASE,
)
"""The processors of a host as people count them."""
_LSCPU = lazy_regex(r"\s{0,8}CPU\(s\):\s{1,40}(?P<n>\d{1,4})\s*$")
_LOADERS = lazy_regex(r"\bnum[_ -]workers?\s?(?:=|:|to|of|is|was)?\s?(?P<n>\d{1,3})\b", re.IGNORECASE)
_FUNCTION = lazy_regex(
    r"(?<![\w./=$-])(?:(?:\w{1,60}::){0,4}[A-Za-z_]\w{2,80}(?=\s?\(\))|(?:nccl|rccl|ras|proxy)[A-Z]\w{2,80})"
)
"""A name with parentheses after it, or one of a function of NCCL."""
_STACK = lazy_regex(r"\b(?:gdb|py-spy|pstack|stacks?|back-?traces?|frames?|bt|threads?)\b", re.IGNORECASE)
_ALL = (_TOTAL, _TWO, _UNEVEN, _EACH, _PORTS, _CPUS, _LOADERS, _FUNCTION)


def read(sentence: str) -> list[tuple[str, str]]:
    """Kind and value of each size and function that the sentence names; nothing of a question or a plan."""
    if not any(pattern.search(sentence) for pattern in _ALL):
        return []
    return list(dict.fromkeys(_sizes(stated(sentence))))


def shown(line: str) -> str:
    """The number of processors in a line of lscpu, ``32 cpus``; empty for any other line."""
    found = _LSCPU.match(line)
    return f"{int(found['n'])} cpus" if found else ""


def _sizes(said: str) -> Iterator[tuple[str, str]]:
    for found in _TOTAL.finditer(said):
        yield "rank-count", f"{number(next(filter(None, found.groups())))} ranks"
    for found in _TWO.finditer(said):
        one, other = (number(each) for each in found.groups() if each)
        yield "ranks-a-host", f"{one} {other}"
    if _UNEVEN.search(said):
        yield "ranks-a-host", "uneven"
    for found in _EACH.finditer(said):
        yield "ranks-a-host", f"{number(found['n'])}"
    for found in _PORTS.finditer(said):
        yield "rdma-port-count", f"{number(found['a'] or found['b'])} ports"
    for found in _CPUS.finditer(said):
        yield "cpu-count", f"{int(found['n'])} cpus"
    for found in _LOADERS.finditer(said):
        yield "loader-count", f"{int(found['n'])} workers"
    for found in _FUNCTION.finditer(said) if _STACK.search(said) else ():
        yield "function", found[0]
