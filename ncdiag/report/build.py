"""From the engine's diagnosis to the report.

Texts filled in, fixes computed and proved, what was read and what was not.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ncdiag import __version__
from ncdiag.engine import results
from ncdiag.engine.evaluate import applicable_fixes, holes_unknown, render
from ncdiag.engine.kleene import Truth
from ncdiag.engine.schema import Fix as RuleFix
from ncdiag.errors import contained
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.fixes.render import Change, preferred
from ncdiag.fixes.render import render as render_launchers
from ncdiag.fixes.values import Values
from ncdiag.grades import SEVERITIES
from ncdiag.report import model
from ncdiag.report.digest import asked
from ncdiag.spans import Span

if TYPE_CHECKING:
    from ncdiag.fixes.proofs.outcome import Proof

LOOKED_AT: tuple[tuple[str, frozenset[str]], ...] = (
    ("the NCCL log of the ranks", frozenset({"nccl_log"})),
    ("network interfaces (ip addr)", frozenset({"interfaces"})),
    ("RDMA ports (ibstat)", frozenset({"ibstat", "ibstatus", "ibv_devinfo", "rdma_link", "sysfs_infiniband"})),
    ("GID tables (show_gids)", frozenset({"show_gids", "sysfs_infiniband"})),
    ("GPU topology (nvidia-smi topo -m)", frozenset({"topo_m"})),
    ("kernel modules (lsmod)", frozenset({"lsmod"})),
    ("limits (ulimit -a)", frozenset({"ulimit"})),
    ("shared memory (df -h /dev/shm)", frozenset({"df_shm"})),
    ("the environment (env)", frozenset({"env", "nccl_conf"})),
    ("the kernel log (dmesg)", frozenset({"dmesg"})),
)
"""What an expert would look at, and the section kinds that show it."""


SHOWN_COMPLAINTS = 20
"""Sentences of a person that a report repeats."""


class Read(msgspec.Struct, frozen=True):
    """What is said of the input beside the facts."""

    inputs: tuple[model.Input, ...]
    kinds: frozenset[str]
    not_seen: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def report(diagnosis: results.Diagnosis, view: View, values: Values, read: Read) -> model.Report:
    """The whole report."""
    faults = [*read.faults, *diagnosis.faults]
    findings = tuple(_finding(found, view, values, faults) for found in diagnosis.findings)
    job = view.job
    counts = {severity: sum(f.severity == severity for f in findings) for severity in SEVERITIES}
    summary = model.Summary(
        verdict=diagnosis.verdict, root_cause=diagnosis.root_cause, errors=counts["error"], warnings=counts["warning"],
        infos=counts["info"], not_looked_at=not_looked_at(read), hosts=fold_hosts(_named(job)),
        nhosts=job.nhosts, nranks=job.nranks, nccl_version=_version(view),
    )  # fmt: skip
    return model.Report(
        tool=model.Tool("ncdiag", __version__), inputs=read.inputs, summary=summary, findings=findings,
        unknown=tuple(model.Unknown(u.code, u.name, u.missing, u.ask_for) for u in diagnosis.unknown),
        conflicts=_conflicts(job), complaints=_complaints(job), faults=tuple(dict.fromkeys(faults)),
        answers=tuple(dict.fromkeys(finding.name for finding in findings)),
    )  # fmt: skip


def _complaints(job: Job) -> tuple[model.Complaint, ...]:
    spans = ((found, found.provenance.get("")) for found in job.complaints[:SHOWN_COMPLAINTS])
    return tuple(model.Complaint(found.what, found.text, _evidence([span] if span else [])) for found, span in spans)


def _named(job: Job) -> list[str]:
    """The hosts; the one that stands for lines of nobody is left out where others have names."""
    names = [host.name for host in job.hosts]
    return [name for name in names if name != UNNAMED] or names


def not_looked_at(read: Read) -> tuple[str, ...]:
    """What this input could not show, and what a collector says it could not see."""
    missing = tuple(phrase for phrase, kinds in LOOKED_AT if not kinds & read.kinds)
    return missing + read.not_seen


def _version(view: View) -> str | None:
    version = view.version()
    return None if version is None else version.text or str(version)


def _finding(found: results.Finding, view: View, values: Values, faults: list[str]) -> model.Finding:
    rule = found.rule
    fixes = _fixes(found, view, values, faults)
    return model.Finding(
        code=rule.code, name=rule.name, formerly=rule.formerly, severity=found.severity, role=found.role,
        confidence=found.confidence, title=spoken(found.title), why=" ".join(found.why.split()),
        hosts=fold_hosts(found.hosts), nhosts=len(found.hosts), ranks=fold_ranks(found.ranks), nranks=len(found.ranks),
        evidence=_evidence(found.evidence), evidence_count=len(found.evidence),
        fixes=tuple(fix for fix in fixes if isinstance(fix, model.Fix)),
        not_offered=tuple(fix for fix in fixes if isinstance(fix, str)),
        explained_by=found.explained_by, consequences=found.consequences, references=rule.references,
    )  # fmt: skip


def _fixes(found: results.Finding, view: View, values: Values, faults: list[str]) -> list[model.Fix | str]:
    """The fixes that apply; one that cannot be worked out for a fault of ncdiag is left out and added to ``faults``."""
    fixes: list[model.Fix | str] = []
    try:
        for rule_fix, admitted in applicable_fixes(found, view):
            fixes.append(_fix(rule_fix, admitted, found, view, values))
    except Exception as error:  # noqa: BLE001  (whatever a value or a proof raises)
        faults.append(contained(error, f"a fix of {found.rule.code} could not be worked out"))
    return fixes


EVERY = "*"
"""The name in a fix's ``env`` whose value lists assignments (``best.left_behind``)."""
_REFUTED = 3
"""Hosts that are named when a fix was refuted."""
_SEVERAL_RANKS = re.compile(r"\b([Rr])ank (?=\d{1,9}[-,]\d)")
_SPOKEN = (
    ("Rank unknown", "A rank"),
    ("rank unknown", "a rank"),
    (" on unknown", ""),
    (f" on {UNNAMED}", ""),
    (f" of {UNNAMED}", ""),
    (UNNAMED, "the host"),
)
_BEGINNINGS = tuple(instead for _, instead in _SPOKEN if instead)
"""Words put in, which begin a sentence where they stand first."""


def spoken(text: str) -> str:
    """The text without the words that stand for what nobody told: a rank without number, a host without name."""
    for word, instead in _SPOKEN:
        text = text.replace(word, instead)
    text = _SEVERAL_RANKS.sub(r"\1anks ", text)
    return text[:1].upper() + text[1:] if text.startswith(_BEGINNINGS) else text


def _evidence(spans: Sequence[Span]) -> tuple[model.Evidence, ...]:
    return tuple(model.Evidence(s.source, s.line, s.text) for s in spans[: model.EVIDENCE_LIMIT])


def _fix(rule_fix: RuleFix, admitted: Truth, found: results.Finding, view: View, values: Values) -> model.Fix | str:
    """The fix with its values; a value that cannot be computed is null and asked for.

    Where the proof refutes it: a sentence that says what it was and why it would not help.
    """
    from ncdiag.fixes.prove import prove  # what NCCL would choose, which a report without findings does not need

    def fill(text: str) -> str:
        return render(found, text, view, values)

    def known(text: str) -> bool:
        return not holes_unknown(found, text, view, values)

    env: dict[str, str | None] = {}
    for name, value in rule_fix.env.items():
        if name == EVERY:
            env |= _assignments(fill(value)) if known(value) else {}
        else:
            env[name] = fill(value) if known(value) else None
    unset = tuple(fill(name) for name in rule_fix.unset)
    settled = {name: value for name, value in env.items() if value is not None}
    text = spoken(fill(rule_fix.text))
    if len(settled) < len(env):
        text += "".join(f" {sentence}" for sentence in _missing(rule_fix, found, values))
    proof = prove(view, settled, unset) if rule_fix.kind in {"env", "unset"} and (settled or unset) else None
    if proof is not None and proof.state == "refuted":
        return f"{_change(settled, unset)}: {_refuted(proof)}"
    wanted = preferred((launch.program for launch in view.job.launches), _tags(view.job))
    commands = render_launchers(Change(env=settled, unset=unset), wanted) if settled or unset else {}
    shell = [fill(command) for command in rule_fix.commands if known(command)]
    if shell:
        commands["shell"] = "\n".join(shell)
    return model.Fix(
        kind=rule_fix.kind,
        text=text,
        scope=fill(rule_fix.scope) or "all hosts",
        risk="low" if rule_fix.risk == "none" else rule_fix.risk,
        workaround=rule_fix.workaround,
        env=env,
        unset=unset,
        commands=commands,
        confirm=fill(rule_fix.confirm) or None,
        proof=model.Proof(proof.state, proof.text) if proof else model.Proof("not-simulated", _not_simulated(rule_fix)),
        applies_to=None if admitted else rule_fix.applies.nccl or None,
    )


def _assignments(text: str) -> dict[str, str | None]:
    """``A=1 B=2`` as a mapping."""
    pairs = (word.partition("=") for word in shlex.split(text) if "=" in word)
    return {name: value for name, _, value in pairs}


def _tags(job: Job) -> Iterable[str]:
    return (rank.line_tag for rank in job.ranks if rank.line_tag is not None)


def _refuted(proof: Proof) -> str:
    """What speaks against it; what would have gone well elsewhere does not matter then."""
    against = [part.text for part in proof.hosts if part.state == "refuted"]
    more = f"; and {len(against) - _REFUTED} more" if len(against) > _REFUTED else ""
    return "; ".join(against[:_REFUTED]) + more


def _change(env: dict[str, str], unset: Sequence[str]) -> str:
    return " and ".join([*(f"{name}={value}" for name, value in env.items()), *(f"unset {name}" for name in unset)])


def _not_simulated(rule_fix: RuleFix) -> str:
    if rule_fix.kind in {"env", "unset"}:
        return "the value is not known yet"
    return "a change outside NCCL's variables is not simulated"


def _missing(rule_fix: RuleFix, found: results.Finding, values: Values) -> Iterable[str]:
    """Why a value could not be computed and whose output would settle it."""
    for text in rule_fix.env.values():
        for name in _best_names(text):
            value = values.compute(name, found.instances[0])
            if value.text is None:
                reason = value.reason or "The value cannot be told from this input."
                yield reason[:1].upper() + reason[1:].removesuffix(".") + "."
                if value.ask_for:
                    yield f"Paste {asked(value.ask_for, ', ')}."


def _best_names(text: str) -> Iterable[str]:
    return (piece.split("}")[0] for piece in text.split("{best.")[1:])


def _conflicts(job: Job) -> tuple[model.Conflict, ...]:
    return tuple(
        model.Conflict(entity=c.entity, field=c.field, values=c.values, evidence=_evidence(c.spans), kept=c.kept)
        for c in job.conflicts
    )
