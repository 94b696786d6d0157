"""The report: what a diagnosis answers, in the shape in which it is printed as JSON.

The field names are a promise to tools: they change only together with ``SCHEMA_VERSION``. Adding a field is allowed.
Texts come from the input and are hostile; the renderers sanitise them, nobody else has to.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.base.severity import Confidence, Severity
from ncdiag.facts.model import OrderedBy, Step
from ncdiag.report.differences import Beside, Change, Comparison

SCHEMA_VERSION = 1
EVIDENCE_LIMIT = 5
"""Pieces of evidence that a finding shows; ``evidence_count`` tells how many there are."""

Role = Literal["cause", "symptom", "risk"]
Verdict = Literal[
    "root-cause", "failed-cause-not-here", "complaint-nothing-seen", "risk-only", "healthy-as-far-as-seen",
    "nothing-understood",
]  # fmt: skip
FixKind = Literal["env", "unset", "command", "config", "hardware", "ask_admin"]
Likelihood = Literal["very likely", "likely", "possible"]
Risk = Literal["none", "low", "medium", "high"]
Status = Literal["PASS", "WARN", "FAIL", "SKIP"]
ProofState = Literal["proved", "not-simulated", "refuted"]


class Part(msgspec.Struct, frozen=True):
    """Base of the parts of a report."""


class Tool(Part, frozen=True):
    """The program that answered."""

    name: str
    version: str


class SectionRef(Part, frozen=True):
    """A stretch of an input that was recognised; lines count from 1 and both ends belong to it."""

    kind: str
    first_line: int
    last_line: int
    host: str | None = None


class Input(Part, frozen=True):
    """One source, with the lines it has and how many of them nobody understood.

    ``notes`` are sentences about the reading: cut at the size limit, binary parts left out, unreadable.
    """

    source: str
    sections: tuple[SectionRef, ...] = ()
    lines: int = 0
    unread_lines: int = 0
    notes: tuple[str, ...] = ()


class Summary(Part, frozen=True):
    """The answer in one glance.

    ``root_cause`` is the name of ``findings[0]`` when that is a cause. ``not_looked_at`` are phrases that name what
    this input could not show. ``hosts`` is folded (``node[1-3]``); ``nhosts``, ``nranks`` and ``nccl_version`` (as
    printed, or its range) are None when unknown.
    """

    verdict: Verdict
    root_cause: str | None = None
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    not_looked_at: tuple[str, ...] = ()
    hosts: str = ""
    nhosts: int | None = None
    nranks: int | None = None
    nccl_version: str | None = None


class Evidence(Part, frozen=True):
    """A line that a finding rests on; ``line`` counts from 1, 0 means a value read from the running system."""

    source: str
    line: int
    text: str


class Complaint(Part, frozen=True):
    """What goes wrong: ``what`` in a word (``hangs``, ``slow`` ...), ``text`` a sentence about it.

    ``told``: a person says so, and ``text`` is theirs; else the input shows it. ``phase`` is how far the job had come
    then (``bootstrap``, ``first-collective`` ...), ``where`` names ranks and hosts, empty where nobody
    does; ``scope`` is what a person says of it (``multi-host``).
    """

    what: str
    text: str
    evidence: tuple[Evidence, ...] = ()
    told: bool = True
    phase: str | None = None
    where: str = ""
    scope: str = ""


class Told(Part, frozen=True):
    """What a person says: ``text`` is the line.

    ``kind`` is what came of a trial (``works``, ``unchanged`` ...) and ``label`` the change, or ``kind`` is ``wants``
    and ``label`` what for, or ``kind`` says what of the place is named (``cloud``) and ``label`` its name.
    """

    kind: str
    label: str
    text: str
    evidence: tuple[Evidence, ...] = ()


class Proof(Part, frozen=True):
    """Whether NCCL's own choice, simulated with the fix applied, comes out right.

    ``text`` says what NCCL would choose then, or why that could not be simulated.
    """

    state: ProofState
    text: str


class Fix(Part, frozen=True):
    """A remedy.

    ``env`` and ``unset`` are variables (a value that cannot be computed from the input is null, and ``text`` says what
    to paste); ``commands`` maps a launcher (``export``, ``mpirun``, ``docker``, ``shell``) to the lines to paste;
    ``confirm`` says how to see that it worked; ``applies_to`` the NCCL versions it is for, when not all (``>=2.21``).
    """

    kind: FixKind
    text: str
    scope: str = "all hosts"
    risk: Risk = "low"
    workaround: bool = False
    env: dict[str, str | None] = {}
    unset: tuple[str, ...] = ()
    commands: dict[str, str] = {}
    confirm: str | None = None
    proof: Proof | None = None
    applies_to: str | None = None


class Wanted(Part, frozen=True):
    """What would tell more of a symptom: the fact that is ``missing``, and the output to ``ask_for``."""

    missing: str
    ask_for: str


class Finding(Part, frozen=True):
    """A rule that fired.

    ``hosts`` and ``ranks`` are folded (``node[1-3]``, ``0-7,16``), empty when the finding has none. ``explained_by``
    and ``consequences`` are names of other findings; ``formerly`` older names of this one. ``evidence`` holds at most
    ``EVIDENCE_LIMIT`` lines, ``evidence_count`` how many there are. ``not_offered`` are fixes that the simulation
    refuted, each with its reason. ``asks``, of a symptom that nothing explains: what its rule would look at next.
    """

    code: str
    name: str
    severity: Severity
    role: Role
    confidence: Confidence
    title: str
    why: str = ""
    formerly: tuple[str, ...] = ()
    hosts: str = ""
    nhosts: int = 0
    ranks: str = ""
    nranks: int = 0
    evidence: tuple[Evidence, ...] = ()
    evidence_count: int = 0
    fixes: tuple[Fix, ...] = ()
    explained_by: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    not_offered: tuple[str, ...] = ()
    asks: tuple[Wanted, ...] = ()


class Sign(Part, frozen=True):
    """Something that speaks for or against a suspect, with the lines that show it."""

    text: str
    strength: str
    evidence: tuple[Evidence, ...] = ()


class Question(Part, frozen=True):
    """What would tell the suspects apart: an output to paste or a run to make (``ask``), and what it shows (``text``).

    A text that ends with a question mark can be answered with yes or no; without ``ask`` it can only be so. ``key``
    names the question; ``run``: a variable to set for one run. ``speaks_for``: suspects that a yes makes likelier.
    """

    key: str
    ask: str
    text: str
    run: bool = False
    speaks_for: tuple[str, ...] = ()


class Suspect(Part, frozen=True):
    """A cause that is likely and not proved.

    ``open``: what the input does not tell; ``decide``: what would settle it.
    """

    code: str
    name: str
    title: str
    likelihood: Likelihood
    formerly: tuple[str, ...] = ()
    why: str = ""
    supporting: tuple[Sign, ...] = msgspec.field(default=(), name="for")
    against: tuple[Sign, ...] = ()
    open: tuple[str, ...] = ()
    decide: tuple[Question, ...] = ()
    fixes: tuple[Fix, ...] = ()
    references: tuple[str, ...] = ()


class Unknown(Part, frozen=True):
    """A rule that could not be judged: ``missing`` facts, ``ask_for`` the commands whose output would settle it."""

    code: str
    name: str
    missing: tuple[str, ...] = ()
    ask_for: tuple[str, ...] = ()


class Conflict(Part, frozen=True):
    """Two sources disagree on a field; ``kept`` is None when they had equal standing and the field is unknown."""

    entity: str
    field: str
    values: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    kept: str | None = None


class Moment(Part, frozen=True):
    """A point of the job's end.

    ``what``: the ``first-failure``, who was ``first-to-give-up`` waiting, the ``first-end`` of a process, or the
    ``last`` that some ranks did.
    ``time`` is in seconds since the epoch, with the clocks of the hosts set right where that was possible.
    ``ordered_by``: ``time``, ``line`` (the order within one source), ``wait`` (the others only gave up waiting), or
    ``none``: it is one of several first lines of which nobody can tell which came first.
    """

    what: Step
    who: str
    text: str
    ordered_by: OrderedBy
    time: float | None = None
    evidence: tuple[Evidence, ...] = ()


class NextStep(Part, frozen=True):
    """What to do next.

    ``do``: ``confirm`` that a fix helped, ``paste`` the output of ``run``, ``run`` the job with it, or ``answer`` a
    question. ``text`` is what it is good for; ``run`` is empty where the text says all.
    """

    do: Literal["confirm", "paste", "run", "answer"]
    run: str
    text: str


class RuledOut(Part, frozen=True):
    """What the input shows not to be the cause: ``what``, ``because`` of what."""

    what: str
    because: str
    evidence: tuple[Evidence, ...] = ()


class Look(Part, frozen=True, kw_only=True):
    """A line of the table of ``check``: what was looked at on ``host`` (empty: on all together) and what it came to.

    Hosts that came to the same are one line: ``host`` is folded (``node[1-3]``), ``nhosts`` counts them.

    ``PASS`` only where something was seen and a rule compared it, ``SKIP`` where not, for the reason in ``why``; beside
    a ``WARN`` or ``FAIL`` that is what is wrong. ``findings`` are the names of those that rest on it, notes as well.
    """

    area: str
    what: str
    status: Status
    host: str = ""
    seen: str = ""
    expected: str = ""
    why: str = ""
    findings: tuple[str, ...] = ()
    nhosts: int = 0


class Side(Part, frozen=True, kw_only=True):
    """One of two inputs: its ``source``, what was read of it, and what it came to."""

    source: str
    verdict: Verdict
    hosts: str = ""
    nhosts: int = 0
    nranks: int | None = None
    nccl_version: str | None = None


class Difference(Part, frozen=True, kw_only=True):
    """The answer of ``ncdiag diff``: ``before`` and ``after`` are the two inputs, see `Beside` for the rest.

    ``matters``: one of the changes is of high or medium weight.
    """

    schema_version: int = SCHEMA_VERSION
    tool: Tool
    before: Side
    after: Side
    matters: bool = False
    changes: tuple[Change, ...] = ()
    equal: int = 0
    one_sided: int = 0


class Report(Part, frozen=True, kw_only=True):
    """The whole answer. ``findings`` holds all that fired, roots first; ``findings[0]`` leads.

    ``answers`` are the names of findings and suspects in the order in which a report shows them: causes, suspects,
    symptoms, risks, notes. There are ``suspects`` only where no finding names what is to be fixed.
    ``timeline``: who failed first, where several ranks or hosts speak and something failed.
    ``ruled_out``: where something goes wrong, what its cause is not.
    ``faults``: what ncdiag itself failed at, and left out. ``looks``: every look at a machine, where ``check`` asked.
    ``comparison``: in what several hosts differ, ``alike`` in how many things they do not, where ``check`` asked.
    ``baseline``: what differs from a saved state. ``expired``: sentences about standing orders that hold no more.
    ``next_steps``: what to do next, the most useful first.
    """

    schema_version: int = SCHEMA_VERSION
    tool: Tool
    inputs: tuple[Input, ...] = ()
    summary: Summary
    findings: tuple[Finding, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    complaints: tuple[Complaint, ...] = ()
    timeline: tuple[Moment, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    told: tuple[Told, ...] = ()
    faults: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    comparison: tuple[Comparison, ...] = ()
    alike: int = 0
    baseline: Beside | None = None
    expired: tuple[str, ...] = ()
    next_steps: tuple[NextStep, ...] = ()
