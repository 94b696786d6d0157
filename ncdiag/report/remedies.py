"""Fixes with their values filled in, proved by simulating NCCL's choice, and rendered for each launcher."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ncdiag.base.errors import contained
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine import results
from ncdiag.engine.evaluate import applicable_fixes, holes_unknown, render
from ncdiag.engine.schema import Fix as RuleFix
from ncdiag.engine.templates import pieces
from ncdiag.engine.three_valued import Truth
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import ANY_OF_NCCL, POD, programs_by_variable
from ncdiag.facts.vocabulary.platforms import SLURM, platforms
from ncdiag.facts.vocabulary.told import cured_by, not_cured_by, told_context
from ncdiag.fixes.render import Change, preferred
from ncdiag.fixes.render import render as render_launchers
from ncdiag.fixes.values import Values
from ncdiag.language import phrase, say
from ncdiag.nccl.vocabulary.launches import values_told
from ncdiag.report import model
from ncdiag.report.container_options import in_their_words
from ncdiag.report.digest import asked
from ncdiag.report.named import has_hole, named
from ncdiag.report.placeholders import EVERY, OPEN
from ncdiag.report.platforms import suited
from ncdiag.report.texts import spoken

if TYPE_CHECKING:
    from ncdiag.fixes.proofs.outcome import Proof
    from ncdiag.report.objections import Objection

_UNKNOWN, _CONCERNED = "host unknown", "the host concerned"
"""A scope whose host is not known, and what it says instead."""
_NCCLS, _GLOOS = "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"
_WITH_GLOO = frozenset({"vllm", "sglang", "horovod"})
"""Frameworks that connect their processes by Gloo, too."""
_STARTS = {POD: POD, SLURM: "srun"}
"""What starts the processes on a platform, where no launch line was seen."""
_SETTLED = frozenset({"certain", "likely"})
_BY_OTHERS = frozenset({"ask_admin", "hardware"})
"""Kinds of fixes that somebody else makes, later: until then a workaround helps."""
_ENDPOINT = lazy_regex(r"--rdzv[-_]endpoint[=\s][^\s:]{1,255}(?::(?P<port>\d{1,5}))?")
_STARTS_COMMAND = lazy_regex(r"[;&|`\n\r]|\$\(|(?<!\w)>|>\s*[/~&]")
_REFUTED = 3
"""Maximum number of hosts named in the reason of a refuted fix."""


def fixes_of(found: results.Finding, view: View, values: Values, faults: list[str]) -> list[model.Fix | str]:
    """The fixes that apply, those with known values first; a refuted fix is a sentence.

    A fix that cannot be computed because of a bug of ncdiag is left out and added to ``faults``.
    """
    fixes: list[model.Fix | str] = []
    is_exact = False
    try:
        for rule_fix, admitted in applicable_fixes(found, view):
            fix = _fix(rule_fix, admitted, found, view, values)
            fixes.append(fix)
            is_exact |= isinstance(fix, model.Fix) and _is_exact(rule_fix, fix, found, view, values)
    except Exception as error:  # noqa: BLE001  (whatever a value or a proof raises)
        faults.append(contained(error, f"a fix of {found.rule.code} could not be computed"))
    if is_exact and found.role == "cause":
        fixes = [fix for fix in fixes if isinstance(fix, str) or not fix.workaround]
    return sorted(fixes, key=_rank)


def is_settled(found: results.Finding | model.Finding) -> bool:
    """True for a cause that needs no trial: its own lines show it."""
    return found.role == "cause" and found.confidence in _SETTLED


def _is_exact(rule_fix: RuleFix, fix: model.Fix, found: results.Finding, view: View, values: Values) -> bool:
    """True if the fix repairs the cause, and all of one of its lines follows from the input."""
    if fix.workaround or fix.kind in _BY_OTHERS:
        return False
    if any("{" in text and fix.env.get(name) is not None for name, text in rule_fix.env.items()):
        return True
    return any(
        is_template(text) and not holes_unknown(found, text, view, values)
        and not has_hole(named(render(found, text, view, values), found, view, values.names))
        for text in rule_fix.commands
    )  # fmt: skip


def is_template(text: str) -> bool:
    """True if a line of a rule takes values from the input."""
    return "{" in text.replace("{{", "")


def _rank(fix: model.Fix | str) -> tuple[bool, bool]:
    """Values that are known come first, workarounds last."""
    return not isinstance(fix, str) and None in fix.env.values(), not isinstance(fix, str) and fix.workaround


def _fix(rule_fix: RuleFix, admitted: Truth, found: results.Finding, view: View, values: Values) -> model.Fix | str:
    """The fix with its values; a value that cannot be computed is null, and ``text`` says what to paste.

    If the proof refutes it: a sentence with the fix and why it would not help.
    """
    from ncdiag.fixes.prove import prove  # not needed by a report without findings

    def fill(text: str) -> str:
        return render(found, text, view, values)

    def known(text: str) -> bool:
        return not holes_unknown(found, text, view, values)

    filled = {text: fill(text) if text != OPEN and known(text) else None for text in rule_fix.env.values()}
    env = _environment(rule_fix, filled)
    unset = tuple(fill(name) for name in rule_fix.unset)
    settled = {name: value for name, value in env.items() if value is not None}
    if settled and not unset and len(settled) == len(env) and (reason := _spent(settled, view)):
        return say("{label}: {text}", label=_change(settled, unset), text=reason)
    text = named(spoken(fill(rule_fix.text)), found, view, values.names)
    if len(settled) < len(env):
        text = say(" ").join([text, *_missing(rule_fix, found, values)])
    proof = prove(view, settled, unset) if rule_fix.kind in {"env", "unset"} and (settled or unset) else None
    if proof is not None and proof.state == "refuted":
        return say("{label}: {text}", label=_change(settled, unset), text=_refuted(proof))
    objection = _objection(rule_fix, settled, unset, view, values)
    if objection is not None:
        if unset or len(settled) < len(env):
            return say("{label}: {text}", label=_change(settled, unset), text=phrase(objection.title))
        settled, env, proof = {}, dict.fromkeys(env), None
        text = say(" ").join([text, *_instead(env, objection.title, values)])
    beside = _for_gloo(env, view)
    env |= beside
    settled |= {name: value for name, value in beside.items() if value is not None}
    commands = launcher_lines(view, settled, unset)
    filled_in = tuple(fill(line) for line in rule_fix.commands if known(line) and not _acts(line, fill))
    shell = [named(command, found, view, values.names) for command in suited(in_their_words(filled_in, view), view)]
    if shell:
        commands["shell"] = "\n".join(shell)
    return model.Fix(
        kind=rule_fix.kind,
        text=text,
        scope=_scope(fill(rule_fix.scope) or "all hosts", found),
        risk="low" if rule_fix.risk == "none" else rule_fix.risk,
        workaround=rule_fix.workaround,
        env=env,
        unset=unset,
        commands=commands,
        confirm=named(fill(rule_fix.confirm), found, view, values.names) or None,
        proof=model.Proof(proof.state, phrase(_proof_text(proof, values)))
        if proof
        else model.Proof("not-simulated", _not_simulated(rule_fix)),
        applies_to=None if admitted else rule_fix.applies.nccl or None,
    )


def _proof_text(proof: Proof, values: Values) -> str:
    """The sentence of a proof, without the request for outputs that are in the input."""
    from ncdiag.fixes.prove import listed

    missing = [rest for ask in proof.ask_for if (rest := values.rest_of(ask))]
    if len(missing) == len(proof.ask_for):
        return proof.text
    return proof.bare + (f": paste {listed(missing)}" if missing else "")


def _acts(command: str, fill: Callable[[str], str]) -> bool:
    """Has a value of the input, which is untrusted, a character that would start another command?"""
    holes = (hole for hole, _ in pieces(command) if hole and not hole.startswith("best."))
    return is_template(command) and any(_STARTS_COMMAND.search(fill(f"{{{hole}}}")) for hole in holes)


def _objection(
    rule_fix: RuleFix, env: Mapping[str, str], unset: Sequence[str], view: View, values: Values
) -> Objection | None:
    """The first cause that the rules find with the fix applied; None if there is none.

    What follows from a value that the rule itself names, or from a workaround, is a known price of it.
    """
    if rule_fix.kind not in {"env", "unset"} or not (env or unset):
        return None
    from ncdiag.fixes.proofs.outcome import Change as Changed
    from ncdiag.report.objections import objections

    priced = rule_fix.workaround or not any("{" in text for text in (*rule_fix.env.values(), *rule_fix.unset))
    found = objections(view, values.rules, Changed(dict(env), tuple(unset)))
    return next((each for each in found if not (priced and each.by_value)), None)


def _instead(names: Collection[str], title: str, values: Values) -> Iterable[str]:
    """Why the value that follows from the input is not offered, and what to paste."""
    from ncdiag.fixes.applied import asks_for

    yield say("With what was seen, the fault would remain: {text}.", text=phrase(title))
    yield from _paste(asks_for(names), values)


def _scope(text: str, found: results.Finding) -> str:
    """Where the fix belongs: the only host of the finding by its name, the one concerned if no line shows it."""
    text = text.replace(_UNKNOWN, _CONCERNED)
    hosts = found.where.hosts - {UNNAMED}
    return phrase(f"host {next(iter(hosts))}" if text == _CONCERNED and len(hosts) == 1 else text)


def _spent(env: Mapping[str, str], view: View) -> str:
    """Why these values would change nothing: they are set, or the job failed in the same way with them; else empty."""
    if all(is_in_force(name, value, view) for name, value in env.items()):
        return say("it is already set")
    in_vain = {f"{name}={value}" for name, value in env.items()} <= {*not_cured_by(view.job, view)}
    return say("it was tried and did not help") if in_vain else ""


def _for_gloo(env: Mapping[str, str | None], view: View) -> dict[str, str | None]:
    """The same interface for Gloo, where the job uses both libraries; Gloo knows plain names and no exclusions."""
    if _NCCLS not in env or _GLOOS in env or not _uses_gloo(view):
        return {}
    value = env[_NCCLS]
    return {} if value is not None and value.startswith("^") else {_GLOOS: value.lstrip("=") if value else None}


def _uses_gloo(view: View) -> bool:
    """True if the input shows that Gloo connects processes of the job, too."""
    shown = any(event.event.startswith("gloo-") for event in view.job.events)
    return shown or not _WITH_GLOO.isdisjoint(told_context(view.job, view))


def launcher_lines(view: View, env: Mapping[str, str], unset: Collection[str]) -> dict[str, str]:
    """The change as the line to paste for each launcher, that of the input first; empty without a change."""
    if not (env or unset):
        return {}
    wanted = preferred(_programs(view, {*env, *unset}), _tags(view.job))
    change = Change(
        env=env, unset=tuple(unset), passed=_passed(view.job, unset), endpoint_port=_endpoint_port(view.job)
    )
    return render_launchers(change, wanted)


def is_in_force(name: str, value: str, view: View) -> bool:
    """True if everything known about a variable gives it this value already, and the job failed with it.

    What the run that worked has is still to be set for the others.
    """
    held = values_told(view.job, view).get(name, frozenset())
    return held == frozenset[str | None]({value}) and f"{name}={value}" not in cured_by(view.job, view)


def _environment(rule_fix: RuleFix, filled: Mapping[str, str | None]) -> dict[str, str | None]:
    """The variables that the fix sets; None for a value that cannot be computed. ``filled``: the values by template."""
    env: dict[str, str | None] = {}
    for name, template in rule_fix.env.items():
        value = filled[template]
        if name == EVERY:
            env |= _assignments(value) if value is not None else {}
        else:
            env[name] = value
    return env


def _assignments(text: str) -> dict[str, str | None]:
    """``A=1 B=2`` as a mapping."""
    pairs = (word.partition("=") for word in shlex.split(text) if "=" in word)
    return {name: value for name, _, value in pairs}


def _programs(view: View, names: Collection[str]) -> Iterable[str]:
    """The programs of the launches: first those that set one of the variables, then those that set any of NCCL's."""
    setters = programs_by_variable(view.job, view)
    first = [found for name in names for found in setters.get(name, {}).items()]
    for found in (first, setters[ANY_OF_NCCL].items()):
        yield from (program for program, _ in sorted(found, key=lambda each: each[1]))
    yield from dict.fromkeys(launch.program for launch in view.job.launches)
    shown = platforms(view.job, view)
    yield from (program for platform, program in _STARTS.items() if platform in shown)


def _passed(job: Job, names: Collection[str]) -> dict[str, str]:
    """The variables with these names that a launcher's own options set, with the first value."""
    if not names:
        return {}
    given = {name: text for launch in reversed(job.launches) for name, text in launch.env.items()}
    return {name: text for name in names if (text := given.get(name)) is not None}


def _endpoint_port(job: Job) -> str:
    """The port of ``--rdzv_endpoint``, 29400 where the line gives none (torch/distributed/elastic/rendezvous)."""
    found = next((match for launch in job.launches if (match := _ENDPOINT.search(launch.text))), None)
    return (found["port"] or "29400") if found else ""


def _tags(job: Job) -> Iterable[str]:
    return (rank.line_tag for rank in job.ranks if rank.line_tag is not None)


def _refuted(proof: Proof) -> str:
    """The reasons against it; hosts where it would have worked are not mentioned."""
    against = [phrase(part.text) for part in proof.hosts if part.state == "refuted"]
    more = [say("and {n} more", n=len(against) - _REFUTED)] if len(against) > _REFUTED else []
    return say("; ").join([*against[:_REFUTED], *more])


def _change(env: dict[str, str], unset: Sequence[str]) -> str:
    return say(" and ").join(
        [*(f"{name}={value}" for name, value in env.items()), *(f"unset {name}" for name in unset)]
    )


def _not_simulated(rule_fix: RuleFix) -> str:
    if rule_fix.kind in {"env", "unset"}:
        return say("the value is not yet known")
    return say("changes other than NCCL variables are not simulated")


def _missing(rule_fix: RuleFix, found: results.Finding, values: Values) -> Iterable[str]:
    """Why a value could not be computed, and the commands whose output would settle it."""
    if OPEN in rule_fix.env.values():
        yield from _paste([wanted.ask_for for wanted in found.rule.asks], values)
    for text in rule_fix.env.values():
        for name in _best_names(text):
            value = values.compute(name, found.instances[0])
            if value.text is None:
                reason = phrase(value.reason or "The value cannot be computed from this input.")
                yield say("{sentence}.", sentence=reason[:1].upper() + reason[1:].removesuffix("."))
                yield from _paste(value.ask_for, values)


def _paste(outputs: Iterable[str], values: Values) -> Iterable[str]:
    """The request for these outputs, without those that are in the input."""
    if missing := [rest for each in outputs if (rest := values.rest_of(each))]:
        yield say("Paste {outputs}.", outputs=asked(missing, ", "))


def _best_names(text: str) -> Iterable[str]:
    return (piece.split("}")[0] for piece in text.split("{best.")[1:])
