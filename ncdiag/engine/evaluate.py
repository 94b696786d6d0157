"""Judge rules on the facts: fired, clear, unknown or not applicable, with the evidence for those that fired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ncdiag.base.errors import contained
from ncdiag.base.severity import CONFIDENCES
from ncdiag.engine.compiling import program_of
from ncdiag.engine.program import Program
from ncdiag.engine.results import Finding, Trace, Verdict
from ncdiag.engine.schema import Case, Fix, Rule
from ncdiag.engine.templates import Values, fold, show
from ncdiag.engine.three_valued import Truth
from ncdiag.engine.tree import Slot
from ncdiag.engine.walk import Context, Frame
from ncdiag.engine.where import Where, label, spans
from ncdiag.facts.model import Host, Rank
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.stand_in import Refusal
from ncdiag.facts.view import View

_MAX_FINDINGS = 100
_MAX_INSTANCES = 1000
_READ_AGAIN = 10
"""Maximum number of instances of a finding that are evaluated a second time to collect evidence."""

_NAMES = dict[str, Any]


def judge(rules: Iterable[Rule], view: View, values: Values | None = None) -> list[Verdict]:
    """The verdict of each rule, in the order of the rules. ``values`` computes ``{best.NAME}`` in texts."""
    context = Context(view)
    return [_verdict(rule, context, values) for rule in rules]


def _verdict(rule: Rule, context: Context, values: Values | None) -> Verdict:
    """The verdict of a rule; a bug of ncdiag while judging one rule does not affect the others."""
    if not rule.when:  # it is only a suspect
        return Verdict(rule=rule, outcome="not applicable")
    try:
        return _without_instance(rule, context) or _Judge(rule, context, values).verdict()
    except Exception as error:  # noqa: BLE001  (whatever a derived field or a value raises)
        return Verdict(rule=rule, outcome="unknown", fault=contained(error, f"rule {rule.code} could not be evaluated"))


def _without_instance(rule: Rule, context: Context) -> Verdict | None:
    """The verdict of a rule without instances, as of most rules in most inputs: its first path is empty. Else None."""
    program = program_of(rule)
    if not program.begins_with_walk:
        return None
    bound = program.each[0]
    if bound.events is not None:
        return None if context.has_any(bound.events) else Verdict(rule=rule, outcome="clear")
    found = program.walks[0](Frame(context, {}))
    if found.items:
        return None
    if not found.missing:
        return Verdict(rule=rule, outcome="clear")
    path = rule.each[bound.name]
    closers = {path: tuple(sorted(found.closers))} if found.closers else {}
    return Verdict(rule=rule, outcome="unknown", missing=(path,), closers=closers)


def applicable_fixes(finding: Finding, view: View) -> list[tuple[Fix, Truth]]:
    """The fixes of a finding that the facts allow, each with True if it is for all possible NCCL versions, else None.

    Fixes for none of these versions, and fixes with a false condition, are left out.
    """
    program, context = program_of(finding.rule), Context(view)
    names = dict(finding.instances[0])
    found: list[tuple[Fix, Truth]] = []
    for index, fix in enumerate(finding.rule.fixes):
        admitted = program.fix_nccl[index].admits(_version(context, names))
        if admitted is not False and all(test(Frame(context, names)) is not False for test in program.fix_tests[index]):
            found.append((fix, admitted))
    return found


def render(finding: Finding, text: str, view: View, values: Values | None = None) -> str:
    """A text of the finding's rule with the values filled in; ranks and hosts of all instances are merged."""
    return _Texts(program_of(finding.rule), Context(view), values).render(text, finding.instances)


def holes_unknown(finding: Finding, text: str, view: View, values: Values | None = None) -> bool:
    """True if some value in a text is unknown, so that a command made of it must not be offered."""
    pieces = _Texts(program_of(finding.rule), Context(view), values).pieces(text, finding.instances[0])
    return any(isinstance(piece, _Hole) and piece.value is None for piece in pieces)


def trace(rule: Rule, view: View, limit: int = 20) -> list[Trace]:
    """How the first instances of a rule were judged: every condition with its result, even if it did not matter."""
    program, context = program_of(rule), Context(view)
    found: list[Trace] = []
    for names in _instances(program, Frame(context, {})):
        if len(found) == limit:
            break
        frame = Frame(context, names)
        found.append(
            Trace(
                names={name: label(entity) for name, entity in names.items()},
                when=tuple((text, run(frame)) for text, run in zip(rule.when, program.tests, strict=True)),
                unless=tuple((text, run(frame)) for text, run in zip(rule.unless, program.guards, strict=True)),
            )
        )
    return found


def _instances(program: Program, frame: Frame, level: int = 0) -> Iterator[_NAMES]:
    if level == len(program.each):
        yield {bound.name: frame.names[bound.name] for bound in program.each}
        return
    for element in program.walks[level](frame).items:
        frame.names[program.each[level].name] = element
        yield from _instances(program, frame, level + 1)


def _version(context: Context, names: Mapping[str, Any]) -> VersionRange | None:
    """The NCCL version for an instance: that of its rank, else of its host, else the range over the job."""
    entities = list(names.values())
    subject = next((e for e in entities if isinstance(e, Rank)), None) or next(
        (e for e in entities if isinstance(e, Host) or isinstance(getattr(e, "host", None), str)), None
    )
    own: VersionRange | None = getattr(subject, "nccl_version", None)
    if own is not None:
        return own
    view = context.view
    return view.version(subject if isinstance(subject, Host) else view.host(getattr(subject, "host", None)))


class _Hole(msgspec.Struct):
    """The value of a placeholder for one instance."""

    slot: Slot
    value: Any


class _Texts:
    """Fills the placeholders of a rule's texts."""

    def __init__(self, program: Program, context: Context, values: Values | None) -> None:
        self.program, self.context, self.values = program, context, values

    def pieces(self, text: str, names: Mapping[str, Any]) -> list[str | _Hole]:
        """The text split at its placeholders, each with its value; a text without placeholders is one piece."""
        template = self.program.templates.get(text)
        if template is None:
            return [text]
        frame = Frame(self.context, dict(names))
        found: list[str | _Hole] = []
        for part, run in zip(template, self.program.slots[text], strict=True):
            if isinstance(part, str):
                found.append(part)
            elif run is not None:
                found.append(_Hole(part, run(frame)))
            else:
                found.append(_Hole(part, self.values(part.best, names) if self.values else None))
        return found

    def render(self, text: str, instances: Iterable[Mapping[str, Any]]) -> str:
        """The text for all instances: ranks and hosts are merged, other values are those of the first instance."""
        template = self.program.templates.get(text)
        held = list(instances)
        if template is None or not held:
            return text
        folds = any(isinstance(part, Slot) and part.who for part in template)
        columns = [self.pieces(text, names) for names in (held if folds else held[:1])]
        return "".join(_join([column[i] for column in columns]) for i in range(len(template)))


def _join(pieces: list[str | _Hole]) -> str:
    first = pieces[0]
    if isinstance(first, str):
        return first
    if not first.slot.who:
        return show(first.value)
    return fold(first.slot.who, [piece.value for piece in pieces if isinstance(piece, _Hole)])


class _Group:
    """Instances whose titles differ only in ranks and hosts."""

    def __init__(self) -> None:
        self.instances: list[_NAMES] = []
        self.where = Where.nowhere()
        self.count = 0
        self.best = len(CONFIDENCES)

    def add(self, names: _NAMES, confidence: int) -> None:
        self.count += 1
        self.best = min(self.best, confidence)
        if len(self.instances) < _MAX_INSTANCES:
            self.instances.append(names)
        for entity in names.values():
            self.where.add(entity)


class _Judge:
    """Judges one rule."""

    def __init__(self, rule: Rule, context: Context, values: Values | None) -> None:
        self.rule, self.context = rule, context
        self.program = program_of(rule)
        self.texts = _Texts(self.program, context, values)
        self.when: list[Truth] = [None] * len(rule.when)
        self.unless: list[Truth] = [None] * len(rule.unless)
        self.groups: dict[tuple[str, ...], _Group] = {}
        self.unknown: set[tuple[Truth, ...]] = set()
        """The results of the conditions for the instances that are unknown."""
        self.open: set[int] = set()
        self.held: set[int] = set()
        self.missing: dict[str, set[str]] = {}
        self.omitted = 0
        self.judged = self.inapplicable = False
        self.asks_stand_in = False

    def verdict(self) -> Verdict:
        self._descend(0, Frame(self.context, {}), (None,), admitted=True)
        for when in self.unknown:
            still_open = {i for i, result in enumerate(when) if result is None}
            self.open |= still_open
            self.held |= self.program.specific - still_open
        findings = tuple(self._finding(group) for group in self.groups.values())
        unknown = bool(self.open or self.missing)
        judged = self.judged or not self.inapplicable
        return Verdict(
            rule=self.rule,
            outcome="fired" if findings else "unknown" if unknown else "clear" if judged else "not applicable",
            findings=findings,
            open_clauses=tuple(self.rule.when[i] for i in sorted(self.open)),
            held_clauses=tuple(self.rule.when[i] for i in sorted(self.held)),
            missing=tuple(self.missing),
            closers={path: tuple(sorted(kinds)) for path, kinds in self.missing.items() if kinds},
            omitted=self.omitted,
        )

    def _descend(self, level: int, frame: Frame, elements: Iterable[Any], *, admitted: Truth) -> None:
        """Judge what depends on the first ``level`` names only, with the last of them bound to each of ``elements``."""
        program, names, when, unless = self.program, frame.names, self.when, self.unless
        name = program.each[level - 1].name if level else ""
        conditions = [(i, program.tests[i]) for i in program.levels[level][0]]
        guards = [(i, program.guards[i]) for i in program.levels[level][1]]
        for element in elements:
            if level:
                names[name] = element
            if program.nccl.parts:
                admitted = program.nccl.admits(_version(self.context, self._bound(frame)))
                if admitted is False:
                    self.inapplicable = True
                    continue
            for i, test in conditions:
                when[i] = result = test(frame)
                if result is False:
                    break
            else:
                for i, test in guards:
                    unless[i] = result = test(frame)
                    if result is True:
                        break
                else:
                    self._go_on(level, frame, admitted)
                    continue
            self.judged = True
        names.pop(name, None)

    def _settles(self, stand_in: Any, admitted: Truth) -> bool:  # noqa: ANN401
        """Judge a stand-in; where it fires, its members have to be judged."""
        self.asks_stand_in = True
        try:
            self._descend(1, Frame(self.context, {}), [stand_in], admitted=admitted)
        finally:
            self.asks_stand_in = False
        return True

    def _go_on(self, level: int, frame: Frame, admitted: Truth) -> None:
        """No condition is false so far: bind the next name to the elements of its path."""
        program = self.program
        if level == len(program.each):
            self._instance(frame, admitted)
            return
        found = program.walks[level](frame)
        if found.missing:
            path = self.rule.each[program.each[level].name]
            self.missing.setdefault(path, set()).update(found.closers)
            if not found.items:  # if the conditions so far were true, the missing input is worth requesting
                self.held |= {i for i in self._judged_before(level) if self.when[i]} & self.program.specific
        self.judged = self.judged or not found.items
        if found.items:
            elements: Iterable[Any] = found.items
            groups = None if level or self.asks_stand_in else self.context.alike(found.items)
            if groups is not None:
                elements = groups.unsettled(lambda stand_in, _: self._settles(stand_in, admitted))
            else:
                elements = self.context.narrowed(found.items, program.narrowings[level])
                self.judged = self.judged or len(elements) < len(found.items)
            self._descend(level + 1, frame, elements, admitted=admitted)

    def _bound(self, frame: Frame) -> _NAMES:
        """The bound names of the rule."""
        return {bound.name: frame.names[bound.name] for bound in self.program.each if bound.name in frame.names}

    def _judged_before(self, level: int) -> Iterator[int]:
        """The conditions that depend on the first ``level`` names only."""
        return (i for conditions, _ in self.program.levels[: level + 1] for i in conditions)

    def _instance(self, frame: Frame, admitted: Truth) -> None:
        """No condition is false and no guard true: the instance has fired, or it is unknown."""
        self.judged = True
        if None in self.when:
            self.unknown.add(tuple(self.when))
            return
        if self.asks_stand_in:  # the finding names its members
            raise Refusal
        names = self._bound(frame)
        pieces = self.texts.pieces(self.rule.group or self._case(names).text, names)
        key = tuple(p if isinstance(p, str) else "" if p.slot.who else show(p.value) for p in pieces)
        if key not in self.groups:
            if len(self.groups) == _MAX_FINDINGS:
                self.omitted += 1
                return
            self.groups[key] = _Group()
        lowered = CONFIDENCES.index(self.rule.strength) + sum(result is None for result in self.unless)
        if admitted is None:
            lowered = max(lowered, CONFIDENCES.index("likely"))
        self.groups[key].add(names, min(lowered, len(CONFIDENCES) - 1))

    def _case(self, names: Mapping[str, Any]) -> Case:
        """The title and role of the first matching case for an instance, else those of the rule."""
        for case, tests in zip(self.rule.titles, self.program.title_tests, strict=True):
            if all(test(Frame(self.context, dict(names))) is True for test in tests):
                return case
        return Case(when=(), text=self.rule.title)

    def _finding(self, group: _Group) -> Finding:
        where, evidence = group.where, dict[Any, None]()
        alone = where.is_job
        for names in group.instances[:_READ_AGAIN]:
            frame = Frame(self.context, names, [])
            for test in self.program.tests:
                test(frame)
            reads = frame.reads or []
            evidence |= dict.fromkeys(spans(names.values(), reads, self.context.view))
            for entity, _ in reads:
                if alone:
                    where.add(entity)
                else:
                    where.add_event(entity)
        case = self._case(group.instances[0])
        return Finding(
            rule=self.rule,
            severity=self.rule.severity,
            role=case.role or self.rule.role,
            layer=self.rule.layer,
            vague=self.rule.echo,
            title=self.texts.render(case.text, group.instances),
            why=self.texts.render(self.rule.why, group.instances),
            confidence=CONFIDENCES[group.best],
            where=where,
            evidence=tuple(evidence),
            instances=tuple(group.instances),
            count=group.count,
        )
