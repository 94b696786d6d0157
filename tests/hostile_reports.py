"""Reports and other structures with hostile texts in every field."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st

PIECES = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "javascript:alert(1)",
    'https://example.net/" onclick="x', "</style></title></textarea><b>", "<!--", "]]>", "&lt;b&gt;&#60;", "\x00",
    "\u202eevil\u2066", "\ud800", "\n# FORGED\n", "<svg/onload=alert(1)>", "{{7*7}}", "data:text/html,<b>", "\x1b[2J",
)  # fmt: skip
TEXTS = st.one_of(st.sampled_from(PIECES), st.text(max_size=20), st.just("roce-gid-wrong"))


def built(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Values of a msgspec type whose texts are hostile; lists are short."""
    return _of(msgspec.inspect.type_info(kind))


def _of(info: msgspec.inspect.Type) -> st.SearchStrategy[Any]:  # noqa: C901, PLR0911  (a case for each kind)
    match info:
        case msgspec.inspect.StructType(cls=cls, fields=fields):
            return st.builds(cls, **{field.name: _of(field.type) for field in fields})
        case msgspec.inspect.Metadata(type=inner):
            return _of(inner)
        case msgspec.inspect.FrozenSetType(item_type=item):
            return st.frozensets(_of(item), max_size=2)
        case msgspec.inspect.TupleType(item_types=items):
            return st.tuples(*map(_of, items))
        case msgspec.inspect.VarTupleType(item_type=item):
            return st.lists(_of(item), max_size=2).map(tuple)
        case msgspec.inspect.DictType(key_type=key, value_type=value):
            return st.dictionaries(_of(key), _of(value), max_size=2)
        case msgspec.inspect.UnionType(types=types):
            return st.one_of(*map(_of, types))
        case msgspec.inspect.LiteralType(values=values):
            return st.sampled_from(sorted(values, key=str))
        case msgspec.inspect.NoneType():
            return st.none()
        case msgspec.inspect.BoolType():
            return st.booleans()
        case msgspec.inspect.IntType():
            return st.integers(0, 10**6)
        case msgspec.inspect.FloatType():
            return st.floats(0, 10**9)
    assert isinstance(info, msgspec.inspect.StrType), info
    return TEXTS
