"""Lines that mention a failure in their words, whatever program prints them: failed to, cannot, refused.

Weaker than a level, a signal or an exit code (`ncdiag.parsers._ends`), as programs also write so of what they do
without: such a line counts where nothing says more, and the job is not seen to go on behind it.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.mentions import is_mention
from ncdiag.parsers._context import Context
from ncdiag.parsers._events import Found
from ncdiag.parsers._prose import NOBODY, is_prose, is_said, is_talk, is_voiced
from ncdiag.parsers._signs import Signs

EVENTS: dict[str, dict[str, str]] = {"failure-words": {}}
"""Events that are told by the words of a line, and the types of their fields."""

_LOOKED_AT = 600
_MILD_LEVELS = frozenset("DIW")
"""First letters of the levels debug, info and warning: their program goes on."""
_MILD = lazy_regex(r"\W{0,3}(?:INFO|DEBUG|TRACE|NOTICE|WARN(?:ING)?|VERBOSE)\b")
_SIGNS = Signs(
    "fail", "unable", "could not", "couldn't", "can not", "can't", "cannot", "did not", "didn't", "does not",
    "doesn't", "would not", "wouldn't", "not re", "not permitted", "not running", "unre", "unhealthy", "refused",
    "rejected", "denied", " reset", "lost", " closed", "abort", "crash", "evict", "oomkilled", "killed", "died",
    "dies", "timed out", "timedout", "timeout", "time out", "time-out", "exceeded", "heartbeat", "no ",
    "insufficient", "dead", "corrupt", " down", "stuck", "broken", "hung", "never ", "disconn", "went ",
    "unhandled", "uncaught", "giving up", "exhausted", "mismatch", "incompat", "smashing", "backoff", "errimage",
    "nodelost", "drain", "drng", "reqnode", "deadline", "unrecov", "deadlock", "requires ", "requiring ", "segf",
    "short of", "out of", "stopped sending", "fallen", "packet loss", "error", "err ", "_err", "exception",
    " fault", "invalid", "double free", "returned", " option", ": -", "=-", "= -", "warning  ", "out_of_memory",
    "degraded",
)  # fmt: skip
"""One of these is in every line that the patterns know: they are tried on few others."""
_FAILING = guarded_regex(
    r"""(?ix)
    # an action that did not come about, and no option or policy for a failure (--fail-fast, on-failure)
    (?<!--)(?<!\bon-)\bfail(?:ed|ure|s)?\b
      (?!["']?\s*(?:\([^()]{1,20}\)\s*)?(?:\#|count|rate|s?\s?[:=(]?\s*(?:0|none|no|false)\b))
  | \bunable\sto\b | \b(?:could|can|did|does|would)(?:\snot|n't)\s\w | \bcannot\s\w
  | \b(?:refused|rejected|aborted|aborting)\b | \bnever\s(?:complet|finish|return|arriv|join|start|reach|connect)\w*
  | \b(?:connection|access|permission|request)\s(?:\w+\s)?(?:refused|rejected|denied|reset|lost|closed\sby)\b
    # somebody who is not there
  | \bnot\s(?:responding|reachable|ready|permitted|running)\b | \bun(?:reachable|responsive|healthy)\b
  | \bdisconnected\b | \blost\s(?:contact|connection)\b | \bwent\s(?:away|down|inactive|missing)\b
  | \bstopped\ssending\b
  | \bmiss(?:ed|ing)\s(?:\w+\s)?heartbeats?\b | \bdefinitely\sdown\b | \b(?!0%)[\d.]{1,6}%\spacket\sloss\b
    # an end
  | \b(?:crashed|crashes|evicted|OOMKilled|died|dies|segfault)\b | (?<!\d\s)\bkilled\b (?!\s{0,2}[:=]|\s0\b)
  | \b(?:is|are|was|were|been|marked|seems?|got|gets)\s(?:\w+\s)?(?:dead|lost|corrupt(?:ed)?|down|stuck|closed|broken)\b
  | \bfallen\soff\b | \brequir(?:es?|ing)\s(?:a\s)?reset\b | \bunrecoverable\b
  | \b(?:unhandled|uncaught)\s(?:exception|error)\b
    # too long, too much, too little
  | \btimed\s?out\b | \bdeadlock\s(?:detected|found)\b | \b(?:may|might)\sbe\s(?:stuck|hung)\b | \bgiving\sup\b
  | \b(?:watchdog|heartbeat|barrier|rendezvous|handshake)\s(?:\w+\s)?time\s?-?out\b
      (?!\s?(?:[\d:=]|\(m?s\)|set|of\s\d|is\s\d))
  | \btimeout\s(?:waiting|while|exceeded|expired|reached)\b
  | \b(?:retry|retries|limits?|quota|count)\s(?:\w+\s)?exceeded\b
  | \bexceeded\s(?:\w+\s){0,3}(?:limit|time|memory|number|restarts|retries|attempts)\b
  | \bexhausted\b | \b(?:out|short)\sof\s(?:memory|resources|space|handles|descriptors)\b | \binsufficient\s\S
  | \bno\s(?:\w+\s)?(?:space|route|devices?|gpus?|nics?)\s(?:left|to|(?:were\s|was\s)?found|available|detected)\b
  | \b(?:unknown|unrecogni[sz]ed|invalid|illegal)\soption\b
  | \bno\s(?:healthy|usable|suitable|available)\s\w
    # something that is not as it should be
  | \b(?:error|exception)\s?:\s?(?![-+\d.]+(?:e[-+]?\d+)?\s*(?:%|$|[,;|]))\S.{3}
  | \bin\serror\b | \b(?-i:ERR)\s\d{2}
  | \b(?:with|internal|fatal|unknown|unexpected|transport|inner|operation|port|link|nvlink|pcie|protocol|bus|device
      |driver|network|socket|i/?o|checksum|parity|hardware|system)\serror\b (?!s?\s?[:=]?\s?0\b)
  | \berror\s(?:at|in|occurred)\b
  | \b(?:access|page|memory)\s(?:\w+\s)?fault\b | \binvalid\s(?:pointer|size|next\ssize)\b | \bdouble\sfree\b
  | \b(?:mismatch|incompatible|degraded)\b | \b(?:smashing|corruption)\sdetected\b
  | \w\(\S{0,80}\)\sreturned\s-?[1-9]\d{0,6}\b | [:=]\s?-\d{1,3}\s\([A-Z][a-z]
    """
)
_ERRORS = (
    "Argument list too long", "Exec format error", "Input/output error", "Text file busy", "File too large",
    "Read-only file system", "Broken pipe", "File name too long", "Too many levels of symbolic links", "Bad address",
    "Device or resource busy", "Machine is not on the network", "Link has been severed", "Communication error on send",
    "Protocol error", "Accessing a corrupted shared library", "Too many users", "Message too long",
    "Protocol not supported", "Protocol not available", "Operation not supported", "Address already in use",
    "Address family not supported by protocol", "Software caused connection abort", "Stale file handle",
    "Transport endpoint is not connected", "Cannot send after transport endpoint shutdown", "Host is down",
    "Network is down", "Network dropped connection on reset", "No buffer space available", "Structure needs cleaning",
    "Required key not available", "Key has expired", "Key was rejected by service", "Remote I/O error",
    "Disk quota exceeded", "Too many open files", "Too many open files in system", "Invalid cross-device link",
    "Value too large for defined data type", "Connection timed out",
)  # fmt: skip
"""Texts of strerror that never say what a program merely looked up; others (ENOENT, ENOTTY, EEXIST) often do."""
_ENDS = (*_ERRORS, *(f"{error}." for error in _ERRORS))
_ERRNO = lazy_regex(rf"^[\w./-]{{2,200}}(?:\[\d+\])?: (?:[^\n]{{1,300}}: )?(?:{'|'.join(map(re.escape, _ERRORS))})\.?$")
"""What perror, error(3) and shells print: a program, what it did, and the text of the error (POSIX perror)."""
_CODE = guarded_regex(
    r"\b(?:[A-Z][A-Z0-9]{1,30}_){1,6}(?:ERR(?:OR)?|FAIL(?:ED|URE)?|REJECTED|UNREACHABLE|ABORTED)(?:_[A-Z0-9_]{1,60})?\b"
    r"(?!_|\s{0,2}[=:]\s{0,2}[\w.-]{0,30}\s*(?:$|[,;]))"
    r"|\b(?:cuda|hip)Error(?!Check|String|Name|NotReady|PeerAccessAlready)[A-Z]\w{2,60}(?!\w|\s*(?:[=!]=|\)\s*(?:\{|return)|:\s*$|;))|\bOUT_OF_MEMORY\b"
    r"|\b(?:is|State|Status)\s?:?\s?DEGRADED\b"
    r"|^Result = FAIL\b|\bDEADLINE_?EXCEEDED\b|\bDeadlineExceeded\b"
    r"|\b(?:CrashLoopBackOff|ImagePullBackOff|ErrImagePull|Create\w{0,20}Error|RunContainerError|Evicted|NodeLost)\b"
    r"|^\S{1,64}\s+(?:up|down|drain)\s+\S+\s+\d+\s+(?:down|drain|drng|fail|boot)\S{0,12}\s"
    r"|\((?:ReqNodeNotAvail|launch failed)"
)
"""Status codes by the names that interfaces give them: ``RDMA_CM_EVENT_ADDR_ERROR``, ``HSA_STATUS_ERROR``."""
_PLUGINS = ("libnccl-net", "libnccl-tuner", "libnccl-profiler", "libnccl-env")
"""Their names may have lost their first letters, at the beginning of a log that was cut."""
_GETS_BY = guarded_regex(
    r"""(?ix)
    \b(?:\w{0,40}warning|warn|deprecat\w*|fall(?:s|ing)?\s?back|defaults|defaulting|by\sdefault|instead|ignor(?:e|ed|ing)
      |skip(?:s|ped|ping)?|optional|disabl(?:e|ed|ing)|retrying|attempting|attempt\s\d|not\sinstalled
      |continu(?:e|es|ing)|will\sbe\sused|(?:starting\s)?from\sscratch|works?\s(?:now|fine))\b
  | \b(?:no|without(?:\sany)?)\s(?:\w+\s)?(?:errors?|failures?|faults?|problems?)\b | \b0\s(?:errors?|fail\w*)\b
  | [,;.]\s(?:re)?(?:using|building|creating)\b
  | [:=]\s{0,20}(?:0|no|none|false|n/a|off|ok)\s*$ | \blibnccl-(?:net|tuner|profiler|env)
  | ^(?:"""
    + "|".join(sorted({name[start:] for name in _PLUGINS for start in range(1, len(name))}))
    + r""")\.so:
  | ^(?:(?:(?:N?C)?C)?L\s)?(?:(?:I?N)?F)?O\s(?=(?-i:[A-Z]))  # what is left of NCCL INFO
    """
)
"""What a program says that does without (NCCL without its plugins), or of which nothing failed."""
_KUBERNETES = lazy_regex(r"\s*(?:\d\S{0,20}(?: \([^)]{1,40}\))?\s{1,8})?Warning\s{2,12}[A-Z]\w{2,60}\s{2}")
"""A row of the events that ``kubectl describe`` and ``kubectl get events`` list."""
_OF_A_PROGRAM = lazy_regex(r"\w_\w|\b(?:FAILED|ERROR|ABORTED)\b|\b0x[0-9a-f]{2}|\w: \S|\w:\d{2,5}\b|\w\(s\)|^\(")
"""Names of functions, shouted words, addresses and colons, which sentences of people have seldom."""
_SIGN = lazy_regex(r"\s{0,4}[=:]\s{0,4}")
_PAIR = lazy_regex(r"[\w.-]{1,80}=[\w.%-]{0,60}")
_BETWEEN = lazy_regex(r"[,;|\s]{1,8}")


def find(text: str, context: Context) -> Found | None:
    """The event of a line (without its prefixes) that mentions a failure; None for others and for a person's words."""
    text = text[:_LOOKED_AT]
    if context.level in _MILD_LEVELS or _MILD.match(text):
        return None
    fails = (text.endswith(_ENDS) and _is_error(text)) or (
        _SIGNS.stand_in(text) and (_KUBERNETES.match(text) is not None or _fails(text))
    )
    return Found("failure-words", "app", "fact", {}) if fails else None


def _is_error(text: str) -> bool:
    """True for a line that ends with the text of an error number, in the form of perror."""
    return _ERRNO.match(text) is not None and not (_GETS_BY.search(text) or is_mention(text))


def _fails(text: str) -> bool:
    """True for a line that names a failure by a code or in words, and that a program printed."""
    coded = _CODE.search(text) is not None
    if not (coded or (_FAILING.search(text) and not _is_data(text))) or _GETS_BY.search(text) or NOBODY.search(text):
        return False
    return not (is_voiced(text) or (is_prose(text) and not _is_reported(text)) or is_mention(text))


def _is_data(text: str) -> bool:
    """True for names with values, and for structures of data."""
    if text.startswith(("{", "<")):
        return True
    pairs = _BETWEEN.split(_SIGN.sub("=", text.strip(" ,;|")))
    return all(_PAIR.fullmatch(pair) for pair in pairs)


def _is_reported(text: str) -> bool:
    """True if a sentence is a program's: it has signs of one or begins with the failure, which has happened."""
    if is_talk(text) or not is_said(_FAILING, text):
        return False
    return _OF_A_PROGRAM.search(text) is not None or _FAILING.match(text) is not None
