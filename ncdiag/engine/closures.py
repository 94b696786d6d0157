"""Convert condition trees to functions. A condition becomes ``Frame -> True, False or None``; odd facts never raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ncdiag.engine.three_valued import (
    COMPARISONS,
    Interval,
    Truth,
    as_range,
    both,
    either,
    equal,
    negate,
    version_equal,
)
from ncdiag.engine.tree import Compare, Const, Items, Junction, Not, Path, Quantifier, Tree
from ncdiag.engine.walk import Found, Frame, fan_out, single
from ncdiag.facts.scalars import Version, VersionRange

Run = Callable[[Frame], Any]
Test = Callable[[Frame], Truth]

_KEEP_READS = 40
"""Maximum number of reads that ``all``, ``count`` and ``distinct`` keep as evidence."""


def value(tree: Tree) -> Run:  # noqa: PLR0911  (one line a kind of tree)
    """The function that computes an expression: a scalar, an entity, a `Found`, an `Interval` or a truth value."""
    if isinstance(tree, Path):
        return fan_out(tree) if tree.many else single(tree)
    if isinstance(tree, Const):
        constant = tree.value
        return lambda _: constant
    if isinstance(tree, Items):
        constants = tree.values
        return lambda _: constants
    if isinstance(tree, Not):
        inner = test(tree.item)
        return lambda frame: negate(inner(frame))
    if isinstance(tree, Junction):
        return _junction(tree)
    if isinstance(tree, Compare):
        return _comparison(tree)
    return _remembered(_quantifier(tree)) if tree.closed else _quantifier(tree)


def test(tree: Tree) -> Test:
    """The function that judges a condition."""
    run = value(tree)
    if not isinstance(tree, Path):
        return run

    def read(frame: Frame) -> Truth:
        found = run(frame)
        return found if found is True or found is False else None

    return read


def _junction(tree: Junction) -> Test:
    tests = tuple(map(test, tree.items))
    decisive = tree.word == "or"

    def run(frame: Frame) -> Truth:
        unknown = False
        for item in tests:
            mark = len(frame.reads) if frame.reads is not None else 0
            result = item(frame)
            if result is decisive:
                return decisive
            if decisive and frame.reads is not None:
                del frame.reads[mark:]  # what is false is no evidence
            unknown = unknown or result is None
        return None if unknown else not decisive

    return run


def _comparison(tree: Compare) -> Test:
    run = _upright(tree)
    return (lambda frame: negate(run(frame))) if tree.inverted else run


def _upright(tree: Compare) -> Test:
    """The comparison without its negation."""
    left, right = value(tree.left), value(tree.right)
    if tree.how in ("member", "version_member"):
        same = version_equal if tree.how == "version_member" else equal

        return lambda frame: _member(left(frame), right(frame), same)
    if isinstance(tree.right, Const | Items):
        return _with_constant(tree, left)
    how = COMPARISONS[tree.how]
    return lambda frame: how(left(frame), right(frame))


def _with_constant(tree: Compare, left: Run) -> Test:
    """The comparison with a constant, the usual case, with the constant prepared in advance."""
    how = COMPARISONS[tree.how]
    constant: Any = tree.right.values if isinstance(tree.right, Items) else tree.right.value  # type: ignore[union-attr]
    if tree.how in ("version_equal", "version_less", "version_at_most"):
        constant = as_range(constant)
    elif tree.how == "listed":
        constant = frozenset(constant)
    elif tree.how == "equal" and not isinstance(tree.left, Quantifier):

        def same(frame: Frame) -> Truth:
            found = left(frame)
            return None if found is None else found == constant

        return same
    return lambda frame: how(left(frame), constant)


def _member(item: Any, where: Found, same: Callable[[Any, Any], Truth]) -> Truth:  # noqa: ANN401
    result: Truth = None if where.open else False
    for element in where.items:
        held = same(item, element)
        if held is True:
            return True
        result = either(result, held)
    return result


def _remembered(run: Run) -> Run:
    """Evaluate a condition on the job only once, with its evidence."""
    key = object()

    def remembered(frame: Frame) -> Any:  # noqa: ANN401
        memo = frame.context.memo
        wants_reads = frame.reads is not None
        if (key, wants_reads) not in memo:
            own = Frame(frame.context, {}, [] if wants_reads else None)
            memo[key, wants_reads] = run(own), own.reads
        result, reads = memo[key, wants_reads]
        if frame.reads is not None:
            frame.reads += reads
        return result

    return remembered


def _quantifier(tree: Quantifier) -> Run:
    walk, name = _elements(tree), tree.name
    item = test(tree.item) if tree.item is not None and tree.word != "distinct" else None
    condition = test(tree.condition) if tree.condition is not None else None
    measure = value(tree.item) if tree.item is not None and tree.word == "distinct" else None
    decisive = {"any": True, "none": True, "all": False}.get(tree.word)  # one element with this value decides

    def each(frame: Frame) -> tuple[list[tuple[Truth, Truth, Any]], bool]:
        """(condition, item, measured value) of each element; reads of elements that do not match are dropped."""
        found, results = walk(frame), []
        for element in found.items:
            frame.names[name] = element
            mark = len(frame.reads) if frame.reads is not None else 0
            wanted = condition(frame) if condition else True
            held = None if wanted is False or item is None else item(frame)
            measured = measure(frame) if measure and wanted is not False else None
            held = held if item else wanted
            results.append((wanted, held, measured))
            if frame.reads is not None and (both(wanted, held) is not True or len(frame.reads) > _KEEP_READS):
                del frame.reads[mark:]
            elif frame.reads is None and held is decisive and wanted is True:
                break
        frame.names.pop(name, None)
        return results, found.open

    return _SUMMARIES[tree.word](each)


def _elements(tree: Quantifier) -> Callable[[Frame], Found]:
    walk, events = fan_out(tree.path), tree.events
    if events is None:
        return walk

    def confined(frame: Frame) -> Found:
        job = frame.context.view.job
        return Found(list(frame.context.events(events)), "events" not in job.complete)

    return confined


Each = Callable[[Frame], tuple[list[tuple[Truth, Truth, Any]], bool]]


def _any(each: Each) -> Test:
    def run(frame: Frame) -> Truth:
        results, is_open = each(frame)
        found: Truth = None if is_open else False
        for wanted, held, _ in results:
            found = either(found, both(wanted, held))
        return found

    return run


def _none(each: Each) -> Test:
    some = _any(each)
    return lambda frame: negate(some(frame))


def _all(each: Each) -> Test:
    def run(frame: Frame) -> Truth:
        results, is_open = each(frame)
        found: Truth = None if is_open else True
        for wanted, held, _ in results:
            found = both(found, either(negate(wanted), held))
        return found

    return run


def _count(each: Each) -> Callable[[Frame], Interval]:
    def run(frame: Frame) -> Interval:
        results, is_open = each(frame)
        judged = [both(wanted, held) for wanted, held, _ in results]
        low = judged.count(True)
        return Interval(low, None if is_open else low + judged.count(None))

    return run


def _distinct(each: Each) -> Callable[[Frame], Interval]:
    """The number of distinct values; unknown values and elements that may not match widen the interval."""

    def run(frame: Frame) -> Interval:
        results, is_open = each(frame)
        sure: set[Any] = set()
        perhaps: set[Any] = set()
        unknown = some = 0
        for wanted, _, measured in results:
            if wanted is False:
                continue
            some += wanted is True
            known = _hashable(measured)
            if known is None:
                unknown += 1
            else:
                (sure if wanted else perhaps).add(known)
        low = max(len(sure), min(some, 1))
        return Interval(low, None if is_open else len(sure | perhaps) + unknown)

    return run


def _hashable(measured: Any) -> Any:  # noqa: ANN401
    """A hashable form of a value; None if the value is not known exactly."""
    if isinstance(measured, VersionRange):
        return measured.low if measured.known else None
    if measured is None or isinstance(measured, str | int | float | Version):
        return measured
    return str(measured)


_SUMMARIES: dict[str, Callable[[Each], Run]] = {
    "any": _any, "none": _none, "all": _all, "count": _count, "distinct": _distinct,
}  # fmt: skip
