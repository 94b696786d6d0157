"""End a reading before the end of the input: what was read so far is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from ncdiag.text.sources.model import Text

INTERRUPTED = "interrupted: the rest was not read"
"""The note on a text that was not read to its end."""

T = TypeVar("T")


class Stop:
    """A request to end the reading; it is made by calling `ask`, for example in a signal handler."""

    def __init__(self) -> None:
        """No request yet."""
        self._asked = self._waiting = False

    @property
    def happened(self) -> bool:
        """True once a stop was requested."""
        return self._asked

    def ask(self) -> None:
        """Request the end: before the next piece or, by a KeyboardInterrupt that `until` catches, while waiting for it.

        A piece that is being processed is not lost. Call it in the thread that reads.
        """
        self._asked = True
        if self._waiting:
            raise KeyboardInterrupt

    def until(self, items: Iterator[T]) -> Iterator[T]:
        """The same items, until a stop is requested."""
        while not self.happened:
            try:
                self._waiting = True
                item = next(items)
            except StopIteration:
                return
            except KeyboardInterrupt:
                if not self._asked:
                    raise
                return
            finally:
                self._waiting = False
            yield item


class Stoppable(Text):
    """A text whose buffers end when a stop is requested, with a note that says so."""

    def __init__(self, text: Text, stop: Stop) -> None:
        """``text`` is read at most once through this object."""
        self.name = text.name
        self.notes: list[str] = []
        self.stop, self._text = stop, text

    def buffers(self) -> Iterator[bytes]:
        """The buffers of the text until a stop is requested."""
        yield from self.stop.until(self._text.buffers())
        self.notes = [*self._text.notes, INTERRUPTED] if self.stop.happened else self._text.notes
        self.first_line = self._text.first_line
