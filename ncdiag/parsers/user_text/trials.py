"""What a sentence tells of trials: which change goes with which outcome.

A change comes before its outcome (``with X it hangs``) or behind it (``hangs with X``), in the latter case without a
comma between. An outcome without a change mentions the one that was told just before.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model.told import RELEASED
from ncdiag.parsers.user_text import measures, releases
from ncdiag.parsers.user_text.changes import CHANGES, DONE, LESS_MORE, REMEDIES
from ncdiag.parsers.user_text.moods import holds, segments, split_question, without_quotes, without_reasons
from ncdiag.parsers.user_text.naming import Change, Naming
from ncdiag.parsers.user_text.outcomes import INVERSE, OUTCOMES
from ncdiag.parsers.user_text.results import outcomes_of
from ncdiag.parsers.user_text.words import Lexer, Token

LEXER = Lexer("words-of-trials", (*OUTCOMES, *CHANGES))
_REGRESSED = {"fails": "since", "works": "before"}
_ADVICE = lazy_regex(
    r"thought|expected|believed|hoped|suggest|recommend|advis|\bsa(?:id|ys)\b|\btold\b|建议", re.IGNORECASE
)
_SO_DID = "so did"
_INSTEAD = lazy_regex(r"\b(?:instead\sof|rather\sthan)\s(?:\w+\s)?$", re.IGNORECASE)
_THAN = lazy_regex(
    r"\b(?:than|compared\s(?:to|with)|versus|vs\.?)\s(?:(?:with|on|in|for|using|under|that\sof|the|previous|what\swe\sget)\s){0,3}$",
    re.IGNORECASE,
)
_ONLY = lazy_regex(r"\bonly\s$", re.IGNORECASE)
_ONLY_WITH = lazy_regex(r"\bonly\s(?:when|with|if|on|in|for|under)\s(?:\w+\s){0,2}\W?$", re.IGNORECASE)
_CONDITION = lazy_regex(r"[\s*_]*(?:only\s|just\s)?(?:when|if|unless|as\ssoon\sas|whenever)\b", re.IGNORECASE)
_NEAR = 40
_COMMAND = lazy_regex(
    r"\b(?:(?:mpirun|mpiexec|torchrun|srun)\s+-|python3?\s+(?:-\w|\S+\.py\b))[^`#]*?(?=`|#|$|,\s|\s(?:work|hang|fail|crash|is|do|does|did|and)(?:s|es"
    r"|n't)?\b)|\s\./\S+",
    re.IGNORECASE,
)
_SIZE = lazy_regex(r"-np?\s\d+|--n(?:proc[-_]per[-_]node|nodes)[\s=]\d+|-g\s\d+")
_YES = lazy_regex(r"\W*(?:yes|yep|yeah|it\sdo(?:es)?|it\sdid|是的|有用|可以)\b", re.IGNORECASE)
_NO = lazy_regex(
    r"\W*(?:no(?!\s(?:idea|clue))|nope|it\sdo(?:es)?(?:n't|\snot)|it\sdid(?:n't|\snot)|没有|不行)\b", re.IGNORECASE
)
_ANSWERS = lazy_regex(
    r"\W*(?:(?:yes|yep|no|nope|(?:i|we)\sdid|did|done|tried|ran\sit|a:"
    r"|(?:that|this)(?:\s\w+)?\s(?:work|fix|help|solv|did)\w*)\b|试过)",
    re.IGNORECASE,
)
_REFUSES = lazy_regex(r"\W*(?:(?:no|nope)\W+)?(?:i|we)\s(?:did|have|can|could|do)(?:n'?t|not|\snot)\b", re.IGNORECASE)
_ALIKE = lazy_regex(
    r"[\s,/&+`\"'()]*(?:(?:and|or|nor|as\swell\sas)\b|[和或与、])?[\s`\"'(]*(?:(?:on|in|with|even)\b)?[\s`\"'(]*",
    re.IGNORECASE,
)
"""What is between changes that are told in one breath."""
_BACK = lazy_regex(r"\bwith(?:out)?\s(?:it|that|this)\b", re.IGNORECASE)
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
        self._listing = self._trying = self._touched = False
        self.measures: list[measures.Measure] = []

    def read(self, text: str, *, is_item: bool = False) -> list[Found]:
        """The trials of a sentence, which may be an item of a list."""
        self.measures = []
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
        bare = _COMMAND.sub(_size_alone, text) if "-" in text or "./" in text else text
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
        self.measures += measures.read(bare, [(c, t) for c, t in changes if c.unit in RELEASED or "=" in c.label])
        outcomes, self._base = outcomes_of(tokens, bare, self._base, self._said)
        self._said = outcomes[-1][1] if outcomes else self._said
        instead = [(c, t) for c, t in changes if _INSTEAD.search(bare, 0, t.start)]
        than = [(c, t) for c, t in changes if _THAN.search(bare, 0, t.start)]
        changes = [(c, t) for c, t in changes if (c, t) not in instead and (c, t) not in than]
        result: list[Found] = []
        used: set[int] = set()
        before = 0
        for place, (token, outcome) in enumerate(outcomes):
            until = outcomes[place + 1][0].start if place + 1 < len(outcomes) else len(bare)
            ahead = [(c, t) for i, (c, t) in enumerate(changes) if before <= t.start < token.start and i not in used]
            behind = _following(changes, tokens, (token, until), bare, used, has=bool(ahead))
            before_this, before = before, token.end
            shared = _of_one_breath(ahead, bare)
            apart = _excepted(tokens, token)
            shared = [(c, t) for c, t in shared if apart is None or t.start > apart]
            own = [change for change, _ in (*shared, *behind)]
            if shared and _ONLY.search(bare, before_this, shared[0][1].start):
                result += [Found(c, INVERSE.get(outcome, ""), token.start) for c, _ in ahead if c not in own]
            back = _back(tokens, token, (before_this, until), alone=not own)
            if back is not None or not own:
                own = self._spoken_of(back, changes, token, outcome, bare if place == 0 else "")
            if back is not None and back.value == "off" and not own and (label := DONE.get(thing, {}).get("off")):
                own = [Change(label)]
            own = releases.of_onset(own, self._unit, bare[: token.start]) if token.value == "onset" else own
            own, compared = _against(own, [change for change, _ in instead])
            result += [Found(change, INVERSE.get(outcome, ""), token.start) for change in compared if own]
            if token.text.lower().startswith(_SO_DID):
                own, result = [found.change for found in result], []
            tried = _tried(own, outcome, token, tokens, trying=self._trying and self._listing)
            alone = {c for c, t in behind if _ONLY_WITH.search(bare, max(token.end, t.start - _NEAR), t.start)}
            result += [_alone(each) if each.change in alone else each for each in tried]
            result += [Found(c, said, token.start) for c, said in releases.than(outcome, own, [c for c, _ in than])]
        is_open = bool(changes) and (not outcomes or any(token.kind == "tried" for token in tokens))
        if changes or outcomes:
            self._touched = True
            tries = any(token.kind == "tried" for token in tokens)
            open_to = [change for change, _ in changes if change.label or tries]
            self._pending = open_to if is_open and not result else []
        return [found for found in map(_plain, result) if found is not None and found.outcome]

    def _spoken_of(
        self, back: Token | None, changes: list[tuple[Change, Token]], token: Token, outcome: str, text: str
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
            and outcome in {"same", "works", "fails", "other", "cures"}
            and not token.value.startswith("weak")
        )
        return [c for c in self._pending if outcome != "fails" or c.label not in REMEDIES] if says else []


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


def _moved(found: Found, by: int) -> Found:
    return msgspec.structs.replace(found, at=found.at + by)


def _elsewhere(found: list[Found]) -> list[Found]:
    """What cured it, so that now something else fails."""
    return [msgspec.structs.replace(each, outcome="other") if each.outcome == "works" else each for each in found]


def _against(own: list[Change], instead: list[Change]) -> tuple[list[Change], list[Change]]:
    """Numbers that are told beside those that they stand instead of, as fewer or more; and what else was instead."""
    before = {change.unit: change for change in instead if change.number}
    told = [
        Change(LESS_MORE[c.unit][c.number > before[c.unit].number]) if c.number and c.unit in before else c for c in own
    ]
    units = {change.unit for change in own if change.number}
    return told, [change for change in instead if change.unit not in units or not change.number]


def _size_alone(command: re.Match[str]) -> str:
    """Blanks in place of a command; what it says of the number of GPUs or hosts stays, if that is one number."""
    sizes = list(_SIZE.finditer(command[0]))
    size = sizes[0] if len(sizes) == 1 else None
    blanks = " " * len(command[0])
    return blanks if size is None else blanks[: size.start()] + size[0] + blanks[size.end() :]


def _tries(tokens: list[Token]) -> bool:
    return any(token.value == "try" for token in tokens)


def _of_one_breath(changes: list[tuple[Change, Token]], text: str) -> list[tuple[Change, Token]]:
    """Of changes before an outcome those that share it: of two values of one thing, told apart, the last."""
    kept: list[tuple[Change, Token]] = []
    for change, token in changes:
        if kept and _of_one_thing(kept[-1][0], change) and not _ALIKE.fullmatch(text, kept[-1][1].end, token.start):
            kept = [(c, t) for c, t in kept if not _of_one_thing(c, change)]
        kept.append((change, token))
    return kept


def _of_one_thing(one: Change, other: Change) -> bool:
    named = one.label.partition("=")[0] == other.label.partition("=")[0]
    return one.unit == other.unit if one.unit or other.unit else named


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
    if outcome == "fails" and remedies:
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
    stops = [t for t in between if t.kind == "break" and not (t.text in {"and", ",", "、"} and not first)]
    if stops or (not first and _begins_anew(tokens, between, change)):
        return False
    return not has or any(token.kind in {"link", "act", "since", "before", "tried"} for token in between)


def _begins_anew(tokens: list[Token], between: list[Token], change: Token) -> bool:
    """True if a change behind a comma goes with the outcome behind it: ``fails with A, with B it works``."""
    following = next((t for t in tokens if t.start > change.start and t.kind in {"break", "out", "ellipsis"}), None)
    commas = [t.start for t in between if t.text == ","]
    links = [t.start for t in between if t.kind in {"link", "since", "before"}]
    return bool(commas and links and links[-1] > commas[-1]) and following is not None and following.kind != "break"
