"""Which changes a part of a sentence names: variables, numbers of GPUs and hosts, releases, and things with a label."""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model.told import RELEASED
from ncdiag.formats.shell import is_variable
from ncdiag.parsers.user_text.changes import DONE, LESS_MORE, NUMBERS
from ncdiag.parsers.user_text.words import HAN, Token

_KINDS = {"launcher": "launcher", "tcp": "network", "ib": "network"}
"""Things of which one is tried in place of another."""
_UNSET = (" is not set", " not set", " is unset", " unset")
_DIAGNOSTIC = lazy_regex(r"(?:NCCL_DEBUG|TORCH_DISTRIBUTED_DEBUG|TORCH_CPP_LOG|NCCL_DEBUG_\w+)")
_ASSIGNED = lazy_regex(r"([A-Z][A-Z0-9_]+)(?:[\"'\]]*\s?(?:=|to)\s?[\"'\u201c]?([A-Za-z0-9_.,:/^@+-]+))?")
_FLAG = lazy_regex(r"([\w-]+)(?:\W+(?:(?:is|was)\s)?(?:set\s)?(?:(?:to|at)\s)?(.+))?", re.IGNORECASE)
_REPORTED = lazy_regex(
    r"(?:^|[_-])(?:(?:rank|code|loss|norm|time|step|epoch|pid|errno|status|count|version|port|addr|acc|accuracy"
    r"|err|error|id|ip)s?(?:$|[_-])|debug|verbose|log)"
)
"""Names of what a program reports or prints, not of what people change."""
_QUOTES = "\"'"
_VARIABLE = lazy_regex(
    r"(?:NCCL|RCCL|CUDA(?!_ERROR)|UCX|FI|OMPI|PMIX|GLOO|TORCH|PYTORCH|HSA|HIP|ROCR|GPU|OMP|MASTER|WORLD|LOCAL|TP"
    r"|VLLM|SGLANG|HOROVOD|HCCL|ASCEND|MPI|SHARP|NVSHMEM|NIXL|MLX5|GGML|XLA|TF|RAY|SLURM)_"
)
"""The beginning of a variable that is named without a value; other words in capitals are constants of a program."""
_CONTAINED = lazy_regex(r"docker|podman|container|kubernetes|k8s|\bpod", re.IGNORECASE)
_BEFORE_A_RELEASE = lazy_regex(
    r"(?:^|[,;:(/\u3400-\u9fff]|\b(?:with|on|in|to|version|release|using|than|and|or|under|for|of|until|since"
    r"|before|after|at|is|was|the|both|well\sas|only|tested|tried|while|when|but|also|now|not)|->|=>)\W{0,3}$",
    re.IGNORECASE,
)
"""What comes before the number of a release whose name is not told again."""
_SAYS_NAME = {
    "nccl": range(1, 3),
    "driver": range(300, 1000),
    "cuda": range(9, 20),
    "framework": range(30),
    "kernel": range(3, 8),
    "firmware": range(10, 50),
    "ofed": range(4, 30),
    "rocm": range(4, 10),
    "plugin": range(3),
    "mpi": range(1, 6),
    "os": range(5, 30),
    "image": range(18, 40),
}
"""The first numbers that releases of each have."""
_DATED = lazy_regex(r"(?<![\d.])[12]\d\.(?:04|10)(?:\.\d)?$")
"""A release of Ubuntu, whose name people leave out."""
_NCCL_MINOR, _TORCH_MINOR = 9, 12
"""NCCL is at 2.10 and above; so may PyTorch be, up to this."""
_SOME = lazy_regex(r"\b(?:both|pair)\b", re.IGNORECASE)
_PART, _OF = lazy_regex(r"hosts|gpus"), lazy_regex(r"\bof\s(?:the\s|our\s)?$", re.IGNORECASE)
"""What only says of whom: both GPUs of node 4."""
_OTHER = lazy_regex(r"(?:\bother\s|\bremaining\s|其他的?|其它的?|其余的?|另外)$", re.IGNORECASE)
_OF_THEM = lazy_regex(r"其中的?$")
"""What stands before so many that are others, or some of those that were named."""
_APART = lazy_regex(r"\bdifferent\s(?:\w+\s)?\w+s$", re.IGNORECASE)
"""Several that differ from each other, not ones that were tried instead."""
_PLACE = lazy_regex(
    r"\b(?:between|of|in|on|at|to|from|behind)\s(?:the\s|our\s)?$|\bbetween\s[^,;]{1,30}\sand\s(?:the\s)?$",
    re.IGNORECASE,
)
"""What stands before a thing that only says where another one was exchanged."""
_EARLIER = lazy_regex(r"\b(?:previous|earlier|older|old|last)\s(?:\w+\s){0,2}$", re.IGNORECASE)
_AWAY = frozenset({"off", "out"})
_SETS = frozenset({"set", "setting", "using"})
_NEAR = 40
"""Letters before a word that say what it is."""
_ACT_BEHIND = 16
"""Letters by which a thing may come before what is done with it."""
_ABOVE = lazy_regex(r"\b(?:above|over|beyond|greater\sthan|larger\sthan|more\sthan|exceed\w*|from)\s$", re.IGNORECASE)
_BELOW = lazy_regex(r"\b(?:below|under|less\sthan|smaller\sthan)\s$", re.IGNORECASE)
_ADJECTIVE = lazy_regex(r"(?:older|newer|earlier|prior|previous|latest|newest)\b", re.IGNORECASE)
"""What is said of one thing, not of what is named after it."""
_JOINED = frozenset(
    {
        "",
        "is",
        "was",
        "are",
        "were",
        "is already",
        "being",
        "got",
        "is now",
        "is fully",
        "fully",
        "completely",
        "entirely",
        "had to be",
        "needed to be",
        "(",
    }
)


_INSTEAD = lazy_regex(
    r"(\d+|one|two|three|four|five|six|seven|eight|sixteen)\s(?:\w+\s)?(?:instead\sof|rather\sthan)\s(\w+)"
)


class Change(msgspec.Struct, frozen=True):
    """A label; or so many of a unit (``number`` of ``gpu``, a release as its parts), or the one of that ``name``.

    ``without``: it is taken away. ``against``: it is told what was before. ``since``: a release named as
    the time from which, or up to which, something was so.
    """

    label: str = ""
    unit: str = ""
    name: str = ""
    number: tuple[int, ...] = ()
    without: bool = False
    against: bool = False
    since: bool = False


class Naming:
    """Names the changes of a segment; ``unit`` and ``name`` are what a bare number counts."""

    def __init__(self, text: str, tokens: list[Token], unit: str = "", name: str = "", sentence: str = "") -> None:
        """Take the segment with its words, what was counted last, and the whole sentence."""
        self._text, self._tokens, self.unit, self.name = text, tokens, unit, name
        self._sentence = sentence
        self._action, self._is_adjective, self._is_done = "", False, False
        self.thing = ""

    def changes(self) -> list[tuple[Change, Token]]:
        """The changes, each with its place."""
        result: list[tuple[Change, Token]] = []
        for place, token in enumerate(self._tokens):
            self._act(token)
            after = self._behind(token, self._tokens[place + 1]) if place + 1 < len(self._tokens) else ""
            action = after if after and self._action in {"", "on"} else self._action
            previous = self._tokens[place - 1] if place else None
            if previous is not None and previous.text.lower() == "no" and previous.end + 1 == token.start:
                action = "off"
            if (
                previous is not None
                and previous.value == "not"
                and token.kind == "thing"
                and action != "off"
                and previous.end + 1 == token.start
            ):
                continue
            named = self._named(token, action)
            result += [(change, token) for change in named]
            self._is_done = self._is_done or bool(named)
            if named and self._is_adjective:
                self._action = ""
        return self._tidied(result)

    def _tidied(self, changes: list[tuple[Change, Token]]) -> list[tuple[Change, Token]]:
        """The changes without what only says again, or from where, another one of them is."""
        valued = {change.label.partition("=")[0] for change, _ in changes if "=" in change.label}
        released = [
            (change.label.partition("-")[2], token.start) for change, token in changes
            if change.label.startswith(("newer-", "older-"))
        ]  # fmt: skip
        set_by_name = {change.label.partition("=")[0] for change, token in changes if token.kind == "variable"}
        outcomes = [token.start for token in self._tokens if token.kind == "out"]
        kept: list[tuple[Change, Token]] = []
        for change, token in changes:
            said = bool(change.label) and any(change == other for other, _ in kept)
            same = any(
                change.unit == unit and not any(min(at, token.start) < out < max(at, token.start) for out in outcomes)
                for unit, at in released
            )
            implied = token.kind == "thing" and change.label.partition("=")[0] in set_by_name
            if not (said or same or implied or change.label in valued):
                kept.append((change, token))
        return kept

    def _act(self, token: Token) -> None:
        if token.kind == "act":
            self._action, self._is_adjective = token.value, _ADJECTIVE.match(token.text) is not None
            self._is_done = False
        elif token.value == "with":
            self._action = self._action or ("both" if "without" in token.text.lower() else "on")
        elif (token.kind in {"out", "break"} and token.text not in {"and", ",", "\u3001"}) or (
            token.text.lower() in _SETS and self._action == "off"
        ):
            self._action = ""

    def _behind(self, token: Token, following: Token) -> str:
        """What is done with a thing, where that is behind it: ``p2p disabled``, ``the firewall is off``."""
        between = self._text[token.end : following.start].strip().lower()
        joined = between in _JOINED or HAN.match(following.text)
        return following.value if following.kind == "act" and joined else ""

    def _named(self, token: Token, action: str) -> list[Change]:
        if token.kind == "variable":
            is_own = self._text[: token.start][-1:] not in {"(", "\uff08"} and not self._is_named(token)
            without = (action in _AWAY and is_own) or self._text.startswith(_UNSET, token.end)
            return (_flag if token.value == "flag" else _variable)(token, without=without)
        if token.kind == "thing":
            return self._thing(token, action)
        if token.kind == "number":
            return self._counted(self.unit, _numbers(token.text)) if self._counts(token) else []
        if token.kind == "release":
            return self._released(token, action)
        if token.kind == "size":
            return [Change(unit="size", number=(_bytes(token), self._beyond(token)))]
        return self._several(token, action) if token.kind == "count" else []

    def _several(self, token: Token, action: str) -> list[Change]:
        """So many of a unit, or those beside the ones that were named."""
        numbers = _numbers(token.text)
        if _OTHER.search(self._before(token.start)):
            return [Change(f"other-{token.value}s")] if token.value in {"gpu", "host"} else []
        if _OF_THEM.search(self._before(token.start)):
            return []
        if action == "swap" and (numbers == [(1,)] or _SOME.search(token.text)):
            return [Change(f"other-{token.value}s")]
        if token.value == "batch" and action in {"less", "more"}:
            return [Change(DONE["batch"][action])]
        return self._counted(token.value, numbers)

    def _counts(self, number: Token) -> bool:
        """True if a number alone counts something, and is not a part of a name: ``rank 1 does not``, ``MTU 1500``."""
        before = self._before(number.start)
        is_value = before.endswith("=") or HAN.match(self._text[number.end : number.end + 1])
        if not (is_value or _BEFORE_A_RELEASE.search(before)):
            return False
        return self.unit not in RELEASED or (
            self.unit == "driver" and _numbers(number.text)[0][0] in _SAYS_NAME["driver"]
        )

    def _before(self, end: int) -> str:
        """The few words before a place."""
        return self._text[max(0, end - _NEAR) : end]

    def _beyond(self, token: Token) -> int:
        """1 for what is above a number, -1 for what is below it."""
        before = self._text[: token.start]
        return 1 if _ABOVE.search(before) else -1 if _BELOW.search(before) else 0

    def _is_named(self, variable: Token) -> bool:
        """True if what was turned off is a thing named before the variable: ``P2P off with NCCL_P2P_DISABLE=1``."""
        acts = [t.start for t in self._tokens if t.kind == "act" and t.start < variable.start]
        begin = max(acts, default=0) - _ACT_BEHIND
        return any(t.kind == "thing" and begin <= t.start < variable.start for t in self._tokens)

    def _counted(self, unit: str, numbers: list[tuple[int, ...]], action: str = "") -> list[Change]:
        """So many of a unit; where it is told how many there were before, fewer or more."""
        if not unit or not numbers:
            return []
        self.unit = unit
        self.thing = ""
        if action in {"up", "down"} and unit in DONE:
            return [Change(DONE[unit][action])]
        if len(numbers) > 1 and numbers[0] != numbers[-1]:
            return [Change(LESS_MORE[unit][numbers[-1] > numbers[0]], against=True)]
        return [Change(unit=unit, number=numbers[-1], name=self.name if unit == "framework" else "")]

    def _released(self, token: Token, action: str) -> list[Change]:
        numbers, unit = _numbers(token.text), token.value
        if not unit and (unit := self._unit_of(token, numbers[-1])) == "":
            return []
        if token.value == "framework":
            self.name = token.text.lower().removeprefix("py").split()[0]
        return self._counted(unit, numbers, action)

    def _unit_of(self, token: Token, number: tuple[int, ...]) -> str:
        """Of what a number alone is a release: what was spoken of, or the only thing that has such numbers."""
        if not (token.text.startswith("from") or _BEFORE_A_RELEASE.search(self._text[: token.start])):
            return ""
        first, second = (*number, 0)[:2]
        if _DATED.search(token.text) and first in _SAYS_NAME["os"] and self.unit != "image":
            return "os"
        if first == _SAYS_NAME["nccl"][-1] and second > (_TORCH_MINOR if self.unit == "framework" else _NCCL_MINOR):
            return "nccl"
        if first in _SAYS_NAME["driver"]:
            is_driver = self.unit == "driver" or (token.text.startswith("from") and self._action in {"up", "down"})
            return "driver" if len(number) > 1 or is_driver else ""
        return self.unit if first in _SAYS_NAME.get(self.unit, ()) else ""

    def _thing(self, token: Token, action: str) -> list[Change]:
        value = self.thing = token.value
        if value == "release":  # of what was spoken of
            value = self.unit if self.unit in RELEASED and not self._text.startswith(" of ", token.end) else ""
        unit = _KINDS.get(value)
        if unit and action in {"", "on", "enable", "both"}:
            return [Change(unit=unit, name=value if unit == "network" else token.text.lower())]
        if value in _SAYS_NAME:
            self.unit = value
            self.name = token.text.lower().split()[-1].removeprefix("py") if value == "framework" else self.name
        if self._is_aside(token, action):
            return []
        table = DONE.get(value, {})
        if action == "both":
            action = "off" if "off" in table else "on"
        label = table.get(action or "bare", "" if action == "off" else table.get("bare", ""))
        return [Change(label)] if label else []

    def _is_aside(self, token: Token, action: str) -> bool:
        """True for a thing that only says of what, or where, another one is."""
        before = self._before(token.start)
        if action == "swap" and token.value == "hosts" and _APART.search(self._before(token.end)):
            return True
        if token.value == "outside" and token.text.lower().startswith("on ") and not _CONTAINED.search(self._sentence):
            return True
        return bool(
            (action == "swap" and self._is_done and _PLACE.search(before))
            or (token.value == "nightly" and _EARLIER.search(before))
            or (_PART.fullmatch(token.value) and _OF.search(before))
        )


def _flag(token: Token, *, without: bool) -> list[Change]:
    """An option, or a setting of a program, as ``name=value``."""
    found = _FLAG.fullmatch(token.text)
    if found is None or _REPORTED.search(found[1]):
        return []
    name, value = found.groups()
    return [Change(f"{name}={value.strip(_QUOTES)}" if value else name, without=without)]


def _variable(token: Token, *, without: bool) -> list[Change]:
    found = _ASSIGNED.search(token.text)
    if found is None or _DIAGNOSTIC.match(found[1]) or not is_variable(found[1]):
        return []
    value = (found[2] or "").rstrip(".,:;")
    if not value and not _VARIABLE.match(found[1]):
        return []
    labels = [f"{found[1]}={value}" if value else found[1]]
    if found[1] == "CUDA_LAUNCH_BLOCKING":
        labels.append("synchronous")
    return [Change(label, without=without) for label in labels]


def _bytes(size: Token) -> int:
    """The number of bytes; of a small or large size in words, one that is below or above all others."""
    if size.value:
        return 0 if size.value == "small" else 1 << 60
    number, letter = re.findall(r"[\d.]+|[kmgt]", size.text.lower())[:2]
    return int(float(number) * (1 << 10 * ("kmgt".index(letter) + 1)))


def _numbers(text: str) -> list[tuple[int, ...]]:
    """The number that a text tells, as its parts; two where it tells from which to which."""
    text = _INSTEAD.sub(r"\2 to \1", text.lower(), count=1)
    between = " and " if text.startswith("between") or " between " in text else " to "
    parts = [found for part in text.partition(between)[::2] if (found := _number(part))]
    return parts if len(parts) > 1 else [number] if (number := _number(text.rpartition(" or ")[2])) else []


def _number(text: str) -> tuple[int, ...]:
    if text.startswith("more than"):
        return (NUMBERS["many"],) if text.split()[2] in {"one", "1"} else (int(re.findall(r"\d+", text)[0]) + 1,)
    digits = re.findall(r"\d+", re.split(r"\+|(?<=\d)-[a-z]*\d", text)[0])
    if digits:
        return tuple(int(digit) for digit in digits[:3])
    words = re.findall(r"[a-z]+|[\u3400-\u9fff]", text)
    return next(((NUMBERS[word],) for word in words if word in NUMBERS), ())
