"""The report: the result of a diagnosis, in the structure in which it is printed as JSON.

The field names are a stable interface: they change only together with ``SCHEMA_VERSION``. Fields may be added.
Texts come from the input and are untrusted; only the renderers sanitise them.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.base.severity import Actor, Confidence, Scope, Severity
from ncdiag.facts.model import OrderedBy, Step
from ncdiag.report.accounts import Communicators
from ncdiag.report.counted import Counted
from ncdiag.report.differences import Beside, Change, Comparison
from ncdiag.report.period import Changed, Window
from ncdiag.report.restart_word import Restart

SCHEMA_VERSION = 1
EVIDENCE_LIMIT = 5
"""Maximum number of pieces of evidence of a finding; ``evidence_count`` is the total."""

Role = Literal["cause", "symptom", "risk"]
Verdict = Literal[
    "root-cause", "failed-cause-not-here", "complaint-nothing-seen", "risk-only", "healthy-as-far-as-seen",
    "nothing-understood",
]  # fmt: skip
FixKind = Literal["env", "unset", "command", "config", "hardware", "ask_admin"]
Likelihood = Literal["very likely", "likely", "possible", "unlikely"]
Risk = Literal["none", "low", "medium", "high"]
Status = Literal["PASS", "WARN", "FAIL", "SKIP"]
ProofState = Literal["proved", "not-simulated", "refuted"]


class Part(msgspec.Struct, frozen=True):
    """Base of the parts of a report."""


class Tool(Part, frozen=True):
    """The program that made the report."""

    name: str
    version: str


class SectionRef(Part, frozen=True):
    """A section of an input that was recognised; lines count from 1, both ends are included."""

    kind: str
    first_line: int
    last_line: int
    host: str | None = None


class Input(Part, frozen=True):
    """One source, with its number of lines and the number of those not understood.

    ``notes`` are sentences about the reading: cut at the size limit, binary parts left out, unreadable.
    """

    source: str
    sections: tuple[SectionRef, ...] = ()
    lines: int = 0
    unread_lines: int = 0
    notes: tuple[str, ...] = ()


class Summary(Part, frozen=True):
    """The answer in short.

    ``root_cause`` is the name of ``findings[0]`` if that is a cause. ``not_looked_at`` are phrases that name what this
    input could not show. ``hosts`` is folded (``node[1-3]``); ``nhosts``, ``nranks`` and ``nccl_version`` (as printed,
    or its range) are None if unknown.
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
    """A line on which a finding rests; ``line`` counts from 1, 0 means a value read from the running system."""

    source: str
    line: int
    text: str


class Complaint(Part, frozen=True):
    """What goes wrong: ``what`` in a word (``hangs``, ``slow`` ...), ``text`` a sentence about it.

    ``told``: a person says so, and ``text`` is the person's sentence; else the input shows it. ``phase`` is how far the
    job had come (``bootstrap``, ``first-collective`` ...), ``where`` names ranks and hosts, empty if unknown; ``scope``
    is the extent that a person gives (``multi-host``).
    """

    what: str
    text: str
    evidence: tuple[Evidence, ...] = ()
    told: bool = True
    phase: str | None = None
    where: str = ""
    scope: str = ""


class Told(Part, frozen=True):
    """A statement of a person: ``text`` is the line.

    ``kind`` is the result of a trial (``works``, ``unchanged`` ...) and ``label`` the change that was tried, or
    ``decides`` where the words in which a person names the better run are all that is known of it; or
    ``kind`` is ``wants`` and ``label`` the wish; or ``kind`` is a property of the environment (``cloud``) and ``label``
    its name.
    """

    kind: str
    label: str
    text: str
    evidence: tuple[Evidence, ...] = ()


class Proof(Part, frozen=True):
    """The result of simulating NCCL's choice with the fix applied.

    ``text`` says what NCCL would choose, or why that could not be simulated.
    """

    state: ProofState
    text: str


class Fix(Part, frozen=True):
    """A remedy.

    ``env`` and ``unset`` are variables (a value that cannot be computed from the input is null, and ``text`` says what
    to paste); ``commands`` maps a launcher (``export``, ``mpirun``, ``docker``, ``shell``) to the lines to paste;
    ``confirm`` says how to see that it worked; ``applies_to`` the NCCL versions it is for, if not all (``>=2.21``).
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
    """Input that would give more information on a symptom: the ``missing`` fact, and the output to ``ask_for``."""

    missing: str
    ask_for: str


class Finding(Part, frozen=True):
    """A rule that fired.

    ``hosts`` and ``ranks`` are folded (``node[1-3]``, ``0-7,16``), empty if the finding has none. ``explained_by`` and
    ``consequences`` are names of other findings; ``formerly`` older names of this one. ``evidence`` holds at most
    ``EVIDENCE_LIMIT`` lines, ``evidence_count`` is the total. ``not_offered`` are fixes that the simulation refuted,
    each with its reason. ``asks``, for a symptom that nothing explains: the input that its rule asks for.
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
    """Evidence for or against a suspect, with the lines that show it."""

    text: str
    strength: str
    evidence: tuple[Evidence, ...] = ()


class Question(Part, frozen=True):
    """What would separate the suspects: an output to paste or a run to make (``ask``), and what it shows (``text``).

    A text that ends with a question mark can be answered with yes or no; without ``ask`` there is no other answer.
    ``key`` identifies the question; ``run``: a variable to set for one run. ``speaks_for``: suspects that a yes makes
    likelier.
    """

    key: str
    ask: str
    text: str
    run: bool = False
    speaks_for: tuple[str, ...] = ()


class Suspect(Part, frozen=True):
    """A cause that is likely but not proved.

    ``is_tied``: the next answer is as likely. ``open``: signs that are unknown from the input; ``decide``: what would
    settle them.
    """

    code: str
    name: str
    title: str
    likelihood: Likelihood
    is_tied: bool = False
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
    """Two sources disagree on a field; ``kept`` is None if both are equally reliable, so that the field is unknown."""

    entity: str
    field: str
    values: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()
    kept: str | None = None


class Moment(Part, frozen=True):
    """An event at the end of a job.

    ``what``: the ``first-failure``, which rank was ``first-to-give-up`` waiting, the ``first-end`` of a process, or the
    ``last`` action of some ranks. ``time`` is in seconds since the epoch, with the clocks of the hosts corrected where
    possible. ``ordered_by``: ``time``, ``line`` (the order within one source), ``wait`` (the others only gave up
    waiting), or ``none``: it is one of several first lines whose order is unknown.
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
    question. ``text`` is its purpose; ``run`` is empty if the text says everything.
    """

    do: Literal["confirm", "paste", "run", "answer"]
    run: str
    text: str


class RuledOut(Part, frozen=True):
    """A cause that the input rules out: ``what``, and the reason ``because``.

    ``name``: the rule of a candidate that would have been reported otherwise; empty if it is about a part as a whole.
    """

    what: str
    because: str
    evidence: tuple[Evidence, ...] = ()
    name: str = ""


class Look(Part, frozen=True, kw_only=True):
    """A line of the table of ``check``: what was checked on ``host`` (empty: on all hosts together) and the result.

    Hosts with the same result are one line: ``host`` is folded (``node[1-3]``), ``nhosts`` counts them.

    ``PASS`` only if a value was seen and a rule compared it, else ``SKIP``, with the reason in ``why``; for ``WARN`` or
    ``FAIL``, ``why`` is what is wrong. ``findings`` are the names of findings that rest on it, including notes.

    ``scope`` is what was checked: this ``node``, this ``job``, or the ``fabric`` between the nodes. ``actor`` is who
    can change it, the ``operator`` of the machines or the ``user`` of the job. ``next`` is the next action: for
    ``WARN`` and ``FAIL`` the fix, for ``SKIP`` the output that would show the value; empty where nothing is to do.
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
    scope: Scope = "node"
    actor: Actor = "operator"
    next: str = ""


class Side(Part, frozen=True, kw_only=True):
    """One of two inputs: its ``source``, what was read of it, and the result."""

    source: str
    verdict: Verdict
    hosts: str = ""
    nhosts: int = 0
    nranks: int | None = None
    nccl_version: str | None = None


class Difference(Part, frozen=True, kw_only=True):
    """The answer of ``ncdiag diff``: ``before`` and ``after`` are the two inputs, see `Beside` for the rest.

    ``matters``: a change has high or medium weight. ``lines``: those that differ first at the two ends, if asked.
    """

    schema_version: int = SCHEMA_VERSION
    tool: Tool
    before: Side
    after: Side
    matters: bool = False
    changes: tuple[Change, ...] = ()
    equal: int = 0
    one_sided: int = 0
    lines: tuple[Changed, ...] | None = None


class Report(Part, frozen=True, kw_only=True):
    """The whole answer. ``findings`` holds all rules that fired, roots first; ``findings[0]`` leads.

    ``answers`` are the names of findings and suspects in the order in which a report shows them: causes, suspects,
    symptoms, risks, notes. There are ``suspects`` only if no finding names what to fix. ``timeline``: who failed first,
    if something failed on one of several ranks or hosts. ``ruled_out``: if something goes wrong, what is not its cause.
    ``faults``: errors of ncdiag itself, and what they left out. ``looks``: all checks of machines, in reports of
    ``check``. ``comparison``: differences between several hosts, ``alike`` the number of equal items, in reports of
    ``check``. ``baseline``: differences from a saved state. ``expired``: sentences about exceptions that have expired.
    ``next_steps``: what to do next, most useful first. ``restart``: what a restart is worth, if something failed.
    ``window``: the window of time that was read, None for all. ``communicators``: which were set up, and who is
    missing; None if no set-up is seen to end. ``traits``: what the job ran on, by kind (``leaf switch``, ``HCA``,
    ``image``, ``driver``, ``release``), for the comparison of many jobs. ``counted``: published counts of what stopped
    large runs, if the input shows one that stopped and nothing points to a cause.
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
    restart: Restart | None = None
    window: Window | None = None
    communicators: Communicators | None = None
    traits: dict[str, tuple[str, ...]] = {}
    counted: tuple[Counted, ...] = ()
