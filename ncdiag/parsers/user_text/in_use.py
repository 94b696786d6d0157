"""The releases that a job runs, told from those that people compare it with: ``slower with NCCL A than with NCCL B``.

A mention counts if its clause does not say that it works with that release, or that it is another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers.user_text.context import OTHERS
from ncdiag.parsers.user_text.moods import holds, split_question, without_quotes

_PRODUCTS = {
    "nccl": r"nccl",
    "rccl": r"rccl",
    "rocm": r"rocm",
    "lightning": r"(?:pytorch[\s_-])?lightning",
    "pytorch": r"(?:py)?torch",
    "cupy": r"cupy(?:-cuda\d\dx)?",
    "horovod": r"horovod",
    "deepspeed": r"deepspeed(?:\sinfo:)?",
    "aws-ofi-nccl": r"aws-ofi-nccl",
    "libfabric": r"libfabric",
    "nvshmem": r"nvshmem(?=[\s:=(-]|_version|_src_\d)(?:_src_(?=\d))?",
}
_NUMBER = r"\d{1,2}\.\d{1,2}(?:\.\d{1,2})?(?![\d.]*\d)"
_MENTION = lazy_regex(
    r"(?<![\w./-])(?:" + "|".join(f"(?P<{name.replace('-', '_')}>{words})" for name, words in _PRODUCTS.items()) + r")"
    r"(?:[\s_-]?(?:version|release|library|plugin|lib))?(?:\s(?:is|at|to))?(?:\s|==?|:\s?|\s?\(|-|(?<=_src_))v?"
    rf"(?:from\sv?{_NUMBER}(?:\S{{0,20}})\sto\sv?)?(?P<release>{_NUMBER})",
    re.IGNORECASE,
)
_BREAK = lazy_regex(
    r"[,;:]\s|\s[-\u2013\u2014]\s|[.!?]\s|\s(?:but|while|whereas|however|yet|although|though|until)\s"
    r"|\sand\s(?=(?:it|this|that|the|then|now|everything|nothing|all|we|i|with)\b)",
    re.IGNORECASE,
)
_OTHER = lazy_regex(
    r"\b(?:than|unlike|from|before|until|instead\sof|previous(?:ly)?|old(?:er)?|earlier|former(?:ly)?|another|other"
    r"|compared\s(?:to|with)|vs\.?|versus|against|back\sto|downgrad\w*|revert\w*|tr(?:y|ied|ying)|test(?:ed|ing)?|even"
    r"|also|too|same|used\sto|needs?|requires?|at\sleast|since|fixed\sin|fix\sin|neither|nor)\b(?:\W+\w+){0,3}\W*$"
    r"|(?:之前|以前|先前|试过|换成?|降级到?|回退到?)\W*\w{0,4}\W*$",
    re.IGNORECASE,
)
"""What stands before a release that is not the one in use. ``since`` names the first of many."""
_BEFORE = lazy_regex(
    r"(?:^|[.!?]\s)(?:before(?:\s(?:this|that))?|until\s(?:now|then)|previously|formerly|earlier|in\sthe\spast"
    r"|last\s(?:week|month|year)),\s[^,;:.!?]*$",
    re.IGNORECASE,
)
"""Words for an earlier time, with a comma before the clause that names the release: ``Last week, with NCCL``."""
_WELL = guarded_regex(
    r"\b(?:work(?:s|ed|ing)?|fine|ok(?:ay)?|good|well|faster|solve[sd]?|fix(?:e[sd])?|help(?:s|ed)?|cure[sd]?|gone"
    r"|stable|succeed\w*|pass(?:es|ed)|recommend\w*|no\s(?:such\s)?(?:problems?|issues?|hangs?|errors?|crash(?:es)?)"
    r"|(?:does|did|do)(?:n't|\snot)\s(?:hang|crash|fail|happen|occur|show|have|reproduce)|never\s(?:hangs?|had|saw|fails?)"
    r"|laptop|colleague\w*|other\s(?:cluster|machine|host|node)s?|elsewhere)\b"
    r"|正常|没有?(?:这个|任何)?问题|可以|不会|好了|解决",
    re.IGNORECASE,
)
_NOT_WELL = lazy_regex(
    r"\b(?:(?:does|do|did|is|are|has|have|was)(?:n't|\snot)|not|no\slonger|never|stop(?:s|ped)|nothing)\s(?:\w+\s)?"
    r"(?:work(?:s|ed|ing)?|fine|ok(?:ay)?|good|well|help(?:s|ed)?|fix(?:e[sd])?|solve[sd]?)\b",
    re.IGNORECASE,
)


def read(sentence: str) -> list[str]:
    """The product and the release of each mention of one that is in use: ``nccl 2.30.4``."""
    if not _MENTION.search(sentence):  # few sentences name one, and the mood is computed for these alone
        return []
    said, asked = split_question(without_quotes(sentence))
    if asked or OTHERS.search(said):
        return []
    return list(dict.fromkeys(_in_use(said)))


def _in_use(said: str) -> Iterator[str]:
    for found in _MENTION.finditer(said):
        begin = max((each.end() for each in _BREAK.finditer(said, 0, found.start() + 1)), default=0)
        after = _BREAK.search(said, found.end())
        before, behind = said[begin : found.start()], said[found.end() : after.start() if after else len(said)]
        clause = f"{before}{found[0]}{behind}"
        other = "_src_" not in found[0] and _OTHER.search(before)  # ``built from nvshmem_src_...``
        other = other or _BEFORE.search(said[: found.start()])
        if other or _WELL.search(_NOT_WELL.sub(" ", clause)) or not holds(clause):
            continue
        product = next(name for name in _PRODUCTS if found[name.replace("-", "_")])
        yield f"{product} {found['release']}"
