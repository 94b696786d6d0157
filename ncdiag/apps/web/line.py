"""The queue of analyses: first come, first served."""

from __future__ import annotations

import asyncio


class Ticket:
    """A place in the queue, issued by `Line.join`."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def before(self) -> int:
        """How many must leave before it is this one's turn; 0 when it is."""
        return self._line.before(self)

    async def moved(self) -> None:
        """Wait until somebody has left the queue."""
        await self._line.moved()

    def leave(self) -> None:
        """Leave the queue."""
        self._line.leave(self)


class Line:
    """A queue whose first ``places`` tickets are being processed."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._tickets: list[Ticket] = []
        self._left = asyncio.Event()

    def join(self) -> Ticket:
        """A ticket at the end of the queue."""
        ticket = Ticket(self)
        self._tickets.append(ticket)
        return ticket

    def __len__(self) -> int:
        """The number of tickets that have not left."""
        return len(self._tickets)

    def before(self, ticket: Ticket) -> int:
        """See `Ticket.before`."""
        return max(0, self._tickets.index(ticket) - self._places + 1)

    async def moved(self) -> None:
        """See `Ticket.moved`."""
        await self._left.wait()

    def leave(self, ticket: Ticket) -> None:
        """See `Ticket.leave`."""
        self._tickets.remove(ticket)
        self._left.set()
        self._left = asyncio.Event()
