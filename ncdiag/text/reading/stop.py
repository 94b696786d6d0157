"""The end of a reading before the end of the input: what was read until then counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from ncdiag.text.sources.model import Text

INTERRUPTED = "interrupted: the rest was not read"
"""The note of a text that was not read to its end."""

T = TypeVar("T")


class Stop:
    """Whether the reading is to end: it does once somebody, such as a signal handler, has called `ask`."""

    def __init__(self) -> None:
        """Nobody has asked."""
        self._asked = self._waiting = False

    @property
    def happened(self) -> bool:
        """True if somebody has asked."""
        return self._asked

    def ask(self) -> None:
        """End the reading: before its next piece or, by a KeyboardInterrupt that `until` takes, while it waits for it.

        A piece that is being worked on is not lost. To be called in the thread that reads.
        """
        self._asked = True
        if self._waiting:
            raise KeyboardInterrupt

    def until(self, items: Iterator[T]) -> Iterator[T]:
        """The same items, until somebody asks."""
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
    """A text whose buffers end when somebody asks, with a note that says so."""

    def __init__(self, text: Text, stop: Stop) -> None:
        """``text`` is read at most once through this object."""
        self.name = text.name
        self.notes: list[str] = []
        self.stop, self._text = stop, text

    def buffers(self) -> Iterator[bytes]:
        """The buffers of the text until then."""
        yield from self.stop.until(self._text.buffers())
        self.notes = [*self._text.notes, INTERRUPTED] if self.stop.happened else self._text.notes
