"""What people want NCCL to do, as labels."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE | re.VERBOSE
_WISH = re.compile(
    r"""\b(?:(?:i|we)\s(?:\w+\s)?(?:want|need|wish)|(?:i|we)(?:\swould|'d)\slike|how\s(?:can|do|to|could|should)|which\s(?:variable|setting|option|flag|env)
      |is\s(?:there\sa\sway|it\spossible)\sto|any\sway\sto|what\s(?:variable|setting|option|flag)|trying\sto\s(?:force|make|get))\b
    | 如何|怎么|怎样|想要?|希望""",
    _FLAGS,
)  # fmt: skip
_NOT = re.compile(r"\b(?:don'?t|do\snot|no\slonger|never)\s(?:\w+\s)?(?:want|need|wish)|没有|不想|不要", _FLAGS)
_USE = r"""(?:us(?:e|ing)|force|enable|run\s(?:over|on|with)|go\s(?:over|through)|turn\son|prefer|choose|pick
        |bind|switch\sto|make|使用|强制|启用|用|走|开启|指定)"""
_OFF = r"(?:disabl\w+|turn(?:ing)?\soff|without|avoid\w*|not\suse|prevent\w*|stop|禁用|关闭|不用|不使用|不走)"
_LABELS = tuple(
    (label, re.compile(pattern, _FLAGS))
    for label, pattern in (
        ("disable-p2p", rf"{_OFF}\s?(?:\w+\s){{0,3}}(?:p2p|peer)"),
        ("disable-ib", rf"{_OFF}\s?(?:\w+\s){{0,3}}(?:ib|infiniband|rdma|roce)\b"),
        ("disable-nvlink", rf"{_OFF}\s?(?:\w+\s){{0,3}}(?:nvlink|nvls)"),
        ("share-gpu", r"""(?:several|multiple|two|many|more)\s(?:ranks|process(?:es)?)\s(?:\w+\s){0,2}(?:one|same|single
                |a)\s(?:same\s)?gpu"""),
        (
            "use-all-nics",
            rf"""{_USE}\s?(?:\w+\s){{0,3}}(?:both|all|multiple|several)\s(?:\w+\s){{0,3}}(?:nics?|hcas?|interfaces?
                |ports|rails|adapters)|(?:所有|多个?|两张|全部)网[卡口]"""),
        ("use-gdr", rf"{_USE}\s?(?:\w+\s){{0,3}}(?:gdr|gpu\s?direct)"),
        ("use-nvlink", rf"{_USE}\s?(?:\w+\s){{0,3}}nvlink"),
        ("use-efa", rf"{_USE}\s?(?:\w+\s){{0,3}}efa\b"),
        ("use-ib", rf"{_USE}\s?(?:\w+\s){{0,3}}(?:infiniband|ib|rdma|roce)\b"),
        ("use-sockets", rf"{_USE}\s?(?:\w+\s){{0,4}}(?:sockets?|tcp|ethernet)\b"),
        ("use-p2p", rf"{_USE}\s?(?:\w+\s){{0,3}}p2p\b"),
        (
            "choose-interface",
            rf"""{_USE}\s?(?:\w+\s){{0,4}}(?:(?:e(?:th|n[sopx]?)|ib|bond)\d[\w.]{{0,12}}|(?:specific|certain
                |particular|given|right)\s(?:\w+\s)?(?:interface|nic)|网卡)"""),
    )
)  # fmt: skip


def read(sentence: str) -> list[str]:
    """The labels of what the sentence wants or asks how to do."""
    if not _WISH.search(sentence) or _NOT.search(sentence):
        return []
    ends = {label: found.end() for label, pattern in _LABELS if (found := pattern.search(sentence))}
    return [min(ends, key=lambda label: ends[label])] if ends else []
