"""Compile a rule's conditions and texts: each is checked against the facts and becomes part of a program."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.engine import clauses
from ncdiag.engine.phrases import phrase, written
from ncdiag.engine.program import Bound, Program, completed
from ncdiag.engine.schema import Rule, Sign
from ncdiag.engine.scope import Names, Scope
from ncdiag.engine.templates import compile_template
from ncdiag.engine.tree import Tree
from ncdiag.facts.scalars import Constraint

MOST_WEIGHT = 3
"""The weight of a cell that names the cause by itself."""


def program_of(rule: Rule) -> Program:
    """The program of a rule; a rule that was not loaded from a file is compiled now.

    Raises DefinitionError if it is invalid.
    """
    return rule.program if rule.program is not None else compile_rule(rule)


def compile_rule(rule: Rule, names: Names | None = None) -> Program:
    """Check the conditions and texts of a rule against the facts.

    Raises DefinitionError with a caret for the first error.
    """
    names = names or Names()
    scope, each = Scope(names), []
    for name, text in rule.each.items():
        if not name.isidentifier() or name in clauses.RESERVED:
            reason = f"each cannot bind {name!r}"
            raise DefinitionError(reason, text=name, hint="choose a name that has no other meaning")
        path, kind = clauses.path(text, scope)
        if scope.walked & scope.collections(path):
            raise DefinitionError(clauses.QUADRATIC, text=text, hint="start from a name that is already bound")
        each.append(Bound(name, path))
        scope = scope.bind(name, path, kind)
    if not rule.when and not (rule.suspect and rule.signs):
        reason = "the rule has neither conditions nor signs, so it would never fire"
        raise DefinitionError(reason, text="when")
    if rule.signs and not rule.suspect:
        reason = "signs belong to a suspect"
        raise DefinitionError(reason, text="sign", hint="add a table [suspect]")
    _check_cells(rule, names)
    program = Program(
        each=tuple(each),
        when=_conditions(rule.when, scope),
        unless=_conditions(rule.unless, scope),
        nccl=_constraint(rule.applies.nccl),
        templates={text: compile_template(text, scope) for text in _texts(rule) if "{" in text or "}" in text},
        title_when=tuple(_conditions(case.when, scope) for case in rule.titles),
        fix_when=tuple(_conditions(fix.when, scope) for fix in rule.fixes),
        fix_nccl=tuple(_constraint(fix.applies.nccl) for fix in rule.fixes),
        sign_when=tuple(_conditions(sign.when, Scope(names)) for sign in rule.signs),
        sign_says=tuple(_said(sign, names) for sign in rule.signs),
    )
    return completed(program)


def _check_cells(rule: Rule, names: Names) -> None:
    """Raise DefinitionError for a cell of an unknown object or reason, with another weight, or listed twice."""
    seen: set[tuple[str, str]] = set()
    for thing, reason, weight in rule.cells:
        for word, known, what in ((thing, names.objects, "object"), (reason, names.failings, "reason")):
            if known and word not in known:
                flaw = f"cells have no {what} {word!r}"
                raise DefinitionError(flaw, text=word, hint=suggestion(word, known))
        if weight not in range(1, MOST_WEIGHT + 1):
            flaw = f"the weight of a cell is a number from 1 to {MOST_WEIGHT}, not {weight}"
            raise DefinitionError(flaw, text=f'"{thing}", "{reason}", {weight}')
        if (thing, reason) in seen:
            flaw = f"the cell {thing} {reason} is listed twice"
            raise DefinitionError(flaw, text=f'"{thing}", "{reason}"')
        seen.add((thing, reason))


def _said(sign: Sign, names: Names) -> tuple[tuple[str, ...], ...]:
    """The phrases of ``says`` and of ``also``, as `ncdiag.engine.phrases.written` makes them."""
    if not (sign.says or sign.when):
        reason = "a sign needs phrases (says) or conditions (when)"
        raise DefinitionError(reason, text=sign.text)
    return tuple(tuple(written(phrase(text, names.classes)) for text in texts) for texts in (sign.says, sign.also))


def _conditions(texts: Iterable[str], scope: Scope) -> tuple[Tree, ...]:
    return tuple(clauses.condition(text, scope) for text in texts)


def _constraint(text: str) -> Constraint:
    try:
        return Constraint.parse(text)
    except ValueError as error:
        raise DefinitionError(str(error), text=text) from None


def _texts(rule: Rule) -> list[str]:
    texts = [rule.title, rule.why, rule.group, *(case.text for case in rule.titles)]
    for fix in rule.fixes:
        texts += [fix.text, fix.scope, fix.confirm, *fix.env.values(), *fix.unset, *fix.commands]
    return texts
