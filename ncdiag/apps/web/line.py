"""Who is analysed now and who waits: first come, first served."""

from __future__ import annotations

import asyncio


class Ticket:
    """A place in the line; `Line.join` gives it out."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def before(self) -> int:
        """How many have to leave before it is this one's turn; 0 when it is."""
        return self._line.before(self)

    async def moved(self) -> None:
        """Wait until somebody left the line."""
        await self._line.moved()

    def leave(self) -> None:
        """Give the place up."""
        self._line.leave(self)


class Line:
    """A line with so many ``places`` at its front, where work is done."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._tickets: list[Ticket] = []
        self._left = asyncio.Event()

    def join(self) -> Ticket:
        """A ticket at the end of the line."""
        ticket = Ticket(self)
        self._tickets.append(ticket)
        return ticket

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
