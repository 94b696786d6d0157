"""Apply the rules to what a file contains: its settings, launches, containers and rank tables as facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from ncdiag import diagnose as judging
from ncdiag.apps.lint.blocks import with_key
from ncdiag.apps.lint.edits import putting
from ncdiag.apps.lint.intent import is_meant, is_note
from ncdiag.apps.lint.model import Document, Edit, Finding, Place, Setting, Started
from ncdiag.apps.lint.nesting import launch_place
from ncdiag.apps.lint.relevance import concerns_nccl, is_told_whole
from ncdiag.base.severity import Severity
from ncdiag.base.spans import span
from ncdiag.engine.evaluate import applicable_fixes, holes_unknown, judge, render
from ncdiag.engine.results import Finding as Fired
from ncdiag.engine.schema import Fix, Rule
from ncdiag.facts.model import Launch
from ncdiag.facts.model import Setting as SettingFact
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes.values import Values
from ncdiag.language import say
from ncdiag.nccl.vocabulary.launches import left_behind
from ncdiag.report.texts import spoken
from ncdiag.report.unnamed import renamed
from ncdiag.text import job_of

_LAYERS = 6
"""Maximum number of values of one variable in a file that are judged."""
_TOLD_BY_CHECKS = frozenset({"launcher-started-once-per-task",
    "env-unknown-variable", "env-variable-unread", "env-variable-without-effect", "env-variable-deprecated",
    "env-value-misread", "socket-tuning-excess",
})  # fmt: skip
"""Rules whose fault is found by a check of lint, with its place."""
_NOT_PASSED = "env-not-propagated"
_NO_IPC_LOCK = "k8s-ipc-lock-missing"
_SMALL_SHM = "container-shm-too-small"


def check(document: Document, version: VersionRange | None, rules: Iterable[Rule]) -> Iterator[Finding]:
    """The findings of the rules.

    An error stays an error only if the rule is certain, because no machine was inspected.
    """
    chosen = [rule for rule in rules if rule.name not in _TOLD_BY_CHECKS and rule.role == "cause"]
    told: set[tuple[str, int, str]] = set()
    for settings in _layers(document):
        observations = [*document.observations, *(_observed(document, setting) for setting in settings)]
        if not observations:
            continue
        view = judging.view_of(job_of([], observations), None)
        if version is not None:
            view = _at(view, version)
        values = Values(view)
        for verdict in judge(chosen, view, values):
            for found in (one for fired in verdict.findings for one in _placed(document, fired, view, values)):
                key = found.code, found.place.start, found.message
                if key not in told:
                    told.add(key)
                    yield found


def _placed(document: Document, fired: Fired, view: View, values: Values) -> Iterator[Finding]:
    """A finding for each launch and each place of a variable that a rule's finding is about, with its edits."""
    first: dict[tuple[int, ...], Fired] = {}
    for bound in fired.instances:
        facts = tuple(id(fact) for fact in bound.values() if isinstance(fact, Launch | SettingFact))
        first.setdefault(facts, msgspec.structs.replace(fired, instances=(bound,)))
    for one in first.values() or (fired,):
        if _is_relevant(document, one):
            for setting in _meant(document, one) or (None,):
                if not is_meant(document, one.rule.name, setting):
                    yield _converted(document, one, setting, view, values)


def _is_relevant(document: Document, fired: Fired) -> bool:
    """True if a finding about a launch rests on the content of the file, and the launch concerns NCCL."""
    launch = _launch(fired)
    if launch is None:
        return True
    whole = fired.rule.area != "container" or is_told_whole({"text": launch.text})
    return whole and concerns_nccl(document, launch.program, launch.text)


def _launch(fired: Fired) -> Launch | None:
    return next((fact for fact in _bound(fired) if isinstance(fact, Launch)), None)


def _bound(fired: Fired) -> Iterable[object]:
    return fired.instances[0].values() if fired.instances else ()


def _at(view: View, version: VersionRange) -> View:
    """The view with the version on its hosts (settings without a host name belong to one host)."""
    hosts = tuple(msgspec.structs.replace(host, nccl_version=version) for host in view.job.hosts)
    return judging.view_of(msgspec.structs.replace(view.job, hosts=hosts))


def _layers(document: Document) -> list[list[Setting]]:
    """The settings in layers with each name at most once; values of branches exclude each other."""
    layers: list[list[Setting]] = [[]]
    used: dict[str, set[str]] = defaultdict(set)
    for setting in document.settings:
        if setting.value is None or setting.reaches == "shell" or setting.value in used[setting.name]:
            continue
        level = len(used[setting.name])
        used[setting.name].add(setting.value)
        if level < _LAYERS:
            layers += [[]] * (level + 1 - len(layers))
            layers[level] = [*layers[level], setting]
    return layers


def _observed(document: Document, setting: Setting) -> Observation:
    line = document.line(setting.name_at.start)
    at = document.line_place(line)
    origin = "conf file" if document.form == "conf" else "launcher" if setting.reaches == "all" else "shell"
    return Observation(
        entity="Setting", key=(setting.name,), span=span(document.source, line, document.text[at.start : at.end]),
        standing="manifest", fields={"is_set": True, "text": setting.value, "origin": origin},
    )  # fmt: skip


def _converted(document: Document, fired: Fired, setting: Setting | None, view: View, values: Values) -> Finding:
    rule = fired.rule
    launch = _launch(fired)
    observed = _observed_launch(document, fired, view)
    place = setting.name_at if setting is not None else _place(document, fired, observed)
    severity: Severity = rule.severity if rule.severity != "error" or rule.strength == "certain" else "warning"
    severity = "info" if is_note(document, rule.name) else severity
    fixes = [fix for fix, _ in applicable_fixes(fired, view)]
    edits: tuple[Edit, ...] = ()
    fixable, advice = False, ""
    for fix in fixes[:1]:
        advice = renamed(spoken(render(fired, fix.text, view, values)), say("this host"))
        edits, fixable = _edits(fix, fired, setting, view, values)
    if launch is not None and not edits:
        command = document.command_of(observed) if observed is not None else None
        names = left_behind(launch, view) if rule.name == _NOT_PASSED else ()
        edits, fixable = _launch_edits(document, rule.name, place, command, names)
    return Finding(
        code=rule.code, name=rule.name, severity=severity, place=place,
        message=renamed(spoken(fired.title), say("this host")),
        reason=" ".join(fired.why.split()), versions=rule.applies.nccl or "", advice=advice, edits=edits,
        fixable=fixable, variable=setting.name if setting is not None else None, references=rule.references,
    )  # fmt: skip


def _meant(document: Document, fired: Fired) -> list[Setting]:
    """The places where the variable bound by a finding is given that value; empty if it binds none."""
    fact = next((each for each in _bound(fired) if isinstance(each, SettingFact)), None)
    if fact is None:
        return []
    return [s for s in document.settings if s.name == fact.name and s.value == fact.text and s.reaches != "shell"]


def _observed_launch(document: Document, fired: Fired, view: View) -> Observation | None:
    """The launch that a finding is about: the one it binds, else the first on a line of its evidence."""
    launches = [each for each in document.observations if each.entity == "Launch"]
    bound = _launch(fired)
    if bound is not None:  # facts are made from observations in the same order
        return next((each for each, fact in zip(launches, view.job.launches, strict=False) if fact is bound), None)
    lines = [piece.line for piece in fired.evidence if piece.source == document.source][:1]
    return next((each for each in launches if each.span.line in lines), None)


def _place(document: Document, fired: Fired, launch: Observation | None) -> Place:
    if launch is not None:
        return launch_place(document, launch)
    return document.line_place(next((piece.line for piece in fired.evidence if piece.source == document.source), 1))


def _edits(
    fix: Fix, fired: Fired, setting: Setting | None, view: View, values: Values
) -> tuple[tuple[Edit, ...], bool]:
    """(edits, certain): the value that a fix gives the variable, or its removal; only the first is certain."""
    if setting is None:
        return (), False
    text = fix.env.get(setting.name)
    if text is not None and not holes_unknown(fired, text, view, values):
        edits = putting(setting, render(fired, text, view, values))
        return edits, bool(edits) and fired.rule.strength == "certain"
    names = {render(fired, name, view, values) for name in fix.unset}
    if setting.name in names and setting.removal is not None:
        return (setting.removal,), False
    return (), False


def _launch_edits(
    document: Document, rule: str, place: Place, started: Started | None, left_behind: Iterable[str]
) -> tuple[tuple[Edit, ...], bool]:
    if rule == _NO_IPC_LOCK and document.form == "kubernetes":
        value = "{capabilities: {add: [IPC_LOCK]}}"
        return with_key(document, document.line(place.start), "securityContext", value), False
    at = started.behind if started is not None else None
    if started is None or at is None:
        return (), False
    if rule == _NOT_PASSED and started.program != "mpiexec":
        return (Edit(at, at, "".join(f" -x {name}" for name in left_behind)),), True
    if rule == _SMALL_SHM:
        return (Edit(at, at, " --ipc=host"),), False
    return (), False
