"""What a rule file may hold. Every table refuses keys it does not know (`ncdiag.engine.load` says which was meant)."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.base.severity import Confidence, Severity
from ncdiag.engine.program import Program
from ncdiag.facts.model import What

Outcome = Literal["fired", "clear", "unknown"]

AREAS = "areas.toml"
"""The file of a folder of rules that gives its areas their layers: ``gpu = 5``."""
WORDING = "wording.toml"
"""The file of a folder of rules with what the signs of all areas share."""
EXAMPLES = ".examples.toml"
"""What the name of a file of examples ends in, in place of the ``.toml`` of its rule."""
DEFAULT_LAYER = 50
"""The layer of a rule whose area has none."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A table of a rule file."""


class Applies(_Table, frozen=True):
    """Version constraints, such as ``nccl = ">=2.4,<2.21"``; empty admits every version."""

    nccl: str = ""


class Fix(_Table, frozen=True):
    """What to do. ``env`` values, ``text``, ``commands``, ``scope``, ``confirm`` are `ncdiag.engine.templates`.

    ``when``: conditions over the names that the rule binds; the fix is left out when one is false. ``workaround``: it
    hides the fault, or pays for it with speed, and does not cure it. ``confirm``: what shows afterwards that it worked.
    The name ``*`` in ``env`` stands for all assignments that its value lists. ``tried``: what people who
    did it are read to have tried (``no-firewall``; the labels of `ncdiag.parsers.user_text.changes`).
    """

    kind: Literal["env", "unset", "command", "config", "hardware", "ask_admin"]
    env: dict[str, str] = {}
    unset: tuple[str, ...] = ()
    text: str = ""
    commands: tuple[str, ...] = ()
    applies: Applies = Applies()
    when: tuple[str, ...] = ()
    scope: str = ""
    risk: Literal["none", "low", "medium", "high"] = "low"
    confirm: str = ""
    workaround: bool = False
    tried: tuple[str, ...] = ()


class Case(_Table, frozen=True):
    """The title of instances of which all ``when`` is true, in place of the rule's own; their ``role``, if another."""

    when: tuple[str, ...]
    text: str
    role: Literal["cause", "symptom"] | None = None


class Ask(_Table, frozen=True):
    """What would settle a rule that could not be judged: the fact that is ``missing`` and the output to ``ask_for``.

    ``about``: a path that the rule reads; the output is asked for only while a condition with that path is open.
    """

    missing: str
    ask_for: str
    about: str = ""


class Suspect(_Table, frozen=True):
    """Says that the cause is worth suspecting where nothing proves one.

    ``text``: the cause in a sentence that names nothing of the input. ``prior``: how often it is the cause where its
    complaint is. ``complaints``: what people who have it complain of; a job that does
    something else counts against it. ``ask``: a question that a person answers with yes or no, of which yes speaks for
    it and no against it.
    """

    text: str
    prior: Literal["common", "uncommon", "rare"] = "uncommon"
    complaints: tuple[What, ...] = ()
    ask: str = ""


Strength = Literal["decisive", "strong", "moderate", "weak"]
"""How much a sign says."""


class Sign(_Table, frozen=True):
    """Something that speaks for a suspect, or ``against`` it.

    ``says``: phrases (`ncdiag.engine.phrases`), one of which is in a line of the input; ``also``: phrases one of which
    is in the same or another line; ``when``: conditions on ``job``, all true. What is not given is not asked for.
    ``text``: the sentence that the report prints. ``name``: what the file of examples and those of other languages call
    the sign; without it they use the text. ``group``: of the signs of a suspect with one group, and of those
    with the same evidence, the strongest counts. ``ask``: the output, or the run to make, that settles the sign.
    ``example``: a text in which it is true; ``unlike``: one that looks like it, in which it is not.
    """

    text: str
    name: str = ""
    strength: Strength = "moderate"
    says: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    against: bool = False
    group: str = ""
    ask: str = ""
    example: str = ""
    unlike: str = ""

    @property
    def key(self) -> str:
        """What other files call the sign: its name, or its text where it has none."""
        return self.name or self.text


class Example(_Table, frozen=True):
    """Text that the rule is tried on. ``sections``: section kind to texts (in a file they are beside ``name``)."""

    name: str
    outcome: Outcome
    host: str | None = None
    sections: dict[str, tuple[str, ...]] = {}


class Rule(_Table, frozen=True):
    """One fault. ``when``: all true; ``unless``: none true; ``each`` binds names to facts before both.

    A rule without conditions is never a finding, only a suspect.
    ``layer``: lower is closer to the hardware; the layer of the area (`AREAS`) where the file says nothing.
    ``before``: rules of the same severity and layer whose findings are printed after those of this one.
    ``strength``: what the conditions prove.
    ``titles``: the first case that is true gives the title, else ``title`` does.
    ``effect``: ``job`` when the fault shows on other hosts as well. ``broken``: what it finds is a failure by itself, a
    part that does not work, whether or not a job was hit by it. ``group``: instances with the same text of it are one
    finding (default: of the title). ``floor``: judged last, of what no other finding rests on. ``explains``: names of
    the rules whose findings are consequences of this fault. ``echo``: a symptom that only says that something failed,
    so that every cause of severity error explains it where they touch. ``leaves``: the share of a bandwidth that this
    fault leaves at the very least; what reaches less has another cause. ``complaint``: what goes wrong where a symptom
    is found, in the word of people. ``suspect`` and ``signs``: what makes it likely where nothing is proved.
    ``program`` and ``place`` are what the loader makes of the conditions and of the order of all rules
    (`ncdiag.engine.order`); neither is written in a file.
    """

    code: str
    name: str
    area: str
    severity: Severity
    role: Literal["cause", "symptom"]
    title: str
    why: str
    when: tuple[str, ...] = ()
    layer: int = DEFAULT_LAYER
    applies: Applies = Applies()
    each: dict[str, str] = {}
    titles: tuple[Case, ...] = ()
    unless: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    false_positives: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    strength: Confidence = "likely"
    effect: Literal["host", "job"] = "host"
    echo: bool = False
    leaves: float = 0.0
    broken: bool = False
    floor: bool = False
    complaint: What | None = None
    group: str = ""
    asks: tuple[Ask, ...] = ()
    suspect: Suspect | None = None
    signs: tuple[Sign, ...] = msgspec.field(default=(), name="sign")
    fixes: tuple[Fix, ...] = msgspec.field(default=(), name="fix")
    examples: tuple[Example, ...] = msgspec.field(default=(), name="example")
    program: Program | None = None
    place: int = 0
