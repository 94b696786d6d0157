"""What a sentence tells of trials: which change goes with which outcome.

A change stands before its outcome (``with X it hangs``) or behind it (``hangs with X``), in the latter case without a
comma between. An outcome without a change speaks of the one that was told just before.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.parsers.told.changes import CHANGES, DONE, NUMBERS
from ncdiag.parsers.told.moods import holds, segments, split_question, without_quotes
from ncdiag.parsers.told.outcomes import INVERSE, OUTCOMES
from ncdiag.parsers.told.words import HAN, Lexer, Token

LEXER = Lexer((*OUTCOMES, *CHANGES))
_KINDS = {"launcher": "launcher", "tcp": "network", "ib": "network"}
"""Things of which one is tried in place of another."""
_REGRESSED = {"fails": "since", "works": "before"}
_ADVICE = re.compile(r"suggest|recommend|advis|\bsa(?:id|ys)\b|\btold\b|建议", re.IGNORECASE)
_UNSET = (" is not set", " not set", " is unset", " unset")
_SO_DID = "so did"
_FEW = 2
"""Words that may stand between a denial and what it denies."""
_DIAGNOSTIC = re.compile(r"(?:NCCL_DEBUG|TORCH_DISTRIBUTED_DEBUG|TORCH_CPP_LOG|NCCL_DEBUG_\w+)")
_ASSIGNED = re.compile(r"([A-Z][A-Z0-9_]+)(?:[\"'\]]*\s?(?:=|to)\s?[\"'\u201c]?([\w.,:/^@+-]+))?")
_PURPOSE = re.compile(
    r"\bto\s(?:(?:make|get|have)\s(?:it|this|everything|nccl|the\s\w+)\s)?(?:\w+ly\s)?$", re.IGNORECASE
)
_HAD_TO = re.compile(
    r"\b(?:i|we)\s(?:had|have|needed|need)\sto\b|\b(?:seems?|appears?|managed|able|got\sit|start(?:s|ed)?|began)\sto\s$",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"\b(?:mpirun|mpiexec|torchrun|srun)\s+-[^`#]*?(?=`|#|$|\s(?:works|hangs|fails|is)\b)|\s\./\S+", re.IGNORECASE
)
_YES = re.compile(r"\W*(?:yes|yep|yeah|it\sdo(?:es)?|it\sdid|是的|有用|可以)\b", re.IGNORECASE)
_NO = re.compile(r"\W*(?:no|nope|it\sdo(?:es)?(?:n't|\snot)|it\sdid(?:n't|\snot)|没有|不行)\b", re.IGNORECASE)
_ANSWERS = re.compile(r"\W*(?:(?:yes|yep|no|nope|i\sdid|did|done|tried|we\sdid)\b|试过)", re.IGNORECASE)
_END = re.compile(r"\W*(?:now\W*|again\W*|then\W*|here\W*|$)|\s*[,.;!)]|\s(?:but|and|now)\b", re.IGNORECASE)


class Change(msgspec.Struct, frozen=True):
    """A label; or so many of a unit (``number`` of ``gpu``, a release as its parts), or the one of that ``name``.

    ``without``: it is taken away.
    """

    label: str = ""
    unit: str = ""
    name: str = ""
    number: tuple[int, ...] = ()
    without: bool = False


class Found(msgspec.Struct, frozen=True):
    """A change and what came of it; ``at`` is where the sentence tells the outcome."""

    change: Change
    outcome: str
    at: int


class Reader:
    """Reads sentences in their order and remembers which change was spoken of last."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._pending: list[Change] = []
        self._asked: list[Change] = []
        self._unit = self._last = ""

    def read(self, text: str) -> list[Found]:
        """The trials of a sentence."""
        said, asked = split_question(without_quotes(text))
        if asked:
            self._asked, self._pending = [change for change, _ in _Naming(text, LEXER.tokens(text), "").changes()], []
            return []
        if self._asked and (_ANSWERS.match(said) or _YES.match(said) or _NO.match(said)):
            pending, self._pending = self._asked, self._asked
        else:
            pending = self._pending
        asked_for, self._asked = self._asked, []
        result: list[Found] = []
        self._pending = pending
        for begin, part in segments(said):
            result += [msgspec.structs.replace(found, at=found.at + begin) for found in self._segment(part)]
        if not result and asked_for:
            yes, no = _YES.match(said), _NO.match(said)
            if yes or no:
                return [Found(change, "works" if yes else "same", 0) for change in asked_for if not change.unit]
        return result

    def _segment(self, text: str) -> list[Found]:
        bare = _COMMAND.sub(lambda m: " " * len(m[0]), text) if "_" in text else text
        tokens = LEXER.tokens(bare)
        named = _Naming(bare, tokens, self._unit)
        changes, self._unit = named.changes(), named.unit
        if not holds(text):
            self._pending = [change for change, _ in changes] if _ADVICE.search(text) else []
            return []
        outcomes = _outcomes(tokens, bare)
        result: list[Found] = []
        used: set[int] = set()
        before = 0
        for place, (token, outcome) in enumerate(outcomes):
            until = outcomes[place + 1][0].start if place + 1 < len(outcomes) else len(bare)
            ahead = [(c, t) for i, (c, t) in enumerate(changes) if before <= t.start < token.start and i not in used]
            behind: list[tuple[Change, Token]] = []
            for i, (change, at) in enumerate(changes):
                follows = token.end <= at.start < until
                if follows and _linked(tokens, token, at, first=not behind, has=bool(ahead)):
                    behind.append((change, at))
                    used.add(i)
            before = token.end
            own = [change for change, _ in (*ahead, *behind)] or self._pending_for(token, outcome, first=place == 0)
            if token.text.lower().startswith(_SO_DID):
                own, result = [found.change for found in result], []
            result += _tried(own, outcome, token, tokens)
        if not outcomes and tokens and tokens[0].value == "not":  # works on two, but not on four
            result = [Found(change, INVERSE.get(self._last, ""), tokens[0].start) for change, _ in changes]
        self._last = outcomes[-1][1] if outcomes else self._last
        is_open = bool(changes) and (not outcomes or any(token.kind == "tried" for token in tokens))
        self._pending = [change for change, _ in changes] if is_open and not result else []
        return [found for found in map(_plain, result) if found is not None and found.outcome]

    def _pending_for(self, token: Token, outcome: str, *, first: bool) -> list[Change]:
        says = first and outcome in {"same", "works", "fails", "other", "cures"} and not token.value.startswith("weak")
        return self._pending if says else []


def _tried(own: list[Change], outcome: str, token: Token, tokens: list[Token]) -> list[Found]:
    """The trials of an outcome; a number of GPUs beside one of hosts is that of these hosts."""
    if any(change.unit == "host" for change in own):
        own = [change for change in own if change.unit != "gpu"]
    if any(t.value == "unless" and t.start > token.start for t in tokens):
        own = [msgspec.structs.replace(change, without=not change.without) for change in own]
    elif outcome == "fails" and any(t.value == "even" or t.text.lower().startswith("even ") for t in tokens):
        outcome = "same"
    newer = [change for change in own if change.label.startswith("newer-")]
    if newer and _REGRESSED.get(outcome) in {t.kind for t in tokens}:
        return [Found(change, "fails!", token.start) for change in newer]
    return [Found(change, outcome, token.start) for change in own]


def _plain(found: Found) -> Found | None:
    """A variable that is taken away is the trial of the variable turned round; other things have labels for it."""
    if not found.change.without:
        return msgspec.structs.replace(found, outcome="works") if found.outcome == "cures" else found
    turned = {"works": "fails!", "cures": "fails!", "fails": "works"}.get(found.outcome)
    change = msgspec.structs.replace(found.change, without=False)
    return None if turned is None else Found(change, turned, found.at)


def _linked(tokens: list[Token], outcome: Token, change: Token, *, first: bool, has: bool) -> bool:
    between = [token for token in tokens if outcome.end <= token.start < change.start]
    stops = [t for t in between if t.kind == "break" and not (t.text in {"and", ",", "、"} and not first)]
    if stops:
        return False
    return not has or any(token.kind in {"link", "act", "since", "before", "tried"} for token in between)


def _outcomes(tokens: list[Token], text: str) -> list[tuple[Token, str]]:
    result: list[tuple[Token, str]] = []
    for place, token in enumerate(tokens):
        outcome = _outcome(tokens, place, text) if token.kind == "out" else ""
        if outcome == "same" and result and result[-1][1] == "fails" and not token.text.startswith("so "):
            between = [t for t in tokens[:place] if t.start >= result[-1][0].end]
            if not between:
                result[-1] = result[-1][0], "same"
                continue
        if outcome:
            result.append((token, outcome))
    return result


def _outcome(tokens: list[Token], place: int, text: str) -> str:
    """What the word says where it stands; empty for nothing."""
    token = tokens[place]
    outcome = {"weak": "works", "weak-fails": "fails"}.get(token.value, token.value)
    if outcome != token.value:
        others = any(other.kind == "out" and other is not token for other in tokens)
        if not (others or _END.match(text, token.end)):
            return ""
    if any(t.value == "neither" for t in tokens[:place]):
        return "same" if outcome in {"cures", "works"} else ""
    previous = tokens[place - 1] if place else None
    if previous is not None and previous.kind == "not" and text[previous.end : token.start].count(" ") <= _FEW:
        return INVERSE.get(outcome, "")
    purpose = _PURPOSE.search(text[: token.start]) and not _HAD_TO.search(text[: token.start])
    return "" if purpose else outcome


class _Naming:
    """Names the changes of a segment; ``unit`` is what a bare number counts."""

    def __init__(self, text: str, tokens: list[Token], unit: str) -> None:
        self._text, self._tokens, self.unit = text, tokens, unit
        self._action = ""

    def changes(self) -> list[tuple[Change, Token]]:
        """The changes, each with its place."""
        result: list[tuple[Change, Token]] = []
        for place, token in enumerate(self._tokens):
            self._act(token)
            after = self._behind(token, self._tokens[place + 1]) if place + 1 < len(self._tokens) else ""
            result += [
                (change, token)
                for change in self._named(token, after if after and self._action in {"", "on"} else self._action)
            ]
        return result

    def _act(self, token: Token) -> None:
        if token.kind == "act":
            self._action = token.value
        elif token.value == "with":
            self._action = self._action or "on"
        elif token.kind in {"out", "break"} and token.text not in {"and", ",", "\u3001"}:
            self._action = ""

    def _behind(self, token: Token, following: Token) -> str:
        """What is done with a thing, where that stands behind it: ``p2p disabled``."""
        between = self._text[token.end : following.start].strip()
        joined = not between or (token.kind == "variable" and between in {"is", "was"}) or HAN.match(following.text)
        return following.value if following.kind == "act" and joined else ""

    def _named(self, token: Token, action: str) -> list[Change]:
        if token.kind == "variable":
            return _variable(token, without=action == "off" or self._text.startswith(_UNSET, token.end))
        if token.kind == "thing":
            return _thing(token, action)
        if token.kind == "number" and self.unit:
            return [Change(unit=self.unit, number=number)] if (number := _number(token.text)) else []
        if token.kind not in {"count", "release"}:
            return []
        self.unit, number = token.value, _number(token.text)
        if token.kind == "release" and action in {"up", "down"}:
            return [Change(DONE[self.unit][action])]
        return [Change(unit=self.unit, number=number)] if number else []


def _variable(token: Token, *, without: bool) -> list[Change]:
    found = _ASSIGNED.search(token.text)
    if found is None or _DIAGNOSTIC.match(found[1]):
        return []
    value = (found[2] or "").rstrip(".,:;")
    labels = [f"{found[1]}={value}" if value else found[1]]
    if found[1] == "CUDA_LAUNCH_BLOCKING":
        labels.append("synchronous")
    return [Change(label, without=without) for label in labels]


def _thing(token: Token, action: str) -> list[Change]:
    unit = _KINDS.get(token.value)
    if unit and action in {"", "on"}:
        return [Change(unit=unit, name=token.value if unit == "network" else token.text.lower())]
    table = DONE.get(token.value, {})
    label = table.get(action or "bare", "" if action == "off" else table.get("bare", ""))
    return [Change(label)] if label else []


def _number(text: str) -> tuple[int, ...]:
    digits = re.findall(r"\d+", text)
    if digits:
        return tuple(int(digit) for digit in digits[:3])
    words = re.findall(r"[a-z]+|[\u3400-\u9fff]", text.lower())
    return next(((NUMBERS[word],) for word in words if word in NUMBERS), ())
