"""What people want NCCL to do, as labels."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex

_FLAGS = re.IGNORECASE | re.VERBOSE
_WISH = guarded_regex(
    r"""\b(?:(?:i|we)\s(?:\w+\s)?(?:want|need|wish)|(?:i|we)(?:\swould|'d)\slike|how\s(?:can|do|to|could|should)
      |which\s(?:variable|setting|option|flag|env)
      |is\sit\spossible\sto|can\s(?:i|we|you|one|somebody|someone|nccl)\s(?:somehow\s|\w+ly\s)?(?:disable|enable|turn
      |switch|tell|make|force|get|use|have|run|choose
      |restrict)
      |(?:a|any|some|the)\s(?:\w+\s)?way\s(?:to|of)|^\W*(?:goal|aim)\b|need\s(?:nccl|it)\sto|(?:our|my|the)\s(?:goal
      |aim|plan|intention)\sis|what\s(?:variable|setting|option
      |flag)|trying\sto\s(?:force|make|get))\b
    | 如何|怎么|怎样|想要?|希望""",
    _FLAGS,
)  # fmt: skip
_NOT = lazy_regex(
    r"\b(?:don'?t|do\snot|no\slonger|never)\s(?:\w+\s)?(?:want|need|wish)|\bthat\s\w+\sd(?:id|oes)(?:n't|\snot)|没有|不想"
    r"|不要",
    _FLAGS,
)
_USE = r"""(?:us(?:e|ing)|force|enable|run\s(?:over|on|with)|(?:go|traffic|data|communicat\w+)\s(?:over|through|on
      |via)|turn\son|prefer|choose|pick
        |bind|switch\sto|make|take|使用|强制|启用|用|走|开启|指定)\s?(?:the\s)?"""
_OFF = (
    r"(?:disabl\w+|turn(?:ing)?\s(?:\w+\s)?off|switch(?:ing)?\soff|without|avoid\w*|not\suse|prevent\w*|stop"
    r"|禁用|关闭|不用|不使用|不走)"
)
_GDR = r"(?:gdr|gpu\s?direct)"
_LABELS = tuple(
    (label, lazy_regex(pattern, _FLAGS))
    for label, pattern in (
        ("choose-ports", r"(?:range\sof|certain|fixed|specific)\s(?:\w+\s){0,3}ports?\b|\bport\srange"),
        ("avoid-gdr", rf"{_OFF}\s?(?:\w+\s){{0,3}}{_GDR}|{_GDR}(?:\srdma)?\s(?:switched\s|turned\s)?off"),
        ("disable-p2p", rf"{_OFF}\s?(?:\w+\s){{0,3}}(?:p2p|peer)"),
        ("disable-ib", rf"{_OFF}\s?(?:\w+\s){{0,3}}(?:ib|infiniband|rdma|roce)\b"),
        ("disable-nvlink", rf"{_OFF}\s?(?:\w+\s){{0,3}}(?:nvlink|nvls)"),
        ("share-gpu", r"""(?:several|multiple|two|many|more)\s(?:ranks|process(?:es)?)\s(?:\w+\s){0,2}(?:one|same|single
                |a)\s(?:same\s)?gpu"""),
        (
            "use-all-nics",
            rf"""{_USE}\s?(?:\w+\s){{0,3}}(?:both|all|multiple|several)\s(?:of\s)?(?:\w+\s){{0,3}}(?:nics?|hcas?
      |interfaces?
                |ports|rails|adapters)|(?:所有|多个?|两张|全部)网[卡口]"""),
        ("use-gdr", rf"{_USE}\s?(?:\w+\s){{0,3}}(?:gdr|gpu\s?direct)"),
        ("use-nvlink", rf"{_USE}\s?(?:\w+\s){{0,3}}nvlink"),
        ("use-efa", rf"{_USE}\s?(?:\w+\s){{0,3}}efa\b"),
        ("use-ib", rf"{_USE}\s?(?:\w+\s){{0,3}}(?:infiniband|ib|rdma|roce)(?![a-z0-9])"),
        ("use-sockets", rf"{_USE}\s?(?:\w+\s){{0,4}}(?:sockets?|tcp|ethernet|以太网)(?![a-z0-9])"),
        ("use-p2p", rf"{_USE}\s?(?:\w+\s){{0,3}}p2p\b"),
        (
            "choose-interface",
            rf"""{_USE}\s?(?:\w+\s){{0,4}}(?:(?:e(?:th|n[sopx]?)|ib|bond|mlx)\d[\w.]{{0,12}}|(?:specific|certain
                |particular|given|right|\d+g)\s(?:\w+\s)?(?:interface|nic)|网卡)
              |(?:ignor|exclud|skip|avoid)\w*\s(?:\w+\s){{0,2}}(?:docker\d|lo\b|virbr\d|e(?:th|n[sopx]?)\d\w*
              |interfaces?\b)"""),
    )
)  # fmt: skip

_ALL = "use-all-nics"
"""What is wanted even where the ports are those of InfiniBand."""


def read(sentence: str) -> list[str]:
    """The labels of what the sentence wants or asks how to do."""
    if not _WISH.search(sentence) or _NOT.search(sentence):
        return []
    ends = {label: found.end() for label, pattern in _LABELS if (found := pattern.search(sentence))}
    if "use-sockets" in ends:
        ends.pop("disable-ib", None)
    return [min(ends, key=lambda label: (label != _ALL, ends[label]))] if ends else []
