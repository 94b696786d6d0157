"""Stretches of Python in a paste, as far as they parse: cut, dedented, with prompts, with prose between them.

Each statement with what is indented below it is parsed by itself, so that one that is broken costs no other. Within
one, a line at which the parser stops is left out, and what a cut leaves open is closed.
"""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Iterator, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex

_LINES, _GROUP, _LINE, _DEEP = 4000, 600, 2000, 40
"""Lines of a paste, lines of a statement, characters of a line and brackets in brackets that are read."""
_REPAIRS, _ROOM = 24, 1 << 19
"""Lines of a statement that are left out at most, and characters that are parsed in all."""
_BETWEEN = 256
"""Lines in which the frame of a statement is looked for above it."""
_STATEMENT = lazy_regex(
    r"\s*(?:(?:import|from|def|class|if|for|while|with|try|async|return|raise|assert|del|global)\b|@\w"
    r"|[A-Za-z_][\w.]{0,120}(?:\[[^\]\n]{0,120}\])?\s{0,8}(?:=|\(|[+*/|&-]=|,\s?[A-Za-z_]\w{0,60}\s?=|:\s?\w+\s?=))"
)
_GOES_ON = lazy_regex(r"\s*(?:(?:else|finally)\s{0,4}:|(?:elif|except)\b|[)\]}])")
_FENCE = lazy_regex(r"\s*(?:```|~~~)")
_PROMPT = lazy_regex(r"\s*(?:>>> ?|In \[\d{1,4}\]: )")
_MORE = lazy_regex(r"\s*\.{3}(?::? |$)")
_FRAME = lazy_regex(r'.{0,200}File "[^"\n]{1,400}", line \d+')
_BEGINS = lazy_regex(r"\b(?:init_process_group|init_distributed|distributed\.initialize)\(")
_PIECE = lazy_regex(r"\"\"\"|'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|#[^\n]*|[()\[\]{}]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_HEADER = lazy_regex(r"expected an indented block after .{1,80} on line (\d+)")


def is_code(line: str) -> bool:
    """May the line belong to a program? It begins as a statement does, or is indented."""
    return line[:2].isspace() or _STATEMENT.match(line[:_LINE]) is not None


class Script(msgspec.Struct, frozen=True):
    """Statements that are in one stretch of a paste; the line numbers of their nodes are those of the source."""

    body: list[ast.stmt]


def scripts(lines: Sequence[tuple[int, str]]) -> list[Script]:
    """The stretches of Python in these lines, each between fences or the ends of the paste."""
    found = []
    room = [_ROOM]
    for stretch in _stretches(lines[:_LINES]):
        body = list(_statements(_typed(stretch), room))
        if body:
            found.append(Script(body))
    return found


def begun(lines: Sequence[tuple[int, str]]) -> list[Script]:
    """The statements of tracebacks by which a job begins: those at which a program stopped, as it was written."""
    texts = [line for _, line in lines[:_LINES]]
    found = ((lines[index][0], _framed(texts, index)) for index, line in enumerate(texts) if _BEGINS.search(line))
    body = [each for number, line in found if line for each in _statements([(number, line[:_LINE])], [_ROOM])]
    return [Script(body)] if body else []


def _framed(lines: Sequence[str], index: int) -> str:
    """The line without the label of its rank, if it is the statement of a frame; other ranks may print in between."""
    for above in range(index - 1, max(index - _BETWEEN, 0) - 1, -1):
        frame = _FRAME.match(lines[above])
        label = lines[above][: lines[above].index('File "')].rstrip() if frame else ""
        if frame and (above == index - 1 or label) and lines[index].startswith(label):
            own = any(line.startswith(label) for line in lines[above + 1 : index])
            return "" if own else lines[index][len(label) :]
    return ""


def _stretches(lines: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """The lines between fences, without those of a traceback, whose code is not the program's text."""
    held: list[tuple[int, str]] = []
    framed = False
    for number, line in lines:
        if _FENCE.match(line):
            yield held
            held = []
        elif not (framed or _FRAME.match(line)):
            held.append((number, line[:_LINE].expandtabs(8)))
        framed = _FRAME.match(line) is not None
    yield held


def _typed(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """What was typed at Python's prompts, where there are any; the lines as they are elsewhere.

    ``>>>`` may have been taken for a quotation, so that only the prompt of the next lines is left.
    """
    if not any(_PROMPT.match(line) for _, line in lines):
        return [(number, line[found.end() :] if (found := _MORE.match(line)) else line) for number, line in lines]
    typed, within = [], False
    for number, line in lines:
        prompt = _PROMPT.match(line) or (_MORE.match(line) if within else None)
        within = prompt is not None
        typed.append((number, line[prompt.end() :] if prompt else ""))
    return typed


def _statements(lines: Sequence[tuple[int, str]], room: list[int]) -> Iterator[ast.stmt]:
    at = 0
    while at < len(lines) and room[0] > 0:
        if not _STATEMENT.match(lines[at][1]):
            at += 1
            continue
        end = _end(lines, at)
        room[0] -= sum(len(line) for _, line in lines[at:end])
        body = _parsed([line for _, line in lines[at:end]], room)
        for statement in body or ():
            _renumber(statement, [number for number, _ in lines[at:end]])
            yield statement
        at = end if body else at + 1


def _end(lines: Sequence[tuple[int, str]], start: int) -> int:
    """Where the statement ends that begins here, with its body, and with those that belong to it (``else``)."""
    indent = _indent(lines[start][1])
    depth, quote = _open(lines[start][1], 0, "")
    decorated = lines[start][1].lstrip().startswith("@")
    end = start + 1
    for index in range(start + 1, min(len(lines), start + _GROUP)):
        line = lines[index][1]
        if not line.strip():
            continue
        inside = depth > 0 or bool(quote)
        if not (inside or decorated or _indent(line) > indent or (_indent(line) == indent and _GOES_ON.match(line))):
            break
        decorated = decorated and line.lstrip().startswith("@")
        depth, quote = _open(line, depth, quote)
        end = index + 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _open(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets, and which long string, are open behind the line."""
    for piece in _PIECE.findall(line):
        if quote:
            quote = "" if piece == quote else quote
        elif piece in {'"""', "'''"}:
            quote = piece
        elif piece in _CLOSERS:
            depth += 1
        elif piece in ")]}":
            depth = max(depth - 1, 0)
    return depth, quote


def _parsed(lines: list[str], room: list[int]) -> list[ast.stmt] | None:
    """The statements in these lines, without what does not parse; None where nothing does."""
    held = textwrap.dedent("\n".join(lines)).split("\n")
    closed = False
    for _ in range(_REPAIRS):
        text = "\n".join(held)
        room[0] -= len(text)
        if room[0] < 0 or _depth(text) > _DEEP:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes in strings, which are none of ours
                return ast.parse(text).body
        except SyntaxError as error:
            missing = "" if closed else _missing(text)
            if missing and (error.msg.endswith("was never closed") or "EOF" in error.msg):
                held, closed = [*held, missing], True
            elif not _mended(held, error):
                return None
        except (ValueError, RecursionError, MemoryError):
            return None
    return None


def _mended(lines: list[str], error: SyntaxError) -> bool:
    """Leave out the line at which the parser stopped; False where there is none."""
    header = _HEADER.match(error.msg)
    if header:
        lines[int(header[1]) - 1] += " pass"
        return not lines[int(header[1]) - 1].endswith("pass pass")
    at = min(error.lineno or 1, len(lines)) - 1
    while at > 0 and not lines[at].strip():
        at -= 1
    line = lines[at]
    if isinstance(error, IndentationError) or line.strip() == "pass":
        lines[at] = ""
    else:
        lines[at] = " " * _indent(line) + "pass"
    return bool(line.strip()) and any(map(str.strip, lines))


def _missing(text: str) -> str:
    """The brackets that close what is open at the end."""
    held: list[str] = []
    for piece in _PIECE.findall(text):
        if piece in _CLOSERS:
            held.append(_CLOSERS[piece])
        elif held and piece == held[-1]:
            held.pop()
    return "".join(reversed(held))


def _depth(text: str) -> int:
    """How deep brackets are in brackets at most."""
    depth = deepest = 0
    for piece in _PIECE.findall(text):
        depth += (piece in _CLOSERS) - (piece in ")]}" and depth > 0)
        deepest = max(deepest, depth)
    return deepest


def _renumber(statement: ast.stmt, numbers: Sequence[int]) -> None:
    for node in ast.walk(statement):
        line = getattr(node, "lineno", None)
        if line is not None:
            node.lineno = numbers[min(line, len(numbers)) - 1]  # type: ignore[attr-defined]
