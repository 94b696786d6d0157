"""Three-valued logic and comparisons: True, False and None, which means unknown (Kleene's strong logic).

Two kinds of values in addition to the facts' own: `ABSENT`, a value known not to exist (a variable that a launch line
does not set), and `Interval`, a number of which only bounds are known. No function here raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from ncdiag.facts.scalars import Constraint, Version, VersionRange, in_network

Truth = bool | None


class Absent:
    """A value known not to exist: equal only to itself, neither larger nor smaller than anything."""

    def __str__(self) -> str:
        return "not set"

    __repr__ = __str__


ABSENT: Final = Absent()


class Interval(msgspec.Struct, frozen=True):
    """A number with ``low <= number <= high``; ``high`` None is unbounded."""

    low: int
    high: int | None

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        return f"at least {self.low}" if self.high is None else f"{self.low} to {self.high}"


def both(a: Truth, b: Truth) -> Truth:
    """Kleene's and."""
    return False if a is False or b is False else None if a is None or b is None else True


def either(a: Truth, b: Truth) -> Truth:
    """Kleene's or."""
    return True if a is True or b is True else None if a is None or b is None else False


def negate(a: Truth) -> Truth:
    """Kleene's not."""
    return None if a is None else not a


def equal(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """Compare two scalars or intervals."""
    if a is None or b is None:
        return None
    if isinstance(a, Interval) or isinstance(b, Interval):
        below, above = less(a, b), less(b, a)
        if below or above:
            return False
        return True if _point(a) and _point(b) else None
    return bool(a == b)


def less(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """``a < b`` for numbers; unknown if one of them is not a number."""
    ends = _ends(a, b)
    if ends is None:
        return False if ABSENT in (a, b) else None
    a_low, a_high, b_low, b_high = ends
    if a_high is not None and a_high < b_low:
        return True
    return False if b_high is not None and a_low >= b_high else None


def at_most(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """``a <= b`` for numbers."""
    if a is ABSENT or b is ABSENT:
        return False
    return negate(less(b, a))


def _point(value: Any) -> bool:  # noqa: ANN401
    return not isinstance(value, Interval) or value.low == value.high


def _ends(a: Any, b: Any) -> tuple[float, float | None, float, float | None] | None:  # noqa: ANN401
    ends: list[float | None] = []
    for value in (a, b):
        if isinstance(value, Interval):
            ends += [value.low, value.high]
        elif isinstance(value, int | float):
            ends += [value, value]
        else:
            return None
    return ends[0], ends[1], ends[2], ends[3]  # type: ignore[return-value]


def as_range(value: Any) -> VersionRange | None:  # noqa: ANN401
    """A version, a range or a version text as a range; None for anything else."""
    if isinstance(value, VersionRange):
        return value
    if isinstance(value, Version):
        return VersionRange(value, value)
    return VersionRange.exact(value) if isinstance(value, str) else None


def version_equal(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """Compare two versions; the result for overlapping ranges is unknown."""
    left, right = as_range(a), as_range(b)
    if left is None or right is None:
        return None
    if left.known and right.known:
        return left.low == right.low
    return False if left.intersect(right) is None else None


def version_less(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """``a < b`` for versions."""
    left, right = as_range(a), as_range(b)
    if left is None or right is None:
        return None
    return True if left.high < right.low else False if left.low >= right.high else None


def version_at_most(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """``a <= b`` for versions."""
    return negate(version_less(b, a))


def constraint(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """True if version ``a`` satisfies the constraint text ``b`` (``>=2.4,<2.21``)."""
    return Constraint.parse(b).admits(as_range(a))


def network(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """True if the address ``a`` is in the network text ``b`` (``10.0.0.0/8``)."""
    if a is ABSENT:
        return False
    return in_network(a, b) if isinstance(a, str) else None


def listed(a: Any, b: Iterable[Any]) -> Truth:  # noqa: ANN401
    """True if ``a`` is among the constants ``b``."""
    return None if a is None else a in b


def version_listed(a: Any, b: Iterable[Any]) -> Truth:  # noqa: ANN401
    """True if version ``a`` is among the version texts ``b``."""
    result: Truth = False
    for item in b:
        result = either(result, version_equal(a, item))
    return result


def substring(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """True if ``a`` is a part of the text ``b``."""
    if a is ABSENT or b is ABSENT:
        return False
    return a in b if isinstance(a, str) and isinstance(b, str) else None


def is_key(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """True if ``a`` is a key of the table ``b``, which is complete."""
    return a in b if isinstance(a, str) and isinstance(b, dict) else None


def perhaps_key(a: Any, b: Any) -> Truth:  # noqa: ANN401
    """True if ``a`` is a key of the table ``b``; unknown if it is missing, because the table may be incomplete."""
    return True if isinstance(a, str) and isinstance(b, dict) and a in b else None


COMPARISONS: dict[str, Callable[[Any, Any], Truth]] = {
    "equal": equal,
    "less": less,
    "at_most": at_most,
    "version_equal": version_equal,
    "version_less": version_less,
    "version_at_most": version_at_most,
    "constraint": constraint,
    "network": network,
    "listed": listed,
    "version_listed": version_listed,
    "substring": substring,
    "is_key": is_key,
    "perhaps_key": perhaps_key,
}
"""Comparisons by the name that a condition's tree stores (`ncdiag.engine.tree.Compare`)."""
