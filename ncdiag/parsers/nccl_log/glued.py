"""Lines of two writers of one pipe: ``... via P2P/CUMEMnode1:42:43 [0] NCCL INFO ...`` on one line.

The second begins where its prefix does. Nothing is between the end of a message and the host name behind it, so
the name is the longest one that begins other lines, else what is left behind a known end of a message. nccl-tests
(src/common.cu) prints a row in pieces, of which NCCL's lines break any two apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ncdiag.base.patterns import lazy_regex

_LEVEL = rb"NCCL (?:INFO|WARN|ATTN|TRACE|CALL|ABORT) "
_TWO = lazy_regex(_LEVEL + rb"[^\n]*" + _LEVEL)
_NEXT = lazy_regex(_LEVEL)
_PROCESS = lazy_regex(rb"(?:.*:)?([^\s:]{1,400}):\d{1,10}:\d{1,10}$")
_TAG = rb"\[\d{1,6},\d{1,6}\]<std\w{3}>:"  # of mpirun --tag-output
_TIME = lazy_regex(rb"(?:" + _TAG + rb")?(?:\[[^\]\n]{1,40}\] |(?<=:))$")
_TYPES = rb"(?:u?int(?:8|32|64)|float|double|half|bfloat16|f(?:p)?8_?e[45]m[23])"
_RESULT = rb"\d{1,10}(?:\.\d{1,2})? +\d{1,7}\.\d\d +\d{1,7}\.\d\d +"
"""Time, algbw and busbw: a piece that begins with them ends in #wrong, without a blank after it."""
_ROW_START = rb"(?:" + _TAG + rb")? *(?:\d{1,14} +\d{1,14} +" + _TYPES + rb" |" + _RESULT + rb")"
_ROW = lazy_regex(_ROW_START)
_HOST = lazy_regex(rb"\n(?!" + _ROW_START + rb")(?:[^\n:]{0,80}[\s:>)\]])?([\w.%-]{1,64}):\d{1,10}:\d{1,10} \[")
_END = lazy_regex(
    rb"(?:P2P/(?:IPC|CUMEM|MNNVL)|/(?:read|CE|GDRDMA|Shared|direct)|\(PCI\)|memory|pointer"
    rb"|NET/[^/\s]{1,40}/\d{1,4}(?=[A-Za-z])|COMPLETE|START|\+cuda\d{1,2}\.\d|^(?:-1|\d{1,2})(?=[A-Za-z])|[^\w.%-])"
)
_WORDS = 5
"""Words of a prefix behind the host: ``host:pid:tid [dev] file:line (function) NCCL``."""
_PREFIX_LIMIT = 2000


def separated(text: bytes, numbers: Sequence[int]) -> tuple[bytes, Sequence[int]] | None:
    """The text with each such line in its parts, all with its number; None when it holds none.

    Each line of ``text`` is behind a line end and has its number in ``numbers``.
    """
    if _TWO.search(text) is None and not breaks_a_row(text[1:].split(b"\n")):
        return None
    hosts = set(_HOST.findall(text))
    lines: list[bytes] = []
    theirs: list[int] = []
    for number, line in zip(numbers, text[1:].split(b"\n"), strict=True):
        parts = _parts(line, hosts) if line.count(b"NCCL ") > 1 or _ROW.match(line) else [line]
        lines += parts
        theirs += [number] * len(parts)
    return (b"\n" + b"\n".join(lines), theirs) if len(lines) > len(numbers) else None


def holds_two(lines: Iterable[bytes]) -> bool:
    """True if one of these lines holds two messages of NCCL."""
    return any(_TWO.search(line) is not None for line in lines)


def breaks_a_row(lines: Iterable[bytes]) -> bool:
    """True if a row of a table of nccl-tests goes on in a line of NCCL."""
    return any(_ROW.match(line) is not None and _NEXT.search(line) is not None for line in lines)


def _parts(line: bytes, hosts: Collection[bytes]) -> list[bytes]:
    """The piece of a row, if the line begins with one, and the messages of the line, each with its prefix."""
    parts: list[bytes] = []
    row = _ROW.match(line)
    begin, behind = 0, row.end() if row else None
    for hit in _NEXT.finditer(line):
        if behind is not None:
            place = _beginning(line, behind, hit.start(), hosts)
            if place is not None:
                parts.append(line[begin:place].rstrip())
                begin = place
        behind = hit.end()
    return [*parts, line[begin:]]


def _beginning(line: bytes, low: int, high: int, hosts: Collection[bytes]) -> int | None:
    """Where the prefix before ``high`` begins; None when a message only mentions NCCL."""
    low = max(low, high - _PREFIX_LIMIT)
    words = line[low:high].rstrip().rsplit(b" ", _WORDS)[-_WORDS:]
    place = high - len(b" ".join(words)) - (high - low - len(line[low:high].rstrip()))
    for word in words:
        process = _PROCESS.match(word)
        if process is not None:
            start = place + process.start(1) + _host_at(process[1], hosts)
            time = _TIME.search(line, low, start)
            return time.start() if time is not None else start
        place += len(word) + 1
    return None


def _host_at(word: bytes, hosts: Collection[bytes]) -> int:
    """Where in ``word`` the host name begins."""
    known = next((at for at in range(len(word)) if word[at:] in hosts), None)
    if known is not None:
        return known
    ends = [found.end() for found in _END.finditer(word) if found.end() < len(word)]
    return ends[-1] if ends else 0
