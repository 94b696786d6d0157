"""What a sentence tells of trials: which change goes with which outcome.

A change comes before its outcome (``with X it hangs``) or behind it (``hangs with X``), in the latter case without a
comma between. An outcome without a change mentions the one that was told just before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text import beside, measures, releases
from ncdiag.parsers.user_text.changes import CHANGES, DONE, REMEDIES
from ncdiag.parsers.user_text.moods import holds, segments, split_question, without_quotes, without_reasons
from ncdiag.parsers.user_text.naming import Change, Naming
from ncdiag.parsers.user_text.outcomes import INVERSE, OUTCOMES
from ncdiag.parsers.user_text.results import outcomes_of
from ncdiag.parsers.user_text.words import Lexer, Token

LEXER = Lexer("words-of-trials", (*OUTCOMES, *CHANGES))
_OUTCOMES = frozenset({"out", "ellipsis", "onset"})
_NO_CHANGES = frozenset({"out", "ellipsis", "noun", "break", "link", "not"})
"""Kinds of words: those that tell an outcome, and those that name no change. The onset of a trouble implies one."""
_REGRESSED = {"fails": "since", "works": "before"}
_ADVICE = lazy_regex(
    r"thought|expected|believed|hoped|suggest|recommend|advis|\bsa(?:id|ys)\b|\btold\b|建议", re.IGNORECASE
)
_SO_DID = "so did"
_ONLY = lazy_regex(r"\bonly\s$", re.IGNORECASE)
_ONLY_WITH = lazy_regex(r"\bonly\s(?:when|with|if|on|in|for|under)\s(?:\w+\s){0,2}\W?$", re.IGNORECASE)
_CONDITION = lazy_regex(
    r"[\s*_]*(?:only\s|just\s)?(?:when|if|unless|as\ssoon\sas|whenever|(?:with|in|for|by)\s\w+ing)\b",
    re.IGNORECASE,
)
_AND = frozenset({"and", ",", "、"})
_NEAR, _FEW = 40, 3
_YES = lazy_regex(r"\W*(?:yes|yep|yeah|it\sdo(?:es)?|it\sdid|是的|有用|可以)\b", re.IGNORECASE)
_NO = lazy_regex(
    r"\W*(?:no(?!\s(?:idea|clue))|nope|it\sdo(?:es)?(?:n't|\snot)|it\sdid(?:n't|\snot)|没有|不行)\b", re.IGNORECASE
)
_ANSWERS = lazy_regex(
    r"\W*(?:(?:yes|yep|no|nope|(?:i|we)\sdid|(?:already\s)?(?:did|done|tried|tested)|ran\sit|a:|(?:that"
    r"|this)(?:\s\w+)?\s(?:work|fix|help|solv|did)\w*)\b|试过)",
    re.IGNORECASE,
)
_REFUSES = lazy_regex(r"\W*(?:(?:no|nope)\W+)?(?:i|we)\s(?:did|have|can|could|do)(?:n'?t|not|\snot)\b", re.IGNORECASE)
_BACK = lazy_regex(r"\bwith(?:out)?\s(?:it|that|this)\b", re.IGNORECASE)
_TOOL = lazy_regex(
    r"\b(?:perftest|ibv?_\w+|r?ping|iperf3?|ssh|telnet|nc|curl|nvidia-smi|nvbandwidth|dcgmi?|osu_\w+|p2p\w*test)\b",
    re.IGNORECASE,
)
"""What tests a part alone: that it works is not the outcome of a change to the job told before."""
_TOOL_DOES = lazy_regex(rf"{_TOOL.pattern}(?:\s(?:also|still|just|itself))?\s$", re.IGNORECASE)
_THAT = lazy_regex(r"\W*(?:(?:and|but|then)\s)?(?:that|this|it|which)\b", re.IGNORECASE)
_UNTIL = lazy_regex(r"(?:[^,;]{0,40},)?\s(?:(?:and|but)\s)?(?:then|until|before|afterwards|later)\b", re.IGNORECASE)
"""What is between a run that went well and its end."""
_NOW = lazy_regex(r"\W*(?:now|then|instead)\b", re.IGNORECASE)


class Found(msgspec.Struct, frozen=True):
    """A change and what came of it; ``at`` is where the sentence tells the outcome.

    ``fails!`` needs nothing beside it that works; ``vain``: tried as a remedy, and it fails.
    """

    change: Change
    outcome: str
    at: int


def outcome_of(text: str) -> str:
    """The first outcome that a few words tell: ``works`` or ``fails``; empty for none."""
    outcomes, _ = outcomes_of(LEXER.tokens(text), text, "", "")
    return next((said for _, said in outcomes if said in {"works", "fails"}), "")


def may_tell(sentences: Sequence[str]) -> bool:
    """False if sentences, read from the first on, lack words of an outcome, or of a change: they tell no trial."""
    kinds: set[str] = set()
    for text in sentences:
        said, asked = split_question(without_reasons(without_quotes(text)))
        if asked:
            return len(sentences) > 1
        tokens = [token for _, part in segments(said) for token in LEXER.tokens(beside.without_commands(part))]
        kinds.update("onset" if token.value == "onset" else token.kind for token in tokens)
    return not kinds.isdisjoint(_OUTCOMES) and not kinds <= _NO_CHANGES


class Reader:
    """Reads sentences in their order and remembers which change was spoken of last."""

    def __init__(self, unit: str = "") -> None:
        """Nothing was said yet; ``measures`` are the rates that the last sentence gives with changes.

        ``unit`` is what a bare release counts until another thing is named.
        """
        self._pending: list[Change] = []
        self._asked: list[Change] = []
        self._unit = unit
        self._name = self._thing = self._base = self._said = self._asked_base = ""
        self._listing = self._trying = self._touched = self._is_fresh = False
        self.measures: list[measures.Measure] = []

    def read(self, text: str, *, is_item: bool = False) -> list[Found]:
        """The trials of a sentence, which may be an item of a list."""
        self.measures, self._is_fresh = [], False
        said, asked = split_question(without_reasons(without_quotes(text)))
        if asked:
            tokens = LEXER.tokens(text)
            self._asked, self._pending = [change for change, _ in Naming(text, tokens).changes()], []
            self._asked_base = outcomes_of(tokens, text, "", "")[1]
            return []
        asked_for, self._asked = self._asked, []
        if _REFUSES.match(said):
            self._pending = []
        elif asked_for and (_ANSWERS.match(said) or _YES.match(said) or _NO.match(said) or _BACK.search(said)):
            self._pending = asked_for
        self._listing, before = is_item, self._pending if is_item and self._listing else []
        result: list[Found] = []
        self._touched = bool(asked_for) and self._pending == asked_for
        for begin, part in segments(said):
            found = self._segment(part, said)
            fails_now = not found and self._said == "fails" and _NOW.match(part) is not None
            result = [*(_elsewhere(result) if fails_now else result), *(_moved(each, begin) for each in found)]
        if not self._touched:
            self._pending = []
        self._pending = [*before, *self._pending] if before and self._pending and not result else self._pending
        if not is_item:
            self._trying = said.rstrip().endswith((":", "\uff1a")) and _tries(LEXER.tokens(said)) and holds(said)
        if not result and asked_for:
            yes, no = _YES.match(said), _NO.match(said)
            if yes or no:
                well = bool(yes) is not (self._asked_base == "fails")  # does it happen with X, too? no
                return [Found(change, "works" if well else "same", 0) for change in asked_for if not change.unit]
        return result

    def _segment(self, text: str, sentence: str) -> list[Found]:
        bare = beside.without_commands(text)
        tokens = LEXER.tokens(bare)
        named = Naming(bare, tokens, self._unit, self._name, sentence)
        changes = releases.dated(named.changes(), tokens)
        self._unit, self._name = named.unit, named.name
        thing, self._thing = self._thing, named.thing or self._thing
        if not holds(text):
            self._asked = [change for change, _ in changes]
            self._base = outcomes_of(tokens, bare, "", "")[1] or "cures"
            self._pending = self._asked if _ADVICE.search(text) else []
            self._touched = True
            return []
        self.measures += measures.read(bare, [(c, t) for c, t in changes if measures.may_have(c)])
        outcomes, self._base = outcomes_of(tokens, bare, self._base, self._said)
        self._said = outcomes[-1][1] if outcomes else self._said
        changes, instead, than = beside.by_role(changes, tokens, bare)
        result: list[Found] = []
        used, last, before = set[int](), list[Change](), 0
        for place, (token, outcome) in enumerate(outcomes):
            until = outcomes[place + 1][0].start if place + 1 < len(outcomes) else len(bare)
            ahead = [(c, t) for i, (c, t) in enumerate(changes) if before <= t.start < token.start and i not in used]
            behind = _following(changes, tokens, (token, until), bare, used, has=bool(ahead))
            before_this, before = before, token.end
            if _TOOL_DOES.search(bare, before_this, token.start):
                continue
            apart = _excepted(tokens, token)
            shared = [(c, t) for c, t in beside.of_one_breath(ahead, bare) if apart is None or t.start > apart]
            own = [change for change, _ in (*shared, *behind)]
            if shared and _ONLY.search(bare, before_this, shared[0][1].start):
                result += [Found(c, INVERSE.get(outcome, ""), token.start) for c, _ in ahead if c not in own]
            back = _back(tokens, token, (before_this, until), alone=not own)
            if back is not None or not own:
                own = self._spoken_of(back, changes, token, outcome, bare if place == 0 else "", tokens)
            if back is not None and back.value == "off" and not own and (label := DONE.get(thing, {}).get("off")):
                own = [Change(label)]
            result = result if own else _revised(result, token, outcome, bare[before_this : token.start])
            own = last = own or (last if outcome in {"slower", "faster"} else [])
            own = releases.of_onset(own, self._unit, bare[: token.start]) if token.value == "onset" else own
            own, compared = beside.against(own, [change for change, _ in instead])
            result += [Found(change, INVERSE.get(outcome, ""), token.start) for change in compared if own]
            if token.text.lower().startswith(_SO_DID):
                own, result = [found.change for found in result], []
            alone = {c for c, t in behind if _ONLY_WITH.search(bare, max(token.end, t.start - _NEAR), t.start)}
            for each in _tried(own, outcome, token, tokens, trying=self._trying and self._listing):
                result.append(_alone(each) if each.change in alone else each)
            result += [Found(c, said, token.start) for c, said in releases.than(outcome, own, [c for c, _ in than])]
        if changes or outcomes:
            tries = any(token.kind == "tried" for token in tokens)
            open_to = [change for change, _ in changes if change.label or tries]
            self._pending = open_to if (tries or not outcomes) and not result else []
            self._touched = self._is_fresh = True
        return [found for found in map(_plain, result) if found is not None and _says(found)]

    def _spoken_of(  # noqa: PLR0913, PLR0917  (what the words around an outcome are)
        self,
        back: Token | None,
        changes: list[tuple[Change, Token]],
        token: Token,
        outcome: str,
        text: str,
        tokens: list[Token],
    ) -> list[Change]:
        """The changes of which an outcome speaks that is alone, or beside ``without it``.

        ``text``: the segment, if it is its first outcome; a condition in it stands for itself, even if it is not known.
        """
        if back is not None:
            told = [change for change, at in changes if at.start < back.start] or self._pending
            turned = [msgspec.structs.replace(change, without=not change.without) for change in told if change.label]
            return turned if back.value == "off" else told
        says = (
            text
            and not _CONDITION.match(text, token.end)
            and (
                outcome in {"same", "works", "fails", "other", "cures"}
                or (self._is_fresh and _THAT.match(text) is not None)
            )
            and not token.value.startswith("weak")
            and not (not self._is_fresh and _TOOL.search(text, 0, token.start))
        )
        again = outcome != "fails" or any(t.value == "even" for t in tokens if t.start < token.start)
        return [c for c in self._pending if again or c.label not in REMEDIES] if says else []


def _following(  # noqa: PLR0913  (what the words around an outcome are)
    changes: list[tuple[Change, Token]], tokens: list[Token], outcome: tuple[Token, int], text: str, used: set[int], *,
    has: bool,
) -> list[tuple[Change, Token]]:  # fmt: skip
    """The changes that follow an outcome and go with it, up to the next outcome; they are then ``used``."""
    token, until = outcome
    behind: list[tuple[Change, Token]] = []
    for i, (change, at) in enumerate(changes):
        if token.end <= at.start < until and (
            text[token.end : token.end + 1] == ":" or _linked(tokens, token, at, first=not behind, has=has)
        ):
            behind.append((change, at))
            if token.value != "onset" or releases.is_release(change):
                used.add(i)
    return behind


def _back(tokens: list[Token], outcome: Token, within: tuple[int, int], *, alone: bool) -> Token | None:
    """The word that points back to a change told before, beside this outcome; behind a comma if no other is."""
    begin, end = within
    found = next((t for t in tokens if t.kind == "back" and begin <= t.start < end and t is not outcome), None)
    parted = found is not None and any(t.kind == "break" and outcome.end <= t.start < found.start for t in tokens)
    return None if parted and not alone else found


def _says(found: Found) -> bool:
    """False for what has no outcome, and for what everybody knows: how the size of a batch affects the speed."""
    return bool(found.outcome) and not (found.outcome in {"slower", "faster"} and found.change.label.endswith("-batch"))


def _revised(found: list[Found], token: Token, outcome: str, between: str) -> list[Found]:
    """What was found, where the next outcome adds to it: it failed ``just the same``, or it ran ``until`` it failed."""
    if token.value == "same":
        return [msgspec.structs.replace(each, outcome="same") if each.outcome == "fails" else each for each in found]
    if outcome == "fails" and _UNTIL.match(between):
        return [each for each in found if each.outcome != "works"]
    return found


def _moved(found: Found, by: int) -> Found:
    return msgspec.structs.replace(found, at=found.at + by)


def _elsewhere(found: list[Found]) -> list[Found]:
    """What cured it, so that now something else fails."""
    return [msgspec.structs.replace(each, outcome="other") if each.outcome == "works" else each for each in found]


def _tries(tokens: list[Token]) -> bool:
    return any(token.value == "try" for token in tokens)


def _tried(own: list[Change], outcome: str, token: Token, tokens: list[Token], *, trying: bool) -> list[Found]:
    """The trials of an outcome; a number of GPUs beside one of hosts is that of these hosts."""
    if any(change.label != "container" for change in own):
        own = [change for change in own if change.label != "container"]
    if any(change.unit == "host" for change in own):
        own = [change for change in own if change.unit != "gpu"]
    if _excepted(tokens, token) is not None:
        own = [msgspec.structs.replace(change, without=not change.without) for change in own]
    elif outcome == "fails" and any(t.value == "even" or t.text.lower().startswith("even ") for t in tokens):
        outcome = "same"
    if any(change.label and not change.label.startswith(("newer-", "older-")) for change in own) and any(
        t.kind == "since" and t.start < token.start for t in tokens
    ):  # since the update, with X
        own = [change for change in own if not change.label.startswith(("newer-", "older-"))] or own
    regressed = _REGRESSED.get(outcome) in {t.kind for t in tokens}
    broke = outcome == "fails" and releases.BROKE.search(token.text) is not None
    newer = [new for each in own if (new := releases.since(each, regressed=regressed, broke=broke)) is not None]
    if newer:
        return [Found(change, "fails!", token.start) for change in newer]
    if token.value == "onset" and outcome == "fails":  # it depends on which one it is
        others = [Found(change, "fails!", token.start) for change in own if change.label.startswith("other-")]
        return [*others, *(Found(change, "fails", token.start) for change in own if not change.label)]
    remedies = [change for change in own if change.label in REMEDIES]
    if (
        outcome == "fails"
        and remedies
        and not any(t.text.lower().endswith("since") for t in tokens if t.kind == "since")
    ):
        return [Found(change, "same", token.start) for change in remedies]
    if outcome == "fails" and (trying or _tries([t for t in tokens if t.start < token.start])):
        outcome = "vain"
    return [
        Found(change, "fails!" if outcome == "fails" and change.against else outcome, token.start) for change in own
    ]


def _alone(found: Found) -> Found:
    """What fails only with a change works without it."""
    return msgspec.structs.replace(found, outcome="fails!") if found.outcome == "fails" else found


def _excepted(tokens: list[Token], outcome: Token) -> int | None:
    """Where ``unless`` stands behind an outcome: only what comes after it is the change; None without it."""
    return next((t.start for t in tokens if t.value == "unless" and t.start > outcome.start), None)


def _plain(found: Found) -> Found | None:
    """A variable that is taken away is the trial of the variable turned round; other things have labels for it."""
    if not found.change.without:
        return msgspec.structs.replace(found, outcome="works") if found.outcome == "cures" else found
    turned = {"works": "fails!", "cures": "fails!", "fails": "works"}.get(found.outcome)
    change = msgspec.structs.replace(found.change, without=False)
    return None if turned is None else Found(change, turned, found.at)


def _linked(tokens: list[Token], outcome: Token, change: Token, *, first: bool, has: bool) -> bool:
    between = [token for token in tokens if outcome.end <= token.start < change.start]
    namely = [t.start for t in between if t.value == "namely"]
    stops = [t for t in between if t.kind == "break" and not (_joins(t, namely) if first else t.text in _AND)]
    if stops or (not first and _begins_anew(tokens, between, change)):
        return False
    return not has or any(token.kind in {"link", "act", "since", "before", "tried"} for token in between)


def _joins(mark: Token, namely: list[int]) -> bool:
    """True for a comma in front of what says the same in other words: ``over Ethernet, i.e. with ...``."""
    return mark.text == "," and any(0 < start - mark.end < _FEW for start in namely)


def _begins_anew(tokens: list[Token], between: list[Token], change: Token) -> bool:
    """True if a change behind a comma goes with the outcome behind it: ``fails with A, with B it works``."""
    following = next((t for t in tokens if t.start > change.start and t.kind in {"break", "out", "ellipsis"}), None)
    commas = [t.start for t in between if t.text == ","]
    links = [t.start for t in between if t.kind in {"link", "since", "before"}]
    return bool(commas and links and links[-1] > commas[-1]) and following is not None and following.kind != "break"
