"""The fixes of a rule without a finding: a word in angle brackets replaces each value that only a finding has."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.compiling import program_of
from ncdiag.engine.program import Program
from ncdiag.engine.schema import Fix, Rule
from ncdiag.engine.tree import Path, Slot, Template, Tree, names_read
from ncdiag.language import say

_KEYS = frozenset({"name", "index", "number", "id"})
"""Fields that only number or name a thing: the kind of the thing is the better word."""
_NEEDED = lazy_regex(r"""([\w.]+) != (?:""|'')""")
"""A condition of a fix: the value is known."""
_CONCERNED = "what is affected"
OPEN = "\0"
"""The value of a variable that only a finding could compute."""
EVERY = "*"
"""The name in a fix's ``env`` whose value is a list of assignments (``best.left_behind``)."""


def unbound(rule: Rule) -> Rule:
    """The rule with fixes that depend only on the job: ``mlxlink -d <hca> -p <port>``.

    A variable whose name depends on a finding is left out, and one whose value does has the value `OPEN`; the sentence
    stays. Conditions on names bound by a finding are unknown and exclude no fix, except one whose line is nothing
    without the value; fixes that need no finding come first, workarounds last.
    """
    program = program_of(rule)
    numbers = range(len(rule.fixes))
    order = sorted(
        [number for number in numbers if not _hangs_on_a_value(rule.fixes[number])] or numbers,
        key=lambda number: (rule.fixes[number].workaround, not _is_general(rule, number)),
    )
    texts = {text: tuple(_parts(program, template)) for text, template in program.templates.items()}
    conditions = [tuple(filter(_is_of_job, program.fix_when[number])) for number in order]
    program = msgspec.structs.replace(
        program, templates=texts, fix_when=tuple(conditions),
        fix_nccl=tuple(program.fix_nccl[number] for number in order),
    )  # fmt: skip
    return msgspec.structs.replace(rule, program=program, fixes=tuple(_fix(rule, rule.fixes[n]) for n in order))


def _hangs_on_a_value(fix: Fix) -> bool:
    """True if a line has a value and the fix is only for findings with that value: ``kill {e.holder}``."""
    needed = [found[1] for condition in fix.when if (found := _NEEDED.fullmatch(condition)) is not None]
    return any(f"{{{name}}}" in line for name in needed if not name.startswith("job.") for line in fix.commands)


def _is_general(rule: Rule, number: int) -> bool:
    fix = rule.fixes[number]
    texts = (fix.text, *fix.env.values(), *fix.unset, *fix.commands)
    return all(map(_is_of_job, program_of(rule).fix_when[number])) and all(is_plain(rule, text) for text in texts)


def is_plain(rule: Rule, text: str) -> bool:
    """True if the text depends only on the job and on computed values."""
    slots = (part for part in program_of(rule).templates.get(text, ()) if isinstance(part, Slot))
    return all(_is_of_job(slot.tree) for slot in slots)


def _is_of_job(tree: Tree | None) -> bool:
    return names_read(tree) <= {"job"}


def _fix(rule: Rule, fix: Fix) -> Fix:
    return msgspec.structs.replace(
        fix, env={
            name: value if is_plain(rule, value) else OPEN for name, value in fix.env.items()
            if name != EVERY or is_plain(rule, value)
        },
        unset=tuple(name for name in fix.unset if is_plain(rule, name)),
        scope=fix.scope if is_plain(rule, fix.scope) else say(_CONCERNED),
    )  # fmt: skip


def _parts(program: Program, template: Template) -> Iterable[str | Slot]:
    """The parts of a text; a placeholder directly after a word or a placeholder only adds detail, and is left out."""
    before: str | Slot = ""
    for part in template:
        if isinstance(part, str) or _is_of_job(part.tree):
            yield part
        elif isinstance(before, str) and not before[-1:].isalnum():
            yield f"<{say(_word(program, part))}>"
        before = part


def _word(program: Program, slot: Slot) -> str:
    """``host``, ``interface``, ``distance name``: the word for a placeholder."""
    if slot.who or not isinstance(slot.tree, Path):
        return slot.who or "value"
    names = [step.name for step in slot.tree.steps]
    paths = {bound.name: bound.path for bound in program.each}
    if not names:  # the bound value itself
        return paths[slot.tree.start].steps[-1].name.replace("_", " ") if slot.tree.start in paths else "value"
    if names[-1] in _KEYS:
        names = [*(step.name for step in paths[slot.tree.start].steps), *names[:-1]]
        return names[-1].removesuffix("s").replace("_", " ")
    return names[-1].replace("_", " ")
