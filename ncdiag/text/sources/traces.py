"""Sum up traces of PyTorch's profiler: of hundreds of megabytes, four sums say where the time of a step goes.

``export_chrome_trace`` writes them (pytorch/kineto libkineto/src/output_json.cpp): an object with ``schemaVersion``,
``deviceProperties`` and ``traceEvents``, in which the keys of an event have a fixed order and times are in
microseconds. ``ProfilerStep#3`` is a step, ``enumerate(DataLoader)#...`` the wait for a batch (torch/utils/data), the
category ``kernel`` the kernels on the GPU.
"""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.step_parts import communicates

_BEGIN = lazy_regex(rb"\s{0,8}\{\s{0,16}\"schemaVersion\": ?\d+,\s{0,16}\"deviceProperties\":")
_EVENT = lazy_regex(
    rb'"ph":\s*"X",\s*"cat":\s*"([^"]{1,40})",\s*"name":\s*"([^"]{1,2000})",'
    rb'\s*"pid":\s*[^,]{1,40},\s*"tid":\s*[^,]{1,60},\s*"ts":\s*[\d.]{1,30},\s*"dur":\s*([\d.]{1,30})'
)
_NEXT = b'"ph":'
_RANK = lazy_regex(rb'"distributedInfo":\s*\{[^{}]{0,200}?"rank":\s*(\d{1,7})')
_STEP, _DATA = b"ProfilerStep#", b"enumerate(DataLoader)#"
_KERNEL, _COPY_ON_GPU = b"kernel", b"gpu_user_annotation"
_LONGEST = 1 << 14
"""Maximum length of an event, in bytes."""


def is_trace(head: bytes) -> bool:
    """True if a file begins as a trace of PyTorch's profiler."""
    return _BEGIN.match(head) is not None


def summary(pieces: Iterable[bytes]) -> bytes:
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
