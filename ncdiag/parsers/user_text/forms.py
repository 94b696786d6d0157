"""The form that a trouble takes: GPUs that idle, pauses, a GPU that is lost, several GPUs that are slower than one.

A form is a subject and what is said of it, near each other in one sentence, in either order. It says more than the kind
of a complaint: an expert's first guess follows from the form and from the machine (`ncdiag.facts.vocabulary.usual`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.hints import Hints
from ncdiag.parsers._prose import is_said
from ncdiag.parsers.user_text import numbers

_NEAR = 90
"""The greatest number of characters between the subject and what is said of it."""
_LONGEST = 1000
"""The number of characters of a sentence that are read."""
_FEW = r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|some|half|a\sfew)"
_SEVERAL = r"(?:[2-9]|\d{2}|two|three|four|six|eight|ten|both|all|several|multiple|more|dual|many)"
_CARD = (
    r"(?:gpus?|cards?|graphics\scards?|(?:rtx\s?|gtx\s?|geforce\s|quadro\s|tesla\s|titan\s|radeon\s)?"
    r"(?:rtx\s|gtx\s|rx\s)?(?:[avhlbpt]\d{1,4}|mi\d{3}x?|[1-7]0[5-9]0|[5-7][6-9]00|[456]000|titan"
    r"|xtx?)(?:\s?(?:ti|xtx?|ada|super))?s?)"
)
_SEVERAL_CARDS = (
    rf"(?:multi-?\s?gpus?|multiple\s\w*\s?gpus?|{_SEVERAL}\s?x?\s(?:\w+\s){{0,2}}?{_CARD}|{_SEVERAL}x\s?{_CARD}"
    rf"|second\s{_CARD}|data-?parallel|ddp)"
)
_HOSTS = r"(?:nodes?|hosts?|machines?|servers?|instances?)"


class Form(NamedTuple):
    """A form: its name, the kind of trouble, subject and predicate, what must be or must not be in the sentence too.

    ``of``: the kinds of complaints of the same sentence that it describes more closely.
    """

    name: str
    what: str
    subject: str
    said: str
    unless: str = ""
    of: tuple[str, ...] = ()


FORMS = (
    Form(
        "gpus-idle", "slow",
        r"(?:gpus?|cards?)(?:'s)?\s(?:\w+\s)?(?:util\w*|usage|load|capacity|activity)|gpu-?util\w*|utili[sz]ation"
        r"|all\s(?:\w+\s)?gpus|gpus?(?=\s(?:are|sit|go|stay|wait|drop|starv))",
        r"(?:drop|fall|go|dip|sink)\w*\s(?:\w+\s){0,2}(?:to\s)?(?:around\s|about\s|near\s|nearly\s)?(?:0|zero)\b"
        r"|(?:is|at|only|stays|sits)\s(?:\w+\s){0,2}(?:0(?:\s?-\s?\d)?\s?%?\s(?:for|most|between)|idle|very\slow|low\b)"
        r"|idl(?:e|es|ing)|like\sa\ssaw\w*|saw-?tooth|fluctuat\w*|oscillat\w*|up\sand\sdown"
        r"|jump\w*\s(?:\w+\s){0,2}between|wait\w*\sfor\s(?:the\s)?(?:data|input|next\sbatch)|starv\w*|in\sbursts"
        r"|nothing\shappens",
        of=("slow", "hangs"),
    ),
    Form(
        "pauses", "slow",
        r"train\w*|job|process\w*|(?:few\s|\d+\s)?steps?|iterations?|batch\w*|epochs?|speed|throughput|images?"
        r"|samples?|run|it",
        rf"(?:stall|paus|stop|hang|freez|halt|stunned|stuck|wait|block"
        rf"|slow)\w*\s(?:\w+\s){{0,4}}?(?:again\sand\sagain|every\s(?:{_FEW}\s|other\s)?(?:few\s)?(?:steps?"
        rf"|iterations?|batch\w*|seconds?|minutes?)|periodically|regularly|between\s(?:the\s)?(?:steps|batch\w*"
        rf"|iterations|epochs))"
        r"|(?:stall|paus|stop|hang|freez|halt|stunned|stuck|wait"
        r"|block)\w*\s(?:\w+\s){0,3}for\s[^.;]{2,40}?\b(?:and\sthen|then|before\sit|and)\s(?:it\s"
        r"|the\s\w+\s)?(?:continu|resum|goes\son|recover|runs?\s|is\sfast)\w*"
        r"|in\sbursts|long\spauses|with\spauses|then\sit\sgoes\son|(?:there\sis|comes|makes"
        r"|takes)\sa\s(?:\w+\s)?(?:pause|break)",
        of=("hangs", "slow"),
    ),
    Form(
        "falls-off", "slow",
        r"at\sfirst|at\sthe\sbeginning|in\sthe\sbeginning|initially|suddenly|gradually|over\stime"
        r"|after\s(?:a\s(?:few|while)|some|several|ten|\d+|about|around)\b|first\s\d+\s\w+|the\slonger",
        r"(?:slow(?:s\sdown|er\sand\sslower|er|s)?|drops?|fall(?:s|ing)?\s(?:off|down)|decreas\w+|degrad\w+"
        r"|(?:goes|going)\sdown)\b",
        unless=r"\bthan\s(?:one|a\ssingle|v?\d)|released?|upgrad\w+|updat\w+|warm-?up",
        of=("slow",),
    ),
    Form(
        "with-more-gpus", "slow", _SEVERAL_CARDS,
        r"slower|no\sfaster|not\s(?:any\s|much\s|really\s)?faster|hardly\s(?:any\s)?faster"
        r"|no\s(?:\w+\s)?speed-?\s?up|slows?\sdown|(?:twice|\w+\stimes|just|exactly)\sas\s(?:long|slow)"
        r"|same\s(?:speed|time)|takes?\s(?:\w+\s){0,2}(?:longer|more\stime)|(?:doesn'?t|does\snot|don'?t|do\snot"
        r"|not)\s(?:\w+\s)?scal\w*|scales?\s(?:\w+\s)?(?:badly|poorly)|less\sthan\s(?:one|a\ssingle)"
        r"|only\sas\sfast",
        unless=rf"\b(?:{_HOSTS}\sis|across\s|multi-?\s?nodes?|{_SEVERAL}\s{_HOSTS}|between\s(?:the\s)?{_HOSTS}"
               rf"|wait\w*\sfor|than\s(?:the|all)\sothers?|older|previous|v\d)\b",
        of=("slow",),
    ),
    Form(
        "elsewhere", "slow",
        r"slow\w*|times\sas\slong|longer|takes?\s(?:\w+\s){0,3}(?:\d|minutes|seconds|hours)|(?:batch\w*|steps"
        r"|iterations|images|samples|files)\s?(?:per|/)\s?(?:sec\w*|s\b|min\w*)|throughput",
        r"(?:than|compared\s(?:to|with)|as|where|but|while|whereas)\s(?:\w+\s){0,12}?(?:by\shand|interactiv\w*"
        r"|(?:my|our|another|an\sother|the\sother|the\sold|home|local)\s(?:\w+\s){0,2}(?:cluster|machine|server"
        r"|system|laptop|workstation|site)|without\s(?:the\s)?(?:scheduler|slurm)|outside\s(?:of\s)?slurm"
        r"|start\sit\sby\shand)"
        r"|(?:two|both|different|other)\sclusters",
        unless=r"nccl-?tests|all_?reduce|bandwidth|bus\sbw|busbw",
        of=("slow",),
    ),
    Form(
        "reading", "slow",
        r"(?:read|load)(?:s|ing)?\s(?:\w+\s){0,4}?(?:data\w*|files?|images?|batch\w*|samples?|shards?|tars?)"
        r"|data-?\s?load\w*|\b(?:i/o|io)\b(?:\sperformance)?|input\s(?:pipeline|data)|(?:data|dataset)\s(?:is"
        r"|are)\sread|(?:synthetic|dummy|fake|random|cached)\sdata",
        r"slow\w*|bottleneck|takes?\s(?:\w+\s){0,3}(?:long|minutes|seconds|most|hours)|low\s(?:throughput"
        r"|performance)|issues?|(?:per|/)\s?sec\w*|starv\w*|(?:with|on|for)\s(?:the\s)?(?:real|actual"
        r"|own)\s(?:data|dataset|images)",
        unless=r"checkpoint|weights|safetensors|\bmodels?\sload|load\w*\s(?:the\s|a\s)?model",
        of=("slow",),
    ),
    Form(
        "start", "slow",
        r"start(?:s|up|-up|ing)?|init\w*|first\s(?:run|call|use|cuda\scall|launch)|launch\w*|cuda\s(?:context"
        r"|init\w*)|cudamalloc|cudafree|nccl-init|loading\scuda",
        r"(?:takes?|took|need\w*|last\w*)\s(?:\w+\s){0,3}(?:\d+\s?(?:s\b|sec\w*|min\w*)|minutes?|several\sminutes"
        r"|long(?:er)?|ages|forever)|(?:very|extremely|really|so)\sslow|slow\w*",
        unless=r"training\s(?:is|step|speed)|throughput|bandwidth|per\ssecond|slower\sthan\s(?:one|a\ssingle)",
        of=("slow",),
    ),
    Form(
        "one-slow-gpu", "slow",
        r"(?:one|a\ssingle|1)\s(?:of\s(?:the\s|our\s|my\s)?(?:\w+\s)?)?(?:gpus?|cards?|ranks?)\b|gpu\s\d\b",
        r"(?:slower|lags?|behind|longer)\s(?:\w+\s){0,4}?(?:than\s(?:all\s|any\s|the\s){0,2}(?:others?|rest)"
        r"|behind\sthe\sothers)",
        of=("slow",),
    ),
    Form(
        "one-slow-host", "slow",
        rf"(?<!on\s)(?<!with\s)(?<!in\s)(?<!than\s)(?:(?:only\s)?(?:one|1)\s(?:of\s(?:the\s|our\s|my\s|these\s|\d+\s|\w+\s){{0,4}}{_HOSTS}"
        rf"|(?:\w+\s)?{_HOSTS})|(?:a|this|that|one)\s(?:certain|particular|specific|single|one)\s{_HOSTS}"
        r"|(?:node|host|server|machine|n|gpu|dgx|worker)[-_]?\d{1,4})\b",
        r"(?:much\s|always\s|\d+%\s|[\d.]+\s?x\s)?(?:slower|slow|straggl\w*|lags?|drags?)\b",
        unless=rf"\b(?:than|compared\s(?:to|with))\s(?:on\s)?(?:one|1|a|single)\s(?:\w+\s)?{_HOSTS}"
               r"|multi-?\s?node|scal\w+|\bper\snode|gpus?\s\d",
        of=("slow",),
    ),
    Form(
        "gpu-lost", "crashes",
        rf"(?:{_FEW}\sof\s(?:the\s|my\s|them|our\s)?(?:\w+\s)?)?(?:gpus?|cards?|devices?)\b|one\sof\sthem",
        r"disappear\w*|vanish\w*|(?:drop|fall|fell)\w*\s(?:off|out\sof)\b|(?:is|are|gets?|got|was)\slost"
        r"|goes\s(?:missing|away|offline)|no\slonger\s(?:\w+\s)?(?:visible|listed|shown|detected|seen|there)"
        r"|(?:is|are)\sgone|off\sthe\sbus",
        unless=r"util|usage|error\s(?:\w+\s)?(?:disappear|is\sgone|vanish)|(?:problem|issue|hang"
               r"|message)\s(?:\w+\s)?(?:disappear|vanish|is\sgone)",
        of=("fails", "crashes", "hangs"),
    ),
    Form(
        "needs-reboot", "crashes",
        r"only|must|have\sto|had\sto|need\sto|needs|until|requires?",
        r"(?:re-?boot\w*|power[-\s]?cycl\w*|cold\sboot|hard\sreset)(?!\s(?:loop|itself))",
        unless=r"after\s(?:the\s|a\s|every\s)?reboot|survives?|upgrad\w+|updat\w+|install\w+",
        of=("fails", "crashes", "hangs"),
    ),
    Form(
        "gpu-unseen", "not-used",
        rf"only\s(?:the\s)?{_FEW}\b|just\s(?:the\s)?{_FEW}\b|visible\s(?:only\s)?{_FEW}\b|not\sall\b"
        rf"|{_FEW}\sof\s(?:the\s|my\s|our\s|its\s)?(?:{_FEW}|\d+)",
        r"(?:visible|seen|shown|listed|detected|recogni[sz]ed|found|available|usable)|(?:sees?|shows?|detects?"
        r"|finds?|lists?|recogni[sz]es?|reports?)\b",
        unless=r"\b(?:nics?|hcas?|ports?|rails?|interfaces?|ranks?|process\w*|nodes?|hosts?|errors?|lines?|gb/s|mb/s"
               r"|gbit|gbps|nvlinks?|links?|times?|steps?|minutes?|files?|channels?|workers?|epochs?|percent|%)\b",
        of=("not-used", "fails"),
    ),
    Form(
        "rdma-unseen", "not-used",
        r"ibv_devinfo|mlx[45]\w*|ibv_devices|ibstat(?:us)?|ibdev2netdev|rdma\slink|/dev/infiniband|(?:ib|rdma|infiniband"
        r"|verbs)\s(?:devices?|cards?)|hcas?",
        r"(?:finds?|shows?|lists?|sees?|prints?|reports?|returns?)\s(?:\w+\s)?(?:nothing|no\b|none)|(?:not|isn't"
        r"|aren't)\s(?:\w+\s)?(?:visible|seen|found|listed|detected|available)|no\s(?:\w+\s){1,3}?(?:visible|seen|found|listed)|is\sempty|missing",
        unless=r"errors?\b|firewall",
        of=("not-used", "fails"),
    ),
    Form(
        "above-a-size", "fails",
        r"regist\w+|reg_?mr|ibv_reg\w*|pinn?(?:ed|ing|s)?\b|nvidia_peermem|nv_peer_mem\w*|gpudirect|gdr\w*",
        r"(?:above|over|beyond|more\sthan|larger\sthan|bigger\sthan|greater\sthan|exceed\w*|up\sto"
        r"|limit\w*)\s(?:\w+\s){0,3}?(?:about\s|~\s?)?\d+\s?[kmg]i?b\b"
        r"|(?:large|big|larger|bigger|small|smaller)\s(?:\w+\s)?(?:buffers?|regions?|sizes?|ones|messages?"
        r"|allocations?|areas?)|limit\s(?:\w+\s){0,2}(?:size|amount|memory)",
        unless=r"\bslow|gb/s|bandwidth|ulimit|memlock",
        of=("fails",),
    ),
    Form(
        "unsteady", "slow",
        r"bandwidth|busbw|throughput|speed|performance|\brate\b|roce|network|training|traffic",
        r"hiccups?|collaps\w*|(?:jump|fluctuat|oscillat|var(?:y|ies|ying)|chang)\w*\s(?:\w+\s){0,2}(?:between"
        r"|wildly|a\slot|strongly|from\srun)|going\sdown\sto|(?:drops?|falls?|goes\sdown"
        r"|breaks?\sdown)\s(?:\w+\s){0,3}(?:to\s(?:\w+\s)?(?:[01][. ]|zero|nothing|nearly|almost|a\sfraction)"
        r"|sharply|dramatically|when\s(?:many|all|several))|unstable|not\sstable|nearly\snothing|(?:terrible|bad"
        r"|poor|low|slow\w*)\swith\s(?:many|more|\d+)(?!\s?gpus?)",
        unless=r"gpu-?\s?util\w*|utili[sz]ation|loss\b|than\s(?:one|a\ssingle)",
        of=("slow", "hangs"),
    ),
    Form(
        "wrong-with-several", "wrong-results", _SEVERAL_CARDS,
        r"\bnans?\b|garbage|(?:loss|accuracy|gradients?|results?|outputs?|weights"
        r"|predictions?)\s(?:\w+\s){0,7}?(?:nan|wrong|random|chance|garbage|zeros?|not\s(?:decreas|converg"
        r"|improv)\w*|diverge\w*|explod\w*|worse|bad|incorrect|corrupt\w*|differs?|different)|(?:not|n't"
        r"|never)\sconverge\w*|wrong\s(?:results?|values?|output|data)|corrupt\w*",
        unless=rf"{_SEVERAL}\s{_HOSTS}|multi-?\s?nodes?|nccl_\w+|\b(?:not|never)\s(?:\w+\s)?nan",
        of=("wrong-results", "fails"),
    ),
    Form(
        "from-a-number", "fails",
        rf"(?:any\s(?:two|2|three|pair)|{_SEVERAL})\s(?:\w+\s){{0,3}}?(?:gpus?(?:'s)?|cards?"
        rf"|of\sthem)\s(?:\w+\s){{0,4}}?(?:works?|working|fine|runs?|trains?|ok)|up\sto\s\d+",
        r"(?:with|on|as\ssoon\sas|adding|use|using)\s(?:all\s)?(?:the\s|a\s)?(?:third|fourth|fifth|3rd|4th|[3-9]"
        r"|three|four|five|six|seven|eight)\b",
        of=("fails", "hangs", "crashes"),
    ),
    Form(
        "epoch-end", "hangs",
        r"(?:end|last\s(?:batch|step|iteration)s?)\s(?:of|in)\s(?:\w+\s){0,2}?epochs?|after\s(?:one|each|every"
        r"|the\sfirst|an|\d+)\sepochs?|between\sepochs|last\s(?:batch|step|iteration)s?|epoch\s(?:end|boundary"
        r"|ends)",
        r"hang\w*|stuck|freez\w*|froze|stall\w*|deadlock\w*|block\w*|never\s\w+|stops?|wait\w*|time\w*\s?out",
        of=("hangs",),
    ),
    Form(
        "validating", "hangs",
        r"(?:in|during|at|on|after|before|when|while|for|compute|run)\s(?:\w+\s){0,3}?(?:validation|validat\w+"
        r"|evaluation|evaluat\w+|eval)\b",
        r"hang\w*|stuck|freez\w*|froze|stall\w*|deadlock\w*|block\w*|never\s\w+|stops?|wait\w*|time\w*\s?out",
        of=("hangs",),
    ),
    Form(
        "saving", "hangs",
        r"\bsav(?:e|es|ed|ing)\b|checkpoint(?:s|ing|ed)?|save_\w+",
        r"hang\w*|stuck|freez\w*|froze|stall\w*|deadlock\w*|block\w*|never\s\w+|stops?|wait\w*|time\w*\s?out"
        r"|watchdog|abort\w*",
        unless=r"load\w*\s(?:\w+\s){0,3}checkpoint|resum\w+|from\s(?:a\s|the\s)?checkpoint|checkpoint\sshards",
        of=("hangs", "crashes", "fails"),
    ),
    Form(
        "second-step", "hangs",
        r"second\s(?:\w+\s)?(?:iteration|step|batch|backward|forward|pass)",
        r"hang\w*|stuck|freez\w*|froze|stall\w*|deadlock\w*|block\w*|stops?|time\w*\s?out",
        of=("hangs",),
    ),
    Form(
        "on-one-rank", "hangs",
        r"(?:on|by|for|in)\s(?:the\s)?(?:rank\s?(?:0|zero)|(?:main|master|first)\s(?:process|rank))"
        r"|rank_zero_only|is_main_process|rank\s?==\s?0|only\s(?:one|the\sfirst)\srank",
        r"hang\w*|stuck|freez\w*|froze|stall\w*|deadlock\w*|block\w*|wait\w*|time\w*\s?out",
        unless=r"connect\w*|listen\w*|\bbind|port\b|killed|died|crash\w*|segfault|address",
        of=("hangs",),
    ),
    Form(
        "at-random", "hangs",
        r"random(?:ly)?|sporadic\w*|intermittent\w*|occasional\w*|sometimes|now\sand\sthen|once\s(?:a"
        r"|in\sa)\s(?:day|while|week)|after\s(?:a\s(?:few|while)|some|several|many|\d+|about"
        r"|an)\s?(?:\w+\s)?(?:hours?|days?|steps|iterations|epochs|while|h\b)",
        r"hang\w*|stuck|freez\w*|froze|stall\w*|deadlock\w*|block\w*|stops?|time\w*\s?out",
        of=("hangs",),
    ),
)  # fmt: skip
_CHINESE = tuple(
    (name, what, lazy_regex(pattern, re.IGNORECASE))
    for name, what, pattern in (
        (
            "gpus-idle",
            "slow",
            r"(?:GPU|显卡).{0,8}(?:利用率|使用率).{0,12}(?:掉到|降到|变成)\s?0|利用率.{0,8}(?:波动|忽高忽低)",
        ),
        ("with-more-gpus", "slow", r"(?:多卡|双卡|[2-8]\s?卡).{0,12}(?:比|还).{0,6}单卡.{0,6}慢|多卡.{0,8}没有?加速"),
        ("gpu-lost", "crashes", r"掉卡|(?:显卡|GPU).{0,6}(?:掉了|丢失|消失|不见)"),
        ("wrong-with-several", "wrong-results", r"(?:多卡|双卡).{0,16}(?:nan|不收敛|结果不对|结果错误)"),
    )
)


HINTS = Hints("words-of-forms", (__file__,), lambda: [(form.said, re.IGNORECASE) for form in FORMS])
"""The forms whose predicate a sentence may have."""


@functools.cache
def _patterns() -> tuple[tuple[Form, re.Pattern[str], re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (
            form,
            lazy_regex(rf"(?<![\w-])(?:{form.subject})(?!\w)", re.IGNORECASE),
            lazy_regex(rf"(?<!\w)(?:{form.said})(?!\w)", re.IGNORECASE),
            lazy_regex(form.unless, re.IGNORECASE) if form.unless else None,
        )
        for form in FORMS
    )


_MORE_GPUS = next(form for form in FORMS if form.name == "with-more-gpus")
_LESS = Form("less-than-elsewhere", "slow", "", "", of=("slow",))


def read(sentence: str) -> Iterator[Form]:
    """The forms that the sentence names, most specific first."""
    sentence = sentence[:_LONGEST].replace("\u2019", "'")
    if numbers.slower_with_more(sentence):
        yield _MORE_GPUS
    elif numbers.differ(sentence) or numbers.fell(sentence):
        yield _LESS
    for form, subject, said, unless in map(_patterns().__getitem__, HINTS.of(sentence)):
        if not is_said(said, sentence) or (unless is not None and unless.search(sentence)):
            continue
        ends = [(found.start(), found.end()) for found in said.finditer(sentence)]
        if any(_near((found.start(), found.end()), end) for found in subject.finditer(sentence) for end in ends):
            yield form
    for name, what, pattern in _CHINESE:
        if pattern.search(sentence):
            yield Form(name, what, "", "", of=(what, "fails"))


def _near(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if the two places are not the same and are near each other; one may be within the other."""
    return one != other and max(one[0], other[0]) - min(one[1], other[1]) <= _NEAR
