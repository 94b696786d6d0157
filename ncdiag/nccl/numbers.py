"""How NCCL reads numbers: ``strtoll(text, NULL, 0)`` (src/misc/param.cc:80-108, v2.30.7-1; the same since 2.3)."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex

_C_NUMBER = lazy_regex(r"[ \t\n\v\f\r]*([-+]?)(0[xX][0-9a-fA-F]{1,400}|0[0-7]{0,400}|[1-9][0-9]{0,400}|)")
_WHOLE = lazy_regex(r"-?(?:0|[1-9][0-9]*|0[xX][0-9a-fA-F]+)")
_LARGEST = 2**63 - 1


def parse_number(text: str | None) -> int | None:
    """Return the number that NCCL reads; None when it uses the default: unset, empty, or beyond 64 bits.

    Only the range is checked: ``true`` and ``on`` are 0, ``1abc`` and ``4M`` lose their tails, ``010`` is octal 8.
    """
    if not text:
        return None
    found = _C_NUMBER.match(text)
    digits = found[2] if found else ""
    if not digits:
        return 0
    number = int(digits, 16 if digits[:2] in {"0x", "0X"} else 8 if digits[0] == "0" else 10)
    if found and found[1] == "-":
        number = -number
    return number if -_LARGEST - 1 <= number <= _LARGEST else None


def is_plain(text: str) -> bool:
    """Does NCCL read the text as its writer must have intended: no word, no tail, no leading zero?"""
    return _WHOLE.fullmatch(text.strip()) is not None
