"""Convert condition trees to functions. A condition becomes ``Frame -> True, False or None``; odd facts never raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ncdiag.engine.narrow import narrowing
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
from ncdiag.engine.walk import Found, Frame, Walk, fan_out, shared, single
from ncdiag.facts.scalars import Version, VersionRange

Run = Callable[[Frame], Any]
Test = Callable[[Frame], Truth]

_DECISIVE = {"any": True, "none": True, "all": False}
"""The value of one element that decides a quantifier."""
_COUNTING = frozenset({"any", "none", "count"})
"""The quantifiers for which an element counts only if its item is true."""
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


Judged = tuple[Truth, Truth, Any, int]
"""Of an element, or of several that are alike: condition, item, measured value, and how many there are."""
Each = Callable[[Frame], tuple[list[Judged], bool]]


def _quantifier(tree: Quantifier) -> Run:
    each = _one_by_one(tree, _narrowed(tree, _elements(tree)), _judging(tree))
    if tree.path.start == "job":
        each = _by_class(tree, _elements(tree), _judging(tree), each)
    return _SUMMARIES[tree.word](each)


def _judging(tree: Quantifier) -> Callable[[Frame, Any, int], Judged]:
    """Return a function that judges one element; ``times`` is the number of elements for which the result holds."""
    name = tree.name
    item = test(tree.item) if tree.item is not None and tree.word != "distinct" else None
    condition = test(tree.condition) if tree.condition is not None else None
    measure = value(tree.item) if tree.item is not None and tree.word == "distinct" else None

    def judged(frame: Frame, element: Any, times: int) -> Judged:  # noqa: ANN401
        frame.names[name] = element
        wanted = condition(frame) if condition else True
        held = None if wanted is False or item is None else item(frame)
        measured = measure(frame) if measure and wanted is not False else None
        return wanted, held if item else wanted, measured, times

    return judged


def _one_by_one(tree: Quantifier, walk: Walk, judged: Callable[[Frame, Any, int], Judged]) -> Each:
    """The results of the elements; reads of elements that do not match, and of too many, are dropped."""
    name, decisive = tree.name, _DECISIVE.get(tree.word)

    def each(frame: Frame) -> tuple[list[Judged], bool]:
        found, reads = walk(frame), frame.reads
        results: list[Judged] = []
        for element in found.items:
            if frame.reads is not None and len(frame.reads) >= _KEEP_READS:
                frame.reads = None  # until the end
            mark = len(frame.reads) if frame.reads is not None else 0
            wanted, held, *_ = result = judged(frame, element, 1)
            results.append(result)
            if frame.reads is not None and (both(wanted, held) is not True or len(frame.reads) > _KEEP_READS):
                del frame.reads[mark:]
            elif frame.reads is None and held is decisive and wanted is True:
                break
        frame.names.pop(name, None)
        frame.reads = reads
        return results, found.open

    return each


def _by_class(tree: Quantifier, walk: Walk, judged: Callable[[Frame, Any, int], Judged], one_by_one: Each) -> Each:
    """The same without evidence, where those elements that are alike are judged once, by a stand-in."""
    name, decisive = tree.name, _DECISIVE.get(tree.word)

    def each(frame: Frame) -> tuple[list[Judged], bool]:
        found = walk(frame) if frame.reads is None else None
        groups = frame.context.alike(found.items) if found is not None else None
        if found is None or groups is None:
            return one_by_one(frame)
        results: list[Judged] = []

        def settles(stand_in: Any, size: int) -> bool:  # noqa: ANN401
            result = judged(frame, stand_in, size)
            hash(_hashable(result[2]))  # the name of a host refuses
            results.append(result)
            return True

        def is_decided() -> bool:
            wanted, held, *_ = results[-1]
            return held is decisive and wanted is True

        for element in groups.unsettled(settles, is_decided):
            results.append(judged(frame, element, 1))  # noqa: PERF401  (so do the two above, in between)
        frame.names.pop(name, None)
        return results, found.open

    return each


def _elements(tree: Quantifier) -> Walk:
    walk, events = fan_out(tree.path), tree.events
    if events is None:
        return shared(tree.path, walk)

    def confined(frame: Frame) -> Found:
        job = frame.context.view.job
        return Found(list(frame.context.events(events)), "events" not in job.complete)

    return shared(tree.path, confined, ("perhaps", *events))


def _narrowed(tree: Quantifier, walk: Walk) -> Walk:
    """The same without elements that cannot count, unless evidence is wanted."""
    counting = (tree.condition, tree.item) if tree.word in _COUNTING else (tree.condition,)
    to = narrowing(counting, tree.path, tree.name)
    if to is None:
        return walk

    def run(frame: Frame) -> Found:
        found = walk(frame)
        return found if frame.reads is not None else Found([*frame.context.narrowed(found.items, to)], found.open)

    return run


def _any(each: Each) -> Test:
    def run(frame: Frame) -> Truth:
        results, is_open = each(frame)
        found: Truth = None if is_open else False
        for wanted, held, *_ in results:
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
        for wanted, held, *_ in results:
            found = both(found, either(negate(wanted), held))
        return found

    return run


def _count(each: Each) -> Callable[[Frame], Interval]:
    def run(frame: Frame) -> Interval:
        results, is_open = each(frame)
        low = perhaps = 0
        for wanted, held, _, times in results:
            counts = both(wanted, held)
            low += times if counts is True else 0
            perhaps += times if counts is None else 0
        return Interval(low, None if is_open else low + perhaps)

    return run


def _distinct(each: Each) -> Callable[[Frame], Interval]:
    """The number of distinct values; unknown values and elements that may not match widen the interval."""

    def run(frame: Frame) -> Interval:
        results, is_open = each(frame)
        sure: set[Any] = set()
        perhaps: set[Any] = set()
        unknown = some = 0
        for wanted, _, measured, times in results:
            if wanted is False:
                continue
            some += wanted is True
            known = _hashable(measured)
            if known is None:
                unknown += times
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
