"""What tests measured of each GPU and between each two of a host, put together from matrices of both directions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Standing, observe

LARGEST = 1024
"""GPUs of a matrix; a wider one is something else."""

_Told = dict[str, tuple[int, Any]]
"""Values by field, each with the index of the line that tells it."""


class Rates:
    """Collects the cells of a section's matrices: of a pair the worse of its directions stays, of a GPU the better.

    ``host`` is the one that the output names, if any.
    """

    def __init__(self, section: Section) -> None:
        """Start empty."""
        self.host: str | None = None
        self._section = section
        self._pairs: dict[tuple[int, int], _Told] = defaultdict(dict)
        self._gpus: dict[int, _Told] = defaultdict(dict)

    def pair(self, index: int, field: str, one: int, other: int, value: float) -> None:
        """Take what ``section.lines[index]`` tells of two GPUs."""
        held = self._pairs[min(one, other), max(one, other)]
        if field not in held or _is_worse(field, value, held[field][1]):
            held[field] = index, value

    def gpu(self, index: int, number: int, **fields: Any) -> None:  # noqa: ANN401  (fields of a Gpu)
        """Take what a line tells of one GPU; of two rates the higher stays."""
        held = self._gpus[number]
        for field, value in fields.items():
            if field not in held or not isinstance(value, float) or value > held[field][1]:
                held[field] = index, value

    def observations(self) -> Iterator[Observation]:
        """The pairs, then the GPUs; what a driver's tool says of a GPU of that number counts more than CUDA's order."""
        for (one, other), told in self._pairs.items():
            yield from self._of("TopoLink", (f"GPU{one}", f"GPU{other}"), told, "live")
        for number, told in self._gpus.items():
            yield from self._of("Gpu", (number,), told, "default")

    def _of(
        self, entity: str, key: tuple[str | int, ...], told: Mapping[str, tuple[int, Any]], standing: Standing
    ) -> Iterator[Observation]:  # fmt: skip
        """An observation for each line that tells something of it."""
        for index in sorted({index for index, _ in told.values()}):
            fields = {field: value for field, (at, value) in told.items() if at == index}
            yield observe(self._section, index, entity, key, standing=standing, host=self.host, **fields)


def _is_worse(field: str, value: float, held: float) -> bool:
    return value > held if field.endswith("_us") else value < held
