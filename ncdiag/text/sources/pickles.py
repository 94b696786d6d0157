"""Convert pickled dicts of plain values to JSON: PyTorch's flight recorder writes its dumps as pickles.

``TORCH_NCCL_DEBUG_INFO_TEMP_FILE`` names these files (pytorch torch/csrc/distributed/c10d/TraceUtils.h, pickle_str, and
FlightRecorder.hpp). A pickle is a program that may call anything: only pickles that build plain values are read, which
is checked on their instructions before any of them is executed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

SIZE_LIMIT = 64 << 20
"""Maximum size of a pickle in bytes; a dump of 2,000 collectives has a few million."""

_INSTRUCTIONS = """
PROTO FRAME STOP MARK POP POP_MARK DUP MEMOIZE PUT BINPUT LONG_BINPUT GET BINGET LONG_BINGET NONE NEWTRUE NEWFALSE
INT BININT BININT1 BININT2 LONG LONG1 FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING UNICODE BINUNICODE
SHORT_BINUNICODE BINUNICODE8 EMPTY_DICT DICT SETITEM SETITEMS EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1
TUPLE2 TUPLE3
"""
_PLAIN = frozenset(_INSTRUCTIONS.split())
"""Instructions (`pickletools`) that build and store plain values; none of them calls a function."""
_FRAME_SIZE = 9
_DEPTH_LIMIT = 40
_LEFT_OUT = frozenset({"frames"})
"""The stack of each collective call: most of a dump, and not used."""


def is_pickled_dict(head: bytes) -> bool:
    """True if a file begins as a pickle of protocol 2 or later whose first value is a dict."""
    if head[:1] != b"\x80" or not b"\x02" <= head[1:2] <= b"\x05":
        return False
    rest = head[2:] if head[2:3] != b"\x95" else head[2 + _FRAME_SIZE :]
    return rest[:1] == b"}"


def as_json(data: bytes) -> bytes:
    """The dict as JSON with one value per line. Raises ValueError if the pickle is damaged, too large or not plain."""
    import json
    import pickle

    if len(data) > SIZE_LIMIT:
        msg = f"a pickle larger than {SIZE_LIMIT >> 20} MiB"
        raise ValueError(msg)
    room = [_instructions(data)]
    try:
        value = pickle.loads(data)  # noqa: S301  (its instructions were looked at: they call nothing)
    except Exception as error:
        msg = f"a damaged pickle ({error})"
        raise ValueError(msg) from error
    plain = _plain(value, room, 0)
    if isinstance(plain, dict) and "version" in plain:
        plain = {"version": plain["version"], **plain}  # a dump is recognised by this key
    return (json.dumps(plain, indent=1) + "\n").encode()


def _instructions(data: bytes) -> int:
    """The number of instructions; raises ValueError if one of them is not plain, or stores a value at a huge index."""
    import pickletools

    count = 0
    for instruction, argument, _ in pickletools.genops(io.BytesIO(data)):
        count += 1
        if instruction.name not in _PLAIN:
            msg = f"a pickle that contains more than plain values ({instruction.name})"
            raise ValueError(msg)
        if "PUT" in instruction.name and int(argument or 0) > len(data):
            msg = "a damaged pickle (invalid memo)"
            raise ValueError(msg)
    return count


def _plain(value: Any, room: list[int], depth: int) -> Any:  # noqa: ANN401
    """Dicts, lists and scalars. ``room[0]`` limits the number of values, because a value may be shared."""
    room[0] -= 1
    if room[0] < 0 or depth > _DEPTH_LIMIT:
        msg = "a pickle with deeply nested values"
        raise ValueError(msg)
    if isinstance(value, dict):
        return {str(key): _plain(item, room, depth + 1) for key, item in _items(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item, room, depth + 1) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _items(value: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    return ((key, item) for key, item in value.items() if key not in _LEFT_OUT)
