"""Trials whose oracle is counted work: more than so many operations a byte is a failure, on any machine.

An operation is a call of a function, in Python or in C. What happens inside of one regular expression makes no calls;
the other trials limit the time for that.
"""

from __future__ import annotations

import functools
import gc
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import TypeVar
from unittest import mock

from fuzz import inputs
from linear import calls
from planted import planted

from ncdiag.apps.redact import cleaned, searched
from ncdiag.formats.secrets import signed
from ncdiag.text import Text, TextSource, read_all

T = TypeVar("T")
LEAST = 150_000
"""Operations that any text may cost: tables that are filled, and what is looked at of each text."""
A_BYTE = 150.0
"""Operations a byte beyond these: twice what the worst of 400 texts took (markup in markup; most take 5)."""
LONGEST, SHORTER = 1 << 16, 1 << 13
"""Maximum number of bytes of a text before it is repeated, and of one that is redacted, four times, as fuzzing does."""
REPEATED = 300_000
"""Bytes of a text that is repeated: long enough not to be read as a paste."""
BUFFER = 1 << 12
"""Minimum number of bytes of a buffer of a text that is redacted."""
OF_TEXTS = 64
"""A cache of so many results remembers texts."""

PASTED: list[bytes] = inputs.pasted() + inputs.captures()
SECRETS = [each for each in planted() if "\n" not in each[1]]


def _literals() -> list[bytes]:
    """Literals for which texts are searched, each with what is needed to be a word."""
    found = {sign for each in signed._ALL for sign in each.signs}
    return [sign.encode() for sign in sorted(found)]


def colliding(chance: random.Random) -> bytes:
    """A text of many literals, in words of their own or glued together."""
    known = _literals()
    join = chance.choice([b" ", b"", b": ", b"=", b"\n", b"://", b" -p "])
    return join.join(chance.choices(known, k=chance.choice([20, 200, 2000])))


def layered(chance: random.Random) -> bytes:
    """JSON in JSON, up to ten layers of it."""
    text = chance.choice(PASTED)[:2000].decode("utf-8", "replace")
    for _ in range(chance.randint(1, 10)):
        text = json.dumps({chance.choice(["log", "msg", "message"]): text, "time": "2026-01-02T03:04:05Z"})
        if len(text) > LONGEST:
            break
    return text.encode()


def marked_up(chance: random.Random) -> bytes:
    """Markup in markup around a paste."""
    text = chance.choice(PASTED)[:4000]
    for _ in range(chance.randint(1, 30)):
        begin, end = chance.choice([
            (b"<div><pre>", b"</pre></div>"), (b"```\n", b"\n```"), (b"<td>", b"</td>"), (b"**", b"**"), (b"> ", b""),
            (b"<details>", b"</details>"), (b"[code]", b"[/code]"), (b"| ", b" |"),
        ])  # fmt: skip
        text = begin + (text.replace(b"\n", b"\n" + begin) if chance.random() < 0.3 else text) + end  # fmt: skip
        if len(text) > LONGEST:
            break
    return text


def empty(chance: random.Random) -> bytes:
    """Many lines of nothing, blanks or one letter."""
    return (
        chance.choice([b"\n", b" \n", b"\r", b"\0", b"a\n", b"\r\n", b"\x1b[0m\n", b"\xff\n", b"\xed\xa0\x80\n"]) * 9999
    )


def damaged(chance: random.Random) -> bytes:
    """A paste with bytes changed, zero bytes and half characters among them."""
    data = chance.choice(PASTED)
    for _ in range(chance.randint(1, 3)):
        data = chance.choice(inputs.ROUGH + inputs.HARMLESS)(data[:LONGEST], chance)
    return data


MADE: tuple[Callable[[random.Random], bytes], ...] = (colliding, layered, marked_up, empty, damaged, inputs.nested)


def made(chance: random.Random, longest: int = LONGEST) -> bytes:
    """A hostile text, alone, beside another one, or repeated with other numbers until it is long."""
    text = chance.choice(MADE)(chance)[:longest]
    if chance.random() < 0.3:
        text = inputs.interleaved([text, chance.choice(MADE)(chance)[:longest]], chance)
    if chance.random() < 0.1 and text:
        repeats = REPEATED * longest // (LONGEST * len(text)) + 1
        text = b"\n".join(re.sub(rb"\d+", b"%d" % number, text) for number in range(min(repeats, 2000)))
    return text


def _checked(work: Callable[[bytes], T], text: bytes) -> T:
    """What the work returns; it must not take too many operations.

    If it does, it is done again, when all that it needs is loaded and nothing is remembered of the text.
    """
    results: list[T] = []
    allowed = LEAST + A_BYTE * len(text)
    done = calls(lambda given: results.append(work(given)), text)
    if done > allowed:
        _forget()
        done = calls(work, text)
    assert done <= allowed, f"{done} operations for {len(text)} bytes, allowed are {allowed:.0f}"
    return results[0]


def _forget() -> None:
    """Empty the caches that remember texts; those for a few values hold tables."""
    for found in gc.get_objects():
        if isinstance(found, functools._lru_cache_wrapper) and (found.cache_parameters()["maxsize"] or 0) >= OF_TEXTS:
            found.cache_clear()


def _read(text: bytes) -> object:
    return read_all([TextSource.of_bytes("job.log", text)])


def reading(chance: random.Random) -> None:
    """Any text is read with a limited number of operations a byte."""
    _checked(_read, made(chance))


class _Buffers(Text):
    """A text in small buffers, as a long file is read."""

    def __init__(self, text: bytes) -> None:
        """``text`` is cleaned, as all that is redacted."""
        self.name, self.notes = "job.log", []
        self._text = b"".join(TextSource.of_bytes("job.log", text).buffers())

    def buffers(self) -> Iterator[bytes]:
        """Whole lines."""
        begin = 0
        while begin < len(self._text):
            end = self._text.find(b"\n", begin + BUFFER) + 1 or len(self._text)
            yield self._text[begin:end]
            begin = end


def _redacted(text: bytes) -> bytes:
    found, _ = cleaned([_Buffers(text)], b"a key of sixteen")
    return b"".join(found[0].buffers())


def redacting(chance: random.Random) -> None:
    """A secret in any text is removed with a limited number of operations a byte, whatever is remembered of it."""
    lines = made(chance, SHORTER).split(b"\n")
    _, text, secret = chance.choice(SECRETS)
    lines[chance.randint(0, len(lines)) : 0] = [b"", text.encode(), b""]
    given = b"\n".join(lines)
    found = _checked(_redacted, given)
    with mock.patch.object(searched, "_ROOM", -1):
        assert _redacted(given) == found, "a second search finds something else"
    assert given.count(secret.encode()) > 0
    assert secret.encode() not in found, text
