"""When, where and against what a complaint is made, and whether a sentence complains at all."""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers.user_text.intended import without_intentions
from ncdiag.parsers.user_text.moods import split_question, without_reasons

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
        r"""\bfirst\s(?:(?!\d)\w+\s)?(?:all_?-?reduce|all_?-?gather|collective|broadcast|barrier|step|iteration|batch)
          | \bafter\s(?:nccl\s|the\s)?(?:init\b|initiali[sz]ation) | \binit(?:iali[sz]ation)?\scompletes?\b
          | 第一(?:个|次)(?:step|迭代|all)""",
    ),
    (
        "init",
        r"""ncclCommInit\w* | 初始化 | \b(?:nccl|comm\w*)\sinit\w* | \b(?:on|at)\sstart(?:-?up)?\b | \b(?:MPI|hvd
          |ray)[._]Init\b
          | \bdeepspeed\.init\w* | \binit_distributed\w* | \b(?:communicator|process\sgroup)\s(?:creation|set-?\s?up)\b
          | \b(?:communicator|process\sgroup)\s(?:is|gets)\s(?:being\s)?(?:created|set\sup) | \bnot\sinitiali[sz]e\b
          | \b(?:refuses?|fails?)\sto\sinitiali[sz]e\b | \binitiali[sz](?:e|ing)\s(?:nccl|rccl|mpi|the\scommunicator)\b
          | \b(?:at|in|on|during|while)\s(?:the\s)?(?:nccl\s)?(?:init\b|initiali[sz]\w+|start-?up)""",
    ),
    (
        "connect",
        r"\bconnect(?:ing|ion)?\s(?:\w+\s)?(?:channels|rings|trees)|\bset(?:ting)?\sup\s(?:channels|transports)",
    ),
    (
        "end",
        r"""\bat\sthe\s(?:very\s)?end\b | \b(?:on|at|during)\s(?:\w+\s)?exit | \bexiting\b | \bdestroy\w*
      | \bfinali[sz]\w+ | \btear-?down
          | \bshut\w*\sdown | (?<!报错)退出时? | 结束时""",
    ),
    (
        "later",
        r"""\bfor\s(?:an?|\d+|some|several|many|a\sfew)\s(?:steps|iterations|hours?|minutes|while|days?)\b.*\bthen\b
          | \bat\s(?:step|iteration)\s\d{2,} | \bafter\s(?:about\s|around\s|roughly\s|~\s?)?(?:\d[\d,.k]*|a\sfew|some
          |several|many|one|two|a)\s?
            (?:hundred\s|thousand\s|dozen\s)?            (?:steps|iterations|epochs?|hours?|minutes|mins?|days?|h\b)
          | \b(?:randomly|sporadic\w*|intermittent\w*|occasional\w*|sometimes|once\sin\sa\swhile)\b
          | \bsecond\s(?:\w+\s)?(?:iteration|step|batch|backward)
          | \bmid(?:dle\sof\s(?:the\s)?|-)training | \bat\srandom\b
          | 随机 | 偶尔 | 偶发 | 第\d{2,}\s?(?:步|个?(?:step|iter)) | 到一半 | 一半时 | 一段时间 | 若干步 | 几步""",
    ),
)
_SCOPES = (
    (
        "multi-host",
        r"""\b(?:multi(?:ple|-|\s)?\s?|two\s|both\s|several\s|different\s|[2-9]\s|\d{2,4}\s
      |between\s(?:the\s)?(?:two\s)?
      |across\s(?:the\s)?
          |second\s)(?:nodes?|hosts?|machines?|servers?)\b | 多机 | 双机 | 两机 | 跨节点 | 多节点""",
    ),
    ("one-host", r"\b(?:one|single)[\s-](?:node|host|machine|server)\b|单机|单节点"),
    (
        "multi-gpu",
        r"\b(?:more\sthan\s(?:one|1)\s|multi(?:ple|-|\s)?\s?|two\s|several\s|[2-9]\s|\d{2,4}\s|all\s)(?:gpus?|cards)\b|多卡|双卡",
    ),
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
MACHINE_ENDS = r"""
    (?<!after\s)(?<!after\sthe\s)(?<!after\sa\s)(?<!until\sthe\s)(?<!once\sthe\s)(?<!when\sthe\s)
    (?:computer|pc|machine|workstation|server|system|box|host|rig|node)\s
    (?:(?:just|simply|then|suddenly|always|instantly|immediately|randomly|spontaneously|hard|itself)\s){0,2}
    (?:turns?\s(?:itself\s)?off|shuts?\s(?:itself\s)?(?:down|off)|switch(?:es)?\soff|powers?\s(?:off|down)|goes\sdark
    |re-?boots?|restarts?\sby\sitself|restarts?\s(?:itself|within|as\ssoon|when|while|under|during|every)|resets?)
  | (?:hard|spontaneous(?:ly)?|sudden(?:ly)?|random(?:ly)?)\s(?:resets?|reboots?|restarts?|shutdowns?|power-?\s?offs?)
"""
"""A machine that ends under the job, and not one that somebody restarts."""
_START = lazy_regex(
    r"""\b(?:can(?:no|'?)t|does(?:n'?t|\snot)|will\snot|won'?t|unable\sto|fails?\sto|refuses?\sto|never)\s(?:\w+\s)?
        (?:start|launch|come\sup|boot) | \b(?:not\sable|impossible|no\sway|unable)\sto\s(?:\w+\s){0,2}(?:start|launch)
      | \b(?:can(?:\snot|not|'t)|could\snot)\s(?:be\s|even\s)(?:be\s)?(?:start|launch|schedul)\w*
      | \bnever\s(?:made\sit|makes\sit|got|gets|started|reached|came\sup)\b | \bnothing\s(?:starts|launches
        |is\sstarted)\b
      | crash-?loop | \b(?:stays?|stuck|remains?|sits?|keeps?|waits?)\s(?:\w+\s)?(?:in\s)?(?:the\s)?
        (?:pending|queue[d]?|containercreating|podinitializing) | 起不来 | (?:启动|拉起)(?:不了|失败) | 无法启动""",
    _FLAGS,
)
_CRASH = lazy_regex(
    rf"{MACHINE_ENDS}|"
    r"\b(?:crash\w*|dies?|died|segmentation\sfault\w*|bus\serrors?|signal\s\d+|exit\scode\s13[49]|seg-?\s?fault\w*"
    r"|core\sdump\w*|sig(?:segv|abrt|bus|fpe|ill|kill)|aborts?|aborted|panics?|double\sfree|oom-?\s?kill\w*"
    r"|illegal\s(?:memory\saccess|instruction)|segfaulted|(?:is|was|were|gets?|got|getting)\s(?:\w+\s)?killed)\b|崩溃"
    r"|段错误",
    _FLAGS,
)
_THAN = lazy_regex(r"(?<!more\s)\bthan\b.*|比\S{0,4}", re.IGNORECASE)
_EARLY = frozenset({"rendezvous", "bootstrap", "init", "connect"})
_PRESUMES = guarded_regex(
    r"""\b(?:why|normal|any(?:one|body)|some(?:one|body)|know|help|idea|causes?)\b
      | \bhow\s(?:\w+\s){0,3}(?:fix|solve|resolve|avoid|prevent|debug|overcome|stop|get\srid)\b
      | 怎么(?:办|解决|处理|回事|修) | 如何(?:解决|处理|排查) | 什么原因 | 为什么 | 求(?:助|解) | 帮""",
    _FLAGS,
)
"""A question that takes for granted that it goes wrong."""
_HYPOTHETICAL = guarded_regex(
    r"""\W*if\s(?!i\b|we\b|my\b|our\b)[^,]{1,80},\s?(?:please|press|try|set|check|then\s(?:set|try|check)|you|use
        |run|see|make)\b
      | \b(?:may|might|would|could)\s(?:\w+\s)?(?:hang|fail|crash|freeze|be\sslow(?:er)?|block|time\sout)\b
      | \b(?:what\s(?:\w+\s)?happens?\s(?:if|when|in\scase)|what\sif|in\scase|suppose|assuming)\b
      | \bused\sto\s(?:\w+\s)?(?:hang|crash|fail|freeze|get\sstuck|be\sslow|time\sout|stall|deadlock|block|die|break)\b
      | \b(?:wonder\w*|whether|asked\sif|to\sbe\sexpected|plan(?:s|ned|ning)?\sto)\b
      | \bif\s(?:any|a|one|some)\s\w+\s(?:gets?|has|hits?|fails?|raises?|throws?|runs?)\b[^.]{0,60}?
        \b(?:we|it|they|the\s\w+)\s(?:all_?-?reduce|skip|broadcast|retry|restart|resume|ignore|catch|handle|continue)
      | (?<!until\s)\b(?:i|we)\s(?:\w+\s)?killed\b
      | ^\W*as\sexpected,(?![^.;]*\b(?:but|however|yet|except|while)\b)\s
        (?:(?!(?:never|not?|cannot|hangs?|hung|stuck|crash\w*|fail\w*|freez\w*|stall\w*|slow\w*|errors?|dies|aborts?)\b
        |\w+n't)\S+\s){0,6}?(?:works?|worked|runs?|ran|trains?|passe[sd]|finish\w*|succeed\w*|complete[sd]?)\b
      | ^\W*as\sexpected,[^.;]*\b(?:when|after|once|as)\s(?:i|we)\s(?:\w+ly\s)?(?:pulled|unplugged|killed|cut
        |disconnected|removed|disabled|stopped|took|blocked|dropped|shut|rebooted|injected|broke)\b
      | \b(?:told|heard|read|says?|said|claims?)\s(?:(?:me|us|that|once)\s){0,2}(?:nccl|rccl|the\sdriver|pytorch)
        \s(?:is|was)\s(?:\w+\s){0,2}(?:broken|buggy|slow|unstable|faulty)\s(?:on|with|for)\b
      | (?:准备|打算|计划|如果|要是|假如|倘若)
      | (?<![^\W\d_])若(?!干) | (?:某些|少数|个别)(?:情况|场景)
      | \b(?:was|were|is|are|got|been)\s(?:since\s|then\s|later\s)?(?:mended|solved|resolved|cured)\b
      | \bif\b[^.]{1,80},\s(?:\w+\s)?(?:i|we|it|they)(?:'d|\swould)\b | ^\W*had\s(?:it|i|we)\b | \badvice\b
      | ^\W*(?:whenever|should|in\scase|once|as\ssoon\sas)\b(?![^,]*\b(?:i|we|my|our|it)\b)[^,]{1,80},\s?(?:please
        |run|try
        |set|check|use|look|the|torchrun|slurm|nccl|mpirun|kubernetes)\b
      | ^\W*(?:this|the)\s(?:page|document|section|guide|chapter|article|post|tutorial)\s(?:describes|explains|shows
        |covers)\b
      | \b(?:hope|hoping|wish)\b | \b(?:cannot|can't|could\snot|unable\sto)\s(?:make\sit\s
        |reproduce\s(?:the\s)?)(?:hang|fail|crash)
      | \b(?:is|are)\snot?\s(?:slow(?:er)?|low(?:er)?)\b
      | \b(?:docs?|documentation|manual|faq|guide)\s(?:says?|said|states|mentions)\b
      | (?:没有?|不再|不会)(?:再|一直)?(?:卡|报错|崩溃|挂|超时|涨|出错|失败) | 不慢""",
    _FLAGS,
)  # fmt: skip
_ASIDE = lazy_regex(
    r"""\b(?:increas|rais|lower|extend|adjust|configur|chang|bump|controls?|set|sets|longer|larger|higher|bigger
      |default)\w*\s
        (?:[\w'-]+\s){0,4}?timeouts?\b
      | \b(?:otherwise|or\selse|so\sthat)\b[^.;]*
      | \bbefore\s(?:i|we)\s(?:\w+\s)?(?:added|set|used|put|exported|passed|raised|increased|enabled|disabled|mounted)\b
        [^.;]{0,60}?\b(?:it|this|that|everything|the\s\w+)\s(?:\w+ly\s|always\s)?(?:crashed|failed|died|hung|froze)\b
        (?:(?!\b(?:now|but|still)\b)[^.;])*
      | \bslow(?:ly|er)?\b(?:(?!__)[^.;]){0,40}\bthen\b(?:(?!__)[^.;]){0,30}\b(?:full|normal)\sspeed""".replace(
        "__",
        r"\b(?:never|not?|cannot|without|hang|hung|stuck|crash|fail|freez|froze|stall|stop|die|abort)|n't",
    ),
    _FLAGS,
)
"""What is set, or would be otherwise, or is over: no trouble of now."""
_TABLES = tuple(
    tuple((value, lazy_regex(pattern, _FLAGS)) for value, pattern in table)
    for table in (_PHASES, _SCOPES, _AGAINST, _SUBJECTS)
)


def claimed(sentence: str) -> str:
    """What a sentence claims; empty where it only asks, supposes, hopes or cites that something goes wrong."""
    if _HYPOTHETICAL.search(sentence):
        return ""
    sentence = without_intentions(_ASIDE.sub("", without_reasons(sentence)))
    return sentence if _PRESUMES.search(sentence) else split_question(sentence)[0]


def described(what: str, text: str) -> dict[str, Any]:
    """The fields of a complaint of this kind: ``what``, narrowed down, and what the sentence says of it besides."""
    phase, scope, against, subject = (
        next(
            (value for value, pattern in table if pattern.search(_THAN.sub("", text) if table is _TABLES[1] else text)),
            None,
        )
        for table in _TABLES
    )
    if what == "fails":
        what = "cannot-start" if _START.search(text) else "crashes" if _CRASH.search(text) else what
        what = "fails-at-init" if what == "fails" and phase in _EARLY else what
    found = {
        "what": what, "phase": phase, "scope": scope, "against": against if what == "slow" else None,
        "subject": subject if what == "not-used" else None,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}
