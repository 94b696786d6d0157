"""When, where and against what a complaint is made, and whether a sentence complains at all."""

from __future__ import annotations

import re
from typing import Any

_FLAGS = re.IGNORECASE | re.VERBOSE
_PHASES = (
    (
        "rendezvous",
        r"""\brendezvous\b | \binit_process_group\b | \binitiali[sz]\w+\s(?:the\s)?process\sgroup\b | TCPStore
          | \bwait\w*\sfor\s(?:all\s|the\s|other\s){0,3}(?:workers|ranks|nodes)""",
    ),
    ("bootstrap", r"\bbootstrap|ncclGetUniqueId|unique\sid\b"),
    (
        "first-collective",
        r"""\bfirst\s(?:\w+\s)?(?:all_?-?reduce|all_?-?gather|collective|broadcast|barrier|step|iteration|batch)
          | \bafter\s(?:nccl\s|the\s)?(?:init\b|initiali[sz]ation) | \binit(?:iali[sz]ation)?\scompletes?\b
          | 第一(?:个|次)(?:step|迭代|all)""",
    ),
    (
        "init",
        r"""ncclCommInit\w* | 初始化
          | \b(?:at|in|on|during|while)\s(?:the\s)?(?:nccl\s)?(?:init\b|initiali[sz]\w+|start-?up)""",
    ),
    (
        "connect",
        r"\bconnect(?:ing|ion)?\s(?:\w+\s)?(?:channels|rings|trees)|\bset(?:ting)?\sup\s(?:channels|transports)",
    ),
    (
        "end",
        r"""\bat\sthe\s(?:very\s)?end\b | \bon\sexit | \bexiting\b | \bdestroy\w* | \bfinali[sz]\w+ | \btear-?down
          | \bshut\w*\sdown | 退出 | 结束时""",
    ),
    (
        "later",
        r"""\bafter\s(?:about\s|around\s|roughly\s|~\s?)?(?:\d[\d,.k]*|a\sfew|some|several|many|one|two)\s?
            (?:steps|iterations|epochs?|hours?|minutes|mins?|days?|h\b)
          | \b(?:randomly|sporadic\w*|intermittent\w*|occasional\w*|sometimes|once\sin\sa\swhile)\b
          | \bmid(?:dle\sof\s(?:the\s)?|-)training | 随机 | 偶尔 | 偶发 | 一半 | 一段时间 | 若干步 | 几步""",
    ),
)
_SCOPES = (
    (
        "multi-host",
        r"""\b(?:multi(?:ple|-|\s)?\s?|two\s|several\s|[2-9]\s|\d{2,4}\s|between\s(?:the\s)?(?:two\s)?|across\s(?:the\s)?
          |second\s)(?:nodes?|hosts?|machines?|servers?)\b | 多机 | 双机 | 两机 | 跨节点 | 多节点""",
    ),
    ("one-host", r"\b(?:one|single)[\s-](?:node|host|machine|server)\b|单机|单节点"),
    ("multi-gpu", r"\b(?:multi(?:ple|-|\s)?\s?|two\s|several\s|[2-9]\s|\d{2,4}\s|all\s)gpus?\b|多卡|双卡"),
)
_AGAINST = (
    ("one host", r"\b(?:than|to|with)\s(?:on\s)?(?:a\s|one\s|single\s){1,2}(?:node|host|machine)"),
    (
        "the older release",
        r"""\bthan\s(?:\w+\s){0,3}v?\d+\.\d+ | \bthan\s(?:with\s)?(?:the\s)?(?:older|previous|before)
          | \bsince\s(?:the\s)?(?:upgrade|update)""",
    ),
    ("expected", r"\bexpect\w*|\btheoretical\b|\bshould\s(?:be|reach|get)\b"),
)
_SUBJECTS = (
    ("gdr", r"\bgdr\b|gpu\s?direct"),
    ("efa", r"\befa\b"),
    ("roce", r"\broce\b"),
    ("rdma", r"\brdma\b"),
    ("ib", r"\bib\b|infiniband"),
    ("nvlink", r"nvlink|nvls"),
    ("p2p", r"\bp2p\b|peer"),
    ("shm", r"\bshm\b|shared\smemory"),
    (
        "all-nics",
        r"""\b(?:all|both|other|second|multiple|one\sof)\s(?:\w+\s){0,3}
            (?:nics?|hcas?|ports?|interfaces?|rails?)\b""",
    ),
    ("gpu", r"\bgpus?\b"),
)
_START = re.compile(
    r"""\b(?:can(?:no|'?)t|does(?:n'?t|\snot)|will\snot|won'?t|unable\sto|fails?\sto|refuses?\sto|never)\s(?:\w+\s)?
        (?:start|launch|come\sup) | 起不来 | (?:启动|拉起)(?:不了|失败) | 无法启动""",
    _FLAGS,
)
_CRASH = re.compile(
    r"\b(?:crash\w*|seg-?\s?fault\w*|core\sdump\w*|sigsegv|aborts?|aborted|panics?)\b|崩溃|段错误", _FLAGS
)
_EARLY = frozenset({"rendezvous", "bootstrap", "init", "connect"})
_ASKED = re.compile(
    r"""\W*(?:do|does|did|will|would|should|could|can|may|might)\b(?!.*\b(?:why|normal|anyone|anybody|know
        |help)\b).*\?\W*$""",
    _FLAGS,
)
_HYPOTHETICAL = re.compile(
    r"""\W*if\s(?!i\b|we\b|my\b|our\b)[^,]{1,80},\s?(?:please|press|try|set|check|then\s(?:set|try|check)|you|use
        |run|see|make)\b
      | \b(?:may|might|would|could)\s(?:\w+\s)?(?:hang|fail|crash|freeze|be\sslow(?:er)?|block|time\sout)\b
      | \b(?:hope|hoping|wish)\b | \b(?:cannot|can't|could\snot|unable\sto)\s(?:make\sit\s
        |reproduce\s(?:the\s)?)(?:hang|fail|crash)
      | \b(?:is|are)\snot?\s(?:slow(?:er)?|low(?:er)?)\b
      | \b(?:docs?|documentation|manual|faq|guide)\s(?:says?|said|states|mentions)\b
      | (?:没有?|不再|不会)(?:再)?(?:卡|报错|崩溃|挂) | 不慢""",
    _FLAGS,
)  # fmt: skip
_TABLES = tuple(
    tuple((value, re.compile(pattern, _FLAGS)) for value, pattern in table)
    for table in (_PHASES, _SCOPES, _AGAINST, _SUBJECTS)
)


def is_claimed(text: str) -> bool:
    """False where the sentence only asks, supposes, hopes or cites that something goes wrong."""
    return _ASKED.match(text) is None and _HYPOTHETICAL.search(text) is None


def described(what: str, text: str) -> dict[str, Any]:
    """The fields of a complaint of this kind: ``what``, narrowed down, and what the sentence says of it besides."""
    phase, scope, against, subject = (
        next((value for value, pattern in table if pattern.search(text)), None) for table in _TABLES
    )
    if what == "fails":
        what = "cannot-start" if _START.search(text) else "crashes" if _CRASH.search(text) else what
        what = "fails-at-init" if what == "fails" and phase in _EARLY else what
    found = {
        "what": what, "phase": phase, "scope": scope, "against": against if what == "slow" else None,
        "subject": subject if what == "not-used" else None,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}
