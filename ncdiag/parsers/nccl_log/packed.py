"""Tables on their way from one process to another, in batches.

What pickle notes of each object while it works is as large as the objects; with batches it is never much.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TypeVar

_BATCH = 256

K = TypeVar("K")
V = TypeVar("V")


def packed(table: dict[K, V]) -> list[bytes]:
    """The table in pieces."""
    import pickle  # not needed where one process reads all

    items = iter(table.items())
    return [
        pickle.dumps(batch, pickle.HIGHEST_PROTOCOL)
        for batch in iter(lambda: list(itertools.islice(items, _BATCH)), [])
    ]


def unpacked(batches: Iterable[bytes]) -> dict[K, V]:
    """The table again; ``batches`` come from `packed` in a process of the same program."""
    import pickle

    return dict(itertools.chain.from_iterable(pickle.loads(batch) for batch in batches))  # noqa: S301  (our own)
