"""Sum up files that record each call or kernel, of hundreds of megabytes, while they are read.

Of a trace of PyTorch's profiler, four sums say where the time of a step goes; a log of torchcomms' ClogHook becomes a
dump of its latest calls (`ncdiag.formats.clog`), one of Megatrace the times of every n-th call
(`ncdiag.formats.megatrace`).

``export_chrome_trace`` writes them (pytorch/kineto libkineto/src/output_json.cpp): an object with ``schemaVersion``,
``deviceProperties`` and ``traceEvents``, in which the keys of an event have a fixed order and times are in
microseconds. ``ProfilerStep#3`` is a step, ``enumerate(DataLoader)#...`` the wait for a batch (torch/utils/data), the
category ``kernel`` the kernels on the GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, pairwise

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats import clog, megatrace
from ncdiag.formats.step_parts import communicates

_MEGATRACE = lazy_regex(megatrace.LINE.encode())
_CLOG = lazy_regex(clog.HEAD.encode() + rb"\s*\n")
_BEGIN = lazy_regex(rb"\s{0,8}\{\s{0,16}\"schemaVersion\": ?\d+,\s{0,16}\"deviceProperties\":")
_EVENT = lazy_regex(
    rb'"ph":\s*"X",\s*"cat":\s*"([^"]{1,40})",\s*"name":\s*"([^"]{1,2000})",'
    rb'\s*"pid":\s*[^,]{1,40},\s*"tid":\s*[^,]{1,60},\s*"ts":\s*[\d.]{1,30},\s*"dur":\s*([\d.]{1,30})'
)
_NEXT = b'"ph":'
_RANK = lazy_regex(rb'"distributedInfo":\s*\{[^{}]{0,200}?"rank":\s*(\d{1,7})')
_STEP, _DATA = b"ProfilerStep#", b"enumerate(DataLoader)#"
_KERNEL, _COPY_ON_GPU = b"kernel", b"gpu_user_annotation"
_OF_TRACE = lazy_regex(r'"(?:ph|schemaVersion|distributedInfo|deviceProperties|traceEvents|dur)":')
_CLOSES = lazy_regex(r"[\s\]})\[{,\"]{1,40}|\s*\"(?:args|External id|device|stream|correlation|grid|block)\".{0,2000}")
"""Lines of a trace that pastes have, and those that end an event or the trace."""
_FEWEST = 3
"""Events below which nothing is summed up."""
_LONGEST = 1 << 14
"""Maximum length of an event, in bytes."""
_LONGEST_LINE = 1 << 20
_LOGS = 10_000
"""Maximum number of logs in one file."""
_REST = 1000
"""Lines of other text that are kept."""


def is_trace(head: bytes) -> bool:
    """True if a file begins as a trace of PyTorch's profiler, or as a log of calls."""
    return any(form.match(head) for form in (_BEGIN, _CLOG, _MEGATRACE))


def summary(pieces: Iterable[bytes]) -> bytes:
    """The sums of a trace as one line of JSON; a log of calls as a dump of the latest ones."""
    source = iter(pieces)
    head = next(source, b"")
    whole = chain([head], source)
    return _calls(whole) if _CLOG.match(head) else _times(whole) if _MEGATRACE.match(head) else _sums(whole)


def _times(pieces: Iterable[bytes]) -> bytes:
    """The calls of each communicator of each rank as one line of JSON, and then the lines of other text."""
    import json

    log = megatrace.Megatrace()
    texts = (line.decode(errors="replace") for line in _lines(pieces))
    rest = list(islice((text for text in texts if not log.read(text)), _REST))
    for text in texts:
        log.read(text)
    rows = ([one[name] for name in megatrace.FIELDS] for one in log.summaries())
    found = ('{"megatrace": ' + json.dumps(row, separators=(",", ":")) + "}" for row in rows)
    return "\n".join([*found, *rest, ""]).encode()


def _calls(pieces: Iterable[bytes]) -> bytes:
    """One dump for each log in the file, in the layout of the flight recorder, and then the lines of other text."""
    import json

    logs: list[clog.Clog] = []
    rest: list[str] = []
    for line in _lines(pieces):
        text = line.decode(errors="replace")
        if not logs or (len(logs) < _LOGS and _CLOG.match(line + b"\n")):
            logs.append(clog.Clog())
        if not logs[-1].read(text) and len(rest) < _REST:
            rest.append(text)
    return "\n".join([*(json.dumps(log.dump(), indent=1) for log in logs), *rest, ""]).encode()


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines
        rest = rest[-_LONGEST_LINE:]
    yield rest


def _sums(pieces: Iterable[bytes]) -> bytes:
    """One line of JSON with the sums of a trace: steps, and the milliseconds of steps, data, NCCL and all kernels."""
    rank, rest = None, b""
    steps, times = 0, {"step": 0.0, "data": 0.0, "communication": 0.0, "kernels": 0.0}
    for piece in pieces:
        text = rest + piece
        end = max(text.rfind(_NEXT), 0)  # the last event may go on in the next piece
        rest = text[end:] if end else text[-_LONGEST:]
        if rank is None and (found := _RANK.search(text)):
            rank = int(found[1])
        steps += _add(text[:end], times)
    steps += _add(rest, times)
    fields = {"rank": rank, "steps": steps} | {name: round(time / 1e3, 3) for name, time in times.items()}
    import json  # slow to import, and only traces need it

    return b'{"torch_trace": ' + json.dumps(fields).encode() + b"}\n"


def in_paste(text: str) -> str:
    """A paste in which each trace, or a step of one, is one line with its sums, at the line where it begins.

    Its other lines are left empty, so that the numbers of lines stay.
    """
    if '"ph"' not in text or '"dur"' not in text:
        return text
    found = list(_EVENT.finditer(text.encode("utf-8", "replace")))
    whole = '"schemaVersion"' in text and '"traceEvents"' in text
    if len(found) < _FEWEST or not (whole or any(each[2].startswith(_STEP) for each in found)):
        return text
    lines = text.split("\n")
    marked = [number for number, line in enumerate(lines) if _OF_TRACE.search(line)]
    starts = [number for number in marked if '"schemaVersion"' in lines[number]]
    groups = [
        [number for number in marked if begin <= number < end] for begin, end in pairwise([0, *starts, len(lines)])
    ]
    for group in filter(None, groups):
        first, last = group[0], group[-1]
        while last + 1 < len(lines) and _CLOSES.fullmatch(lines[last + 1]):
            last += 1
        piece = "\n".join(lines[first : last + 1]).encode("utf-8", "replace")
        if len(_EVENT.findall(piece)) >= _FEWEST:
            lines[first : last + 1] = [summary([piece]).decode().rstrip("\n"), *[""] * (last - first)]
    return "\n".join(lines)


def _add(text: bytes, times: dict[str, float]) -> int:
    """Add the events of a text to the times in microseconds; the number of steps that begin in it."""
    steps = 0
    for category, name, duration in _EVENT.findall(text):
        if category.lower() == _KERNEL:
            times["kernels"] += float(duration)
            if communicates(name.decode(errors="replace")):
                times["communication"] += float(duration)
        elif name.startswith(_STEP) and category != _COPY_ON_GPU:
            steps += 1
            times["step"] += float(duration)
        elif name.startswith(_DATA) and category != _COPY_ON_GPU:
            times["data"] += float(duration)
    return steps
