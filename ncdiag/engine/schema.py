"""The contents of a rule file. Every table rejects unknown keys (`ncdiag.engine.load` suggests the intended one)."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.base.severity import Confidence, Severity
from ncdiag.engine.program import Program
from ncdiag.facts.model import What

Outcome = Literal["fired", "clear", "unknown"]

AREAS = "areas.toml"
"""The file in a folder of rules that assigns layers to its areas: ``gpu = 5``."""
WORDING = "wording.toml"
"""The file in a folder of rules with definitions that the signs of all areas share."""
EXAMPLES = ".examples.toml"
"""The ending of a file of examples, instead of the ``.toml`` of its rule."""
DEFAULT_LAYER = 50
"""The layer of a rule whose area has none."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A table of a rule file."""


class Applies(_Table, frozen=True):
    """Version constraints, such as ``nccl = ">=2.4,<2.21"``; empty admits every version."""

    nccl: str = ""


class Fix(_Table, frozen=True):
    """What to do. ``env`` values, ``text``, ``commands``, ``scope``, ``confirm`` are `ncdiag.engine.templates`.

    ``when``: conditions on the names that the rule binds; the fix is left out if one is false. ``workaround``: it hides
    the fault, or costs speed, and does not cure it. ``confirm``: how to see afterwards that it worked. The name ``*``
    in ``env`` means all assignments that its value lists. ``tried``: labels of what people report to have tried when
    they applied it (``no-firewall``; the labels of `ncdiag.parsers.user_text.changes`).
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
    """The title of instances for which all of ``when`` is true, instead of the rule's; their ``role``, if different."""

    when: tuple[str, ...]
    text: str
    role: Literal["cause", "symptom"] | None = None


class Ask(_Table, frozen=True):
    """What would settle a rule that could not be judged: the fact that is ``missing`` and the output to ``ask_for``.

    ``about``: a path that the rule reads; the output is requested only while a condition with that path is unknown.
    """

    missing: str
    ask_for: str
    about: str = ""


class Suspect(_Table, frozen=True):
    """Declares that the cause is worth suspecting if no cause is proved.

    ``text``: the cause in a sentence without values from the input. ``prior``: how often it is the cause of its
    complaint. ``complaints``: the complaints that it causes; a job with other complaints counts against it. ``ask``: a
    yes-or-no question to a person; yes speaks for it and no against it. ``signals``: the signals by which it ends a
    process; a process that another signal ended has another cause.
    """

    text: str
    prior: Literal["common", "uncommon", "rare"] = "uncommon"
    complaints: tuple[What, ...] = ()
    ask: str = ""
    signals: tuple[Literal["SIGKILL", "SIGBUS", "SIGSEGV", "SIGILL", "SIGFPE"], ...] = ()


Strength = Literal["decisive", "strong", "moderate", "weak"]
"""How strong the evidence of a sign is."""


class Sign(_Table, frozen=True):
    """Evidence for a suspect, or ``against`` it.

    ``says``: phrases (`ncdiag.engine.phrases`), one of which is in a line of the input; ``also``: phrases, one of which
    is in the same or another line; ``when``: conditions on ``job``, all true. Omitted parts are not required. ``text``:
    the sentence that the report prints. ``name``: the key of the sign in the file of examples and in those of other
    languages; without it they use the text. ``group``: of the signs of a suspect in one group, and of those with the
    same evidence, only the strongest counts. ``ask``: the output, or the run to make, that settles the sign.
    ``example``: a text for which it is true; ``unlike``: a similar text for which it is false.
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
        """The key of the sign in other files: its name, else its text."""
        return self.name or self.text


class Example(_Table, frozen=True):
    """A text on which the rule is tested. ``sections``: texts by section kind (in a file they are next to ``name``)."""

    name: str
    outcome: Outcome
    host: str | None = None
    sections: dict[str, tuple[str, ...]] = {}


class Rule(_Table, frozen=True):
    """One fault. ``when``: all true; ``unless``: none true; ``each`` binds names to facts before both are evaluated.

    A rule without conditions never becomes a finding, only a suspect. ``layer``: lower is closer to the hardware; by
    default the layer of the area (`AREAS`); it decides between findings that are otherwise equal. ``strength``: what
    the conditions prove. ``cells``: objects with reasons that a line of this cause names (`ncdiag.cells`), with weights
    from 1 to 3. ``titles``: the first matching case gives the title, else ``title``. ``effect``: ``job`` if
    the fault also shows on other hosts. ``broken``: the finding is a failure by itself, a part that does not work,
    whether or not a job was affected. ``group``: instances with the same value of this text are one finding (default:
    of the title). ``floor``: judged last, on what no other finding rests on. ``explains``: names of the rules whose
    findings are consequences of this fault. ``echo``: a symptom that only says that something failed, so that every
    cause of severity error explains it if they share a place. ``leaves``: the minimum share of a bandwidth that this
    fault leaves; a lower result has another cause. ``complaint``: the failure of a symptom, in the words of people.
    ``restart``: what a restart of the job meets: the same fault (``fix``), none (``transient``), or none on other hosts
    (``hosts``, a broken part of a machine). ``suspect`` and ``signs``: what makes it likely if nothing is proved.
    ``program`` is computed by the loader from the conditions; it is not written in files.
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
    references: tuple[str, ...] = ()
    strength: Confidence = "likely"
    effect: Literal["host", "job"] = "host"
    echo: bool = False
    leaves: float = 0.0
    broken: bool = False
    floor: bool = False
    complaint: What | None = None
    restart: Literal["fix", "transient", "hosts"] = "fix"
    group: str = ""
    asks: tuple[Ask, ...] = ()
    suspect: Suspect | None = None
    signs: tuple[Sign, ...] = msgspec.field(default=(), name="sign")
    fixes: tuple[Fix, ...] = msgspec.field(default=(), name="fix")
    examples: tuple[Example, ...] = msgspec.field(default=(), name="example")
    cells: tuple[tuple[str, str, int], ...] = ()
    program: Program | None = None
