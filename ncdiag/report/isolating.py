"""Fixes that follow from the input and not from the rule of an answer: what worked, and what would isolate the fault.

A setting with which the job worked in the input is kept until the cause is repaired. An answer of which no fix sets a
variable gets the test of an expert: run once without the part that its lines name, and without the job's own settings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from ncdiag.base.errors import contained
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.schema import Fix as RuleFix
from ncdiag.engine.schema import Rule
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import cured_by, not_cured_by
from ncdiag.fixes import switches
from ncdiag.fixes.prove import prove
from ncdiag.fixes.switches import Switch
from ncdiag.language import phrase, say
from ncdiag.nccl import environment
from ncdiag.nccl.vocabulary.launches import values_told
from ncdiag.report import model
from ncdiag.report.named import has_hole
from ncdiag.report.remedies import is_in_force, is_settled, is_template, launcher_lines
from ncdiag.suspects.cells import Lit
from ncdiag.suspects.trials import is_only_output

_GONE = "the failure is gone"
_MOST = 2
"""Maximum number of parts to switch off for one answer."""
_CORE = 2
"""Minimum weight of a cell of which the object is what the rule is about."""
_PARTLESS = frozenset({"crash", "collective", "communicator", "cuda-kernel", "cuda-call", "nccl-version"})
"""Objects of a failure that do not say in which part of NCCL the fault is."""
_NOT_IN_USE = frozenset({"not-found", "unsupported", "denied", "mismatch", "stale", "slow"})
"""Reasons with which a part is not in use, or fails nothing: to switch it off would show nothing."""
_CHANGES = frozenset({"config", "env", "unset"})
"""Kinds of fixes that change something; a command may only look."""
_CHANGING = lazy_regex(
    r"(?:sudo )?(?:systemctl (?:enable|start|restart|edit)|modprobe|setpci|sysctl -w|docker run|pip install"
    r"|mkdir -p /etc|apt-get install|apt-mark|ip link set|mlnx_qos -i \S+ -|scontrol (?:update|reboot)|kubectl cordon"
    r"|aws ec2 authorize|reboot|for \w+ in .*setpci|firewall-cmd|iptables -I|nft insert|ufw prepend|volumes: "
    r"|volumeMounts: |resources: |grubby --update|sed -i |ibportstate \d+ \d+ enable|mlxlink -d \S+ -a UP"
    r"|mlxconfig -y |sh -c \"command -v fuser)"
)
"""Beginnings of commands, and of lines of a manifest, that change something."""
_RELEASE = "nccl-version"
_COLLECTIVE = frozenset({"hangs", "wrong-results", "crashes"})
"""Complaints about collectives that run, in users' words."""
_TOLERABLE = frozenset({"slow", "not-used", "memory-grows"})
_CHOOSES = lazy_regex(
    r"NCCL_(?:SOCKET_|OOB_|COMM_ID|HOSTID|CONF_FILE|NET$|NET_PLUGIN|IB_(?:HCA|GID|TC|FIFO_TC|SL|ADDR|PKEY|ROCE|TIMEOUT))"
)
"""Names of variables that a job may need on its network."""
_SET = lazy_regex(r"(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)=(?P<value>.+)")
_UNSET = lazy_regex(r"unset (?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)")

_Answer = TypeVar("_Answer", model.Finding, model.Suspect)


def is_test(fix: model.Fix) -> bool:
    """Is it one of these fixes, and not one of a rule?"""
    return fix.confirm == say(_GONE)


def with_tests(report: model.Report, rules: Mapping[str, Rule], lit: Mapping[str, Lit], view: View) -> model.Report:
    """The report with these fixes; ``rules`` and ``lit``, what the input says of each, are by code.

    If they cannot be computed because of a bug of ncdiag, they are left out, and ``faults`` says so.
    """
    try:
        tests = _Tests(report, rules, lit, view)
        return msgspec.structs.replace(
            report,
            findings=tuple(tests.extended(each) if _is_loud(each) else each for each in report.findings),
            suspects=tuple(map(tests.extended, report.suspects)),
        )
    except Exception as error:  # noqa: BLE001  (whatever a derived field or a proof raises)
        fault = contained(error, "the tests that isolate the fault could not be computed")
        return msgspec.structs.replace(report, faults=(*report.faults, fault))


def _is_loud(found: model.Finding) -> bool:
    return found.severity != "info" and found.role in {"cause", "symptom"}


def _sets(fix: model.Fix) -> bool:
    """True if the fix changes a variable that does more than print, and its value is known."""
    changed = [*(name for name, value in fix.env.items() if value is not None), *fix.unset]
    return any(not is_only_output(name) for name in changed)


def _is_repaired(answer: model.Finding | model.Suspect, rule: Rule) -> bool:
    """True if lines of a fix repair the cause, which is proved, or follow from values of the input.

    Beside them, a trial costs a run and shows nothing that the repair does not show.
    """
    is_proved = isinstance(answer, model.Finding) and is_settled(answer)
    return (is_proved or any(map(_takes_values, rule.fixes))) and any(map(_repairs, answer.fixes))


def _repairs(fix: model.Fix) -> bool:
    lines = fix.commands.get("shell", "").splitlines()
    if fix.workaround or not fix.commands or any(map(has_hole, lines)):
        return False
    return fix.kind in _CHANGES or any(map(_CHANGING.match, lines))


def _takes_values(fix: RuleFix) -> bool:
    """Does a line of the fix have places for values of the input?"""
    return not fix.workaround and any(is_template(line) or has_hole(line) for line in fix.commands)


def _does_not_help(name: str) -> bool:
    """True for a variable that only prints more, or only makes the job smaller."""
    return is_only_output(name) or name.endswith("_VISIBLE_DEVICES")


def _is_at_work(cell: tuple[str, str, int]) -> bool:
    _, reason, weight = cell
    return weight >= _CORE and reason not in _NOT_IN_USE


def _is_partless(rule: Rule) -> bool:
    """True if the rule is about a failure that may be in any part of NCCL."""
    top = max((weight for _, _, weight in rule.cells), default=0)
    return rule.floor or any(
        cell[0] in _PARTLESS and cell[2] == top and cell[1] not in _NOT_IN_USE for cell in rule.cells
    )


class _Tests:
    """The fixes of one report."""

    def __init__(self, report: model.Report, rules: Mapping[str, Rule], lit: Mapping[str, Lit], view: View) -> None:
        self._rules, self._lit, self._view = rules, lit, view
        self._first = next(iter(report.answers), "")
        shown: tuple[model.Finding | model.Suspect, ...] = (*report.findings, *report.suspects)
        self._repaired = {each.name for each in shown if _is_repaired(each, rules[each.code])}
        told = {complaint.what for complaint in report.complaints}
        self._is_slow = bool(told) and told <= _TOLERABLE
        self._is_of_collectives = bool(told & _COLLECTIVE)
        self._in_vain = frozenset(not_cured_by(view.job, view))
        self._failing = tuple(dict.fromkeys(each.cell[0] for each in lit.values() if each.fails and each.cell))

    def extended(self, answer: _Answer) -> _Answer:
        """The answer with the fixes that are added to its own."""
        rule = self._rules[answer.code]
        if answer.name in self._repaired:
            return answer
        is_partless = _is_partless(rule) and not (isinstance(answer, model.Finding) and is_settled(answer))
        added: list[model.Fix] = []
        if answer.name == self._first or (is_partless and not rule.floor):
            added += self._worked(answer.fixes)
        if not any(map(_sets, (*answer.fixes, *added))) and (answer.name == self._first or not rule.floor):
            added += self._isolating(rule, is_partless=is_partless)
        return msgspec.structs.replace(answer, fixes=(*answer.fixes, *added)) if added else answer

    def _worked(self, fixes: Sequence[model.Fix]) -> Iterator[model.Fix]:
        """The settings with which the job worked, those that the fixes do not have."""
        known = {name for fix in fixes for name in (*fix.env, *fix.unset)}
        text = say("It worked with this change in the input: keep it until the cause is repaired.")
        for label in cured_by(self._view.job, self._view):
            made, removed = _SET.fullmatch(label), _UNSET.fullmatch(label)
            found = made or removed
            if found is None or found["name"] in known or _does_not_help(found["name"]):
                continue
            known.add(found["name"])
            env = {found["name"]: found["value"]} if made else {}
            yield from self._fix(text, env, [found["name"]] if removed else [])

    def _isolating(self, rule: Rule, *, is_partless: bool) -> Iterator[model.Fix]:
        """The tests without a part of NCCL, and for a rule that knows no part, without the settings of the job."""
        names = self._own_settings() if is_partless else []
        found = self._switches(rule, is_partless=is_partless)
        if not (found or names) and self._is_of_collectives and any(cell[0] == _RELEASE for cell in rule.cells):
            found = [switches.PROTOCOLS] if is_partless else []
        for switch in found:
            text = say(
                "Test: run once without {part} ({instead} instead). If the failure goes away, the fault is in that"
                " part: keep the setting until it is repaired.",
                part=phrase(switch.part), instead=phrase(switch.instead),
            )  # fmt: skip
            yield from self._fix(text, switches.change(switch, self._view), [])
        if names:
            text = say(
                "Test: run once without these settings of the job. If the failure goes away, put them back one by one"
                " to find the one that causes it."
            )
            yield from self._fix(text, {}, names)

    def _switches(self, rule: Rule, *, is_partless: bool) -> Sequence[Switch]:
        """Those for what the rule is about, if the input names it; else, if the rule knows no part, for what fails."""
        core = sorted((cell for cell in rule.cells if _is_at_work(cell)), key=lambda cell: -cell[2])
        own = [thing for thing, _, _ in core if switches.switch_of(thing)]
        said = self._lit.get(rule.code)
        named = {*said.named, *([said.cell[0]] if said.cell else [])} if said is not None else set[str]()
        things = self._failing if is_partless else [thing for thing in own if thing in named]
        found = [switch for thing in things if (switch := switches.switch_of(thing)) is not None]
        useful = {switch.part: switch for switch in found if not (self._is_slow and switch.slows)}
        return list(useful.values())[:_MOST]

    def _own_settings(self) -> list[str]:
        """The variables of NCCL that the job sets, except those that choose the network or only print.

        One that switches a part off is the test of somebody already.
        """
        known = environment.variables()
        told = values_told(self._view.job, self._view)
        held = [name for name in told if name in known]
        tests = {
            name for each in switches.SWITCHES for name, value in each.env.items()
            if told.get(name) == frozenset[str | None]({value})
        }  # fmt: skip
        return [
            name for name in held
            if known[name].owner == environment.OURS and not _CHOOSES.match(name) and not is_only_output(name)
            and name not in tests
        ]  # fmt: skip

    def _fix(self, text: str, env: Mapping[str, str], unset: Collection[str]) -> Iterator[model.Fix]:
        """The fix; none if it changes nothing, was tried in vain, or NCCL's simulated choice refutes it."""
        if not (env or unset) or any(f"{name}={value}" in self._in_vain for name, value in env.items()):
            return
        if env and all(is_in_force(name, value, self._view) for name, value in env.items()):
            return
        proof = prove(self._view, env, tuple(unset))
        if proof.state != "refuted":
            yield model.Fix(
                kind="env" if env else "unset", text=text, workaround=bool(env), env=dict(env), unset=tuple(unset),
                commands=launcher_lines(self._view, env, unset), confirm=say(_GONE),
                proof=model.Proof(proof.state, phrase(proof.bare)),
            )  # fmt: skip
