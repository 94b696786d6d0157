"""What the parsers of tools that list the nodes of a fabric share."""

from __future__ import annotations

from typing import Any

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading


class FabricReading(Reading):
    """Collects nodes with their links, and reports all of them as one Fabric."""

    def __init__(self, section: Section) -> None:
        """No node has begun."""
        super().__init__(section)
        self.nodes: list[dict[str, Any]] = []
        self._first = 0

    def begin(self, **fields: Any) -> None:  # noqa: ANN401  (the fields of a node)
        """Begin a node; the links that follow are appended to its ``links``."""
        self._first = self._first if self.nodes else self.index
        self.nodes.append({**fields, "links": []})

    def end(self) -> None:
        """Report the nodes, if there are any."""
        if self.nodes:
            self.observe("Fabric", at=self._first, nodes=self.nodes)
