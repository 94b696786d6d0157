"""What people write about RDMA cards: ``mlx5_8 is for storage``, ``counters of mlx5_5 stay flat, others grow``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import stated

_CARD = r"(?:mlx\d{1,2}_(?:bond_)?\d{1,2}|bnxt_re\d{1,2}|irdma\d{1,2}|rdmap\d{1,3}s\d{1,3}|ionic_\d{1,2}|hfi1_\d)"
_CARDS = rf"(?P<cards>{_CARD}(?:(?:\s?[,/&]\s?|,?\s(?:and|or)\s){_CARD}){{0,15}})"
_OTHER_USE = (
    r"(?:storage|file\s?systems?|checkpoints?|management|mgmt|front-?\s?end|in-?band|north-?south|nfs|lustre|gpfs|weka"
    r"|beegfs|ceph|daos|vast|nvme-?of|ssh|ethernet|dpus?|bluefield|data\sloading|internet|存储|管理)"
)
_ASIDE = lazy_regex(
    rf"\b{_CARDS}\s?(?:\(|=|:|,|\b(?:is|are|was|were|carr(?:y|ies)|serves?|goes|go|belongs?|connects?|for)\b|为|是|用于)[^.;()\n]{{0,50}}?"
    rf"{_OTHER_USE}"
    rf"|{_OTHER_USE}[^.;\n]{{0,40}}?{_CARDS.replace('P<', 'P<the_')}",
    re.IGNORECASE,
)
_COUNTS = r"(?:counters?|port_?xmit_?data|port_?rcv_?data|xmit|tx|rx|bytes|traffic|计数器?|流量)"
_STILL = (
    r"(?:(?:do(?:es)?|did|has|have|is|are)(?:\s?n[o']t)\s(?:\w+\s)?(?:move[sd]?|grow\w*|increas\w*|chang\w*|increment\w*|moving)"
    r"|(?:stay|stays|stayed|remain\w*|sit|sits|is|are|keeps?)\s(?:\w+\s)?(?:flat|still|the\ssame|constant|unchanged|at\s(?:0|zero)|zero|0|idle|frozen)"
    r"|stands?\sstill|never\s(?:move|grow|increase|change)s?|no\straffic|不动|不变|不增长|没有(?:变化|增长|流量))"
)
_OTHERS = r"(?:others?|rest|remaining|siblings?|(?:two|three|four|five|six|seven|[2-9]|1\d)\s\w+|其他|其它|其余)"
_GROW = (
    r"(?:grow\w*|increas\w*|move[sd]?|moving|climb\w*|rise|rises|rising|busy|traffic|full\s(?:rate|speed)"
    r"|gb|gib|gbps|gbit|g|增长|变化)"
)
_IDLE = lazy_regex(
    rf"{_COUNTS}[^.;\n]{{0,40}}?\b(?P<a>{_CARD})\b[^.;\n]{{0,50}}?{_STILL}[^.;\n]{{0,60}}?{_OTHERS}[^;\n]{{0,50}}?{_GROW}"
    rf"|\b(?P<b>{_CARD})\b[^.;\n]{{0,40}}?{_COUNTS}[^.;\n]{{0,50}}?{_STILL}[^.;\n]{{0,60}}?{_OTHERS}[^;\n]{{0,50}}?{_GROW}"
    rf"|{_COUNTS}[^.;\n]{{0,60}}?{_GROW}[^.;\n]{{0,60}}?(?:except|but\snot|apart\sfrom|除了?)[^.;\n]{{0,30}}?\b(?P<c>{_CARD})\b",
    re.IGNORECASE,
)
_BECAUSE = lazy_regex(
    rf"\b(?:because|since|as)\s(?:it(?:\s(?:is|carries|serves|belongs|goes))|it's|that(?:\sone)?\sis|that's|this\sis)\s[^.;,\n]{{0,30}}?{_OTHER_USE}",
    re.IGNORECASE,
)
"""The reason why a card is idle: ``because it is the storage card``."""
_NAME = lazy_regex(_CARD, re.IGNORECASE)


def read(sentence: str) -> list[tuple[str, str]]:
    """``card-aside`` and ``card-idle``, each with the name of a card."""
    if not _NAME.search(sentence):
        return []
    return list(dict.fromkeys(_cards(stated(sentence))))


def _cards(said: str) -> Iterator[tuple[str, str]]:
    for found in _ASIDE.finditer(said):
        yield from (("card-aside", name.lower()) for name in _NAME.findall(found["cards"] or found["the_cards"]))
    if idle := _IDLE.search(said):
        name = next(filter(None, idle.groupdict().values())).lower()
        yield "card-aside" if _BECAUSE.search(said) else "card-idle", name
