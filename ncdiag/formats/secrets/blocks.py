"""Secrets recognised by other lines: private keys, block scalars, ``data`` of Secrets, values on separate lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.agent.hide import HIDDEN
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.cells import alone
from ncdiag.formats.secrets.names import Promise, is_value, looks_random, promise
from ncdiag.formats.secrets.pairs import value_at
from ncdiag.formats.secrets.signed import Signed

__all__ = ["PRIVATE_KEY", "Block", "opened"]

PRIVATE_KEY = lazy_regex(r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = lazy_regex(r"-----END[A-Z0-9 ]{0,40}KEY(?: BLOCK)?-----")
_AHEAD = 400
"""Number of lines that are searched for the end of a private key, or the kind of an object."""
_SECRETS = Signed(r"\s{0,8}\[(?:secrets?|credentials?|passwords?|tokens|api[_-]keys)\]\s*(?:[#;].*)?$", re.IGNORECASE)
_SETTING = lazy_regex(r"\s{0,8}[\w.\"-]{1,80}\s{0,20}=\s{0,20}(?=\S)")
_FIELDS = 6
"""Number of fields below a name that are searched for its value."""
_BODY = lazy_regex(
    r"(?:.{0,80}[\s>|\"'+])?[A-Za-z0-9+/]{10,}={0,2}(?:\\n|[\"',\s])*$|[\s>|]*(?:Proc-Type|DEK-Info"
    r"|Comment|Version|Hash|Charset):|[\s>|]*[A-Za-z0-9+/]{1,12}={1,2}[\"',\s]*$|[\s>|]*$"
)
_PUTTY = Signed(r"Private-Lines: (?P<lines>\d{1,3})\s*$")
_CELL = lazy_regex(r"\s*(?:<[^<>]{1,200}>\s*)+(?P<value>[^<>\s]{2,4000})\s*</")
_FIELD = lazy_regex(r"(?P<indent>[\s>|]*(?:- )?)[\"']?(?P<name>[\w./-]{1,120})[\"']?\s?:(?P<rest>\s.*)?$")
_SCALAR = lazy_regex(r"\s*(?:!!?\w+\s+)?(?:[|>][+-]?\d?[+-]?)?\s*(?:#.*)?$")
_DATA = Signed(r"(?P<indent>[\s>]*)[\"']?(?P<name>data|stringData)[\"']?\s?:\s*\{?\s*$")
_KIND = lazy_regex(r"[\s>{,]*[\"']?kind[\"']?\s?:\s?[\"']?(?P<kind>\w+)")
_DOCUMENT = lazy_regex(r"[\s>]*---\s*$")
_VALUE = lazy_regex(
    r"(?:.{0,80}[\s{,<]|^)[\"']?(?:value|val|content|data"
    r"|default)[\"']?\s{0,20}(?:[:=>|])\s*(?=\S)",
    re.IGNORECASE,
)
_ALONE = lazy_regex(r"(?:.{0,300}[\s\"'\[(]|^)--?(?P<name>[A-Za-z][\w-]{1,60})[\"']?\s?,?\s*\\?\s*$")
_SHOWS = Signed(
    r"(?:^|[$#%>]\s+|\+\s)(?:sudo\s+)?(?:(?:cat|head|tail|base64|more|less|xxd"
    r"|type)\s+(?:-\w+\s+){0,3}\S{0,200}?(?:token|secret|passw|passwd|credential|api[_-]?key|\.key|/key|munge"
    r"|\.pw)\S{0,80}|(?:echo|printenv|print)\s+\"?\$?\{?(?P<name>[A-Za-z_]\w{1,80})\}?\"?"
    r"|(?:aws ecr get-login-password|gcloud auth print-(?:access|identity)-token|az account get-access-token"
    r"|gh auth token|kubectl create token|openssl rand|pwgen|uuidgen|vault (?:print token|token create)"
    r"|oc whoami -t|scontrol token|pass (?:show )?\S+|op read|heroku auth:token|hf auth token"
    r"|kubeadm token (?:create|list)|docker swarm join-token|mungekey|create-munge-key"
    r"|head -c \d+ /dev/u?random)\b.*)\s*(?:[|].{0,100})?$"
)
_ASKED = Signed(
    r"(?:.{0,200}\b)?(?:pass(?:word|phrase|code)|token|secret|api[ -]?key|access[ -]?key|otp|pin"
    r"|credential)s?(?:\s\[[^\]]{0,60}\]|\sfor\s\S{1,60}|\s\([^)]{0,60}\)|\s(?:is|was))?\s?[:?]\s*$",
    re.IGNORECASE,
)
_LIST_ITEM = lazy_regex(r"(?P<lead>[\s>]*-\s+)(?P<item>[^\s:#][^:]*)$")


class Block:
    """Lines that contain a secret because of a previous line. ``begins_here``: that line contains part of it."""

    begins_here = False

    def first(self, line: str) -> str:
        """The first line of the block, without its part of the secret."""
        return line

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        """(next line without the secret, or None if it is not in the block; the block, if it continues)."""
        raise NotImplementedError


class _Key(Block):
    """A private key: up to the line with its end if that was found, else while lines have the form of its body."""

    begins_here = True

    def __init__(self, lines: int | None) -> None:
        self._left = _AHEAD if lines is None else lines
        self._sure = lines is not None

    def first(self, line: str) -> str:
        found = PRIVATE_KEY.search(line)
        return line[: found.start()] + HIDDEN if found else line

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        self._left -= 1
        end = _END.search(line)
        if end:
            return HIDDEN + line[end.end() :], None
        if not self._sure and not _BODY.match(line):
            return None, None
        return HIDDEN if line.strip() else line, self if self._left > 0 else None


class _Deeper(Block):
    """Lines that are indented deeper than the previous line: a block scalar, or a mapping with only secret values."""

    def __init__(self, indent: int, *, mapping: bool = False, items: bool = False) -> None:
        self._indent, self._mapping, self._items = indent, mapping, items
        self._scalar: int | None = None

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        if not line.strip():
            return line, self
        depth = _depth(line)
        if depth <= self._indent and not (self._items and depth == self._indent and line.lstrip().startswith("- ")):
            return None, None
        if self._scalar is not None and depth > self._scalar:
            return line[:depth] + HIDDEN, self
        self._scalar = None
        field = _FIELD.match(line)
        if self._items or not self._mapping or not field:
            return self._plain(line, depth), self
        rest = field["rest"] or ""
        if _SCALAR.match(rest):
            self._scalar = depth
            return line, self
        return line[: field.end("name")] + line[field.end("name") : field.start("rest")] + _hidden(rest), self

    def _plain(self, line: str, depth: int) -> str:
        """A line that is not a field of a mapping."""
        if self._items:
            item = _LIST_ITEM.match(line)
            return f"{item['lead']}{HIDDEN}" if item else line
        return line if line.strip() in {"}", "},", "]"} else line[:depth] + HIDDEN


class _Value(Block):
    """A name whose ``value`` is on one of the next lines."""

    def __init__(self, promised: Promise, lines: int = 3) -> None:
        self._promised, self._left = max(promised, Promise.LIKELY), lines

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        self._left -= 1
        found = _VALUE.match(line)
        if found is None:
            again = re.search(r"(?:^|\W)(?:name|key)[\"']?\s?[:=>]", line)
            return None, self if self._left > 0 and not again else None
        rest = line[found.end() :]
        if _SCALAR.match(rest):
            return line, _Deeper(_depth(line))
        begin, end = value_at(line, found.end())
        if line[found.end()] not in "\"'" and "<" not in rest and rest.strip()[-1:] not in "},":
            end = len(line.rstrip())
        if not is_value(line[begin:end], self._promised):
            return None, None
        return line[:begin] + HIDDEN + line[end:], None


class _Within(_Value):
    """A field with a secret name whose value is the ``default`` or the ``value`` among the fields below it."""

    def __init__(self, promised: Promise, indent: int) -> None:
        super().__init__(promised, _FIELDS)
        self._indent = indent

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        return (None, None) if _depth(line) <= self._indent else super().removed(line)


class _Section(Block):
    """The settings in a section of an INI or a TOML file that holds nothing but secrets, up to the next section."""

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        if line.lstrip().startswith("["):
            return None, None
        found = _SETTING.match(line)
        if not found:
            return (line, self) if not line.strip() or line.lstrip()[:1] in "#;" else (None, None)
        begin, end = value_at(line, found.end())
        if not is_value(line[begin:end], Promise.LIKELY):
            return line, self
        return line[:begin] + HIDDEN + line[end:], self


class _Next(Block):
    """The next line is the value: of an option on a separate line, or the output of a command that shows a secret."""

    def __init__(self, promised: Promise, *, indent: int | None = None) -> None:
        self._promised, self._indent = promised, indent

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        lead = re.match(r"[\s>|]*(?:- )?(?:[\"'])?", line)
        begin = lead.end() if lead else 0
        text = line[begin:].rstrip(" \t\\,\"'")
        alone = text and " " not in text and "://" not in text and not re.match(r"[\w.-]+@[\w.-]+[:~$#]", text)
        if self._indent is not None and _depth(line) <= self._indent:
            return None, None
        fits = is_value(text, self._promised) and not text.startswith(("--", "{", "["))
        if not alone or not fits or (self._promised is Promise.RANDOM and not looks_random(text)):
            return None, None
        return line[:begin] + HIDDEN + line[begin + len(text) :], None


class _CellBelow(Block):
    """A cell of HTML on a line of its own, after one with the name of a secret."""

    def removed(self, line: str) -> tuple[str | None, Block | None]:
        inner = _CELL.match(line)
        if inner is None or not is_value(inner["value"], Promise.LIKELY):
            return None, None
        return line[: inner.start("value")] + HIDDEN + line[inner.end("value") :], None


def _hidden(rest: str) -> str:
    begin = len(rest) - len(rest.lstrip())
    text = rest.strip()
    tail = "," if text.endswith(",") else ""
    quote = text[0] if text[0] in "\"'" else ""
    return rest[:begin] + quote + HIDDEN + quote + tail


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t>|"))


def opened(lines: Sequence[str], index: int, promised: Promise) -> Block | None:
    """The block that the line begins. ``promised``: by a name in it whose value is not on the line."""
    line = lines[index]
    if "PRIVATE KEY" in line and (begun := PRIVATE_KEY.search(line)):
        if _END.search(line, begun.end()):
            return None
        ends = (place for place in range(index + 1, min(len(lines), index + _AHEAD)) if _END.search(lines[place]))
        end = next(ends, None)
        return _Key(None if end is None else end - index)
    if putty := _PUTTY.search(line):
        block = _Key(int(putty["lines"]))
        block.begins_here = False
        return block
    cell = alone(line)
    if promised or cell:
        return _CellBelow() if cell else _Value(promised)
    if (data := _DATA.match(line)) and (
        data["name"] == "stringData" or _kind(lines, index) in {"Secret", "SealedSecret"}
    ):
        return _Deeper(_depth(line), mapping=True)
    return _of_field(line, lines[index + 1] if index + 1 < len(lines) else "") or _of_next(line)


def _of_field(line: str, below: str) -> Block | None:
    """A field with a secret name whose value is on the following lines."""
    field = _FIELD.match(line)
    if field and _SCALAR.match(field["rest"] or "") and "{" not in (field["rest"] or ""):
        named = promise(field["name"])
        mark = (field["rest"] or "").strip()[:1]
        if named >= Promise.LIKELY and mark and mark in "|>":
            return _Deeper(_depth(line))
        if named >= Promise.KEY and re.match(r"[\s>]*-\s", below) and _depth(below) >= _depth(line):
            return _Deeper(_depth(line), items=True)
        if named >= Promise.LIKELY and _depth(below) > _depth(line) and not _FIELD.match(below):
            return _Next(named, indent=_depth(line))
        if named >= Promise.KEY and not mark and _depth(below) > _depth(line):
            return _Within(named, _depth(line))
    return None


def _of_next(line: str) -> Block | None:
    if _SECRETS.match(line):
        return _Section()
    alone = _ALONE.match(line)
    if alone and promise(alone["name"]) >= Promise.LIKELY:
        return _Next(promise(alone["name"]))
    shows = _SHOWS.search(line)
    if shows and (shows["name"] is None or promise(shows["name"]) >= Promise.LIKELY):
        return _Next(Promise.PASSWORD if shows["name"] else Promise.LIKELY)
    if len(line) < 300 and _ASKED.match(line):  # noqa: PLR2004
        return _Next(Promise.LIKELY)
    return None


def _kind(lines: Sequence[str], index: int) -> str:
    """The kind of the object that contains a line: named before it, else after it."""
    for places in (range(index, max(-1, index - _AHEAD), -1), range(index, min(len(lines), index + _AHEAD))):
        depth = _depth(lines[index])
        for place in places:
            if _DOCUMENT.match(lines[place]):
                break
            if (kind := _KIND.match(lines[place])) and _depth(lines[place]) <= depth:
                return kind["kind"]
    return ""
