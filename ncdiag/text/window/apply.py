"""Cut the sources of a case to one window, whose bounds are found from the first and last lines of all files."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import msgspec

from ncdiag.text.sources.files import File
from ncdiag.text.sources.model import Text
from ncdiag.text.window.bounds import Bounds, Changed, Window, Windowed, resolved
from ncdiag.text.window.change import Comparison
from ncdiag.text.window.cut import WindowedFile, WindowedText
from ncdiag.text.window.extent import of_file
from ncdiag.text.window.seek import windowed


class Windows:
    """Cuts streams when they are met, and all files together."""

    def __init__(self, asked: Window) -> None:
        """``asked`` is the window that a person asked for."""
        self._asked = asked
        self._streams: list[WindowedText] = []
        self._bounds: Bounds | None = None
        self._notes: tuple[str, ...] = ()
        self._changes: tuple[Changed, ...] | None = None

    def stream(self, text: Text) -> Text:
        """A text that can be read only once, cut to the window."""
        self._streams.append(WindowedText(text, self._asked))
        return self._streams[-1]

    def files(self, files: Sequence[File]) -> list[WindowedFile]:
        """The files cut to the window. Where their clocks differ, each has the window on its own clock."""
        if not files:
            return []
        compare = self._asked.compare is not None
        self._bounds = resolved(self._asked, [of_file(file, ends=compare) for file in files])
        offsets: Mapping[str, tuple[str, float]] = {}
        if len(files) > 1:
            from ncdiag.text.window.clocks import ahead  # one file has one clock

            offsets = ahead(files)
        moved = sorted({(host, round(seconds)) for host, seconds in offsets.values()})
        self._notes = tuple(
            f"the clock of {host} is {seconds} s ahead; its window was moved" if seconds > 0
            else f"the clock of {host} is {-seconds} s late; its window was moved"
            for host, seconds in moved
        )  # fmt: skip
        found = [
            windowed(file, msgspec.structs.replace(self._bounds, ahead=offsets[file.name][1]))
            if file.name in offsets else windowed(file, self._bounds)
            for file in files
        ]  # fmt: skip
        if self._asked.compare is not None:
            self._changes = self._compared(found, self._bounds.since + self._asked.compare)
        return found

    @staticmethod
    def _compared(files: Sequence[WindowedFile], border: float) -> tuple[Changed, ...]:
        """The first differences between the window, which begins at the border, and the time before it."""
        comparison = Comparison(border)
        for file in files:
            for _ in comparison.read(file.name, file.buffers(), file.bounds):
                pass
        return comparison.found({file.name: file.first_line for file in files})

    def seen(self) -> Windowed:
        """The window as it was applied."""
        found = itertools.chain([self._bounds], (stream.bounds for stream in self._streams))
        bounds = next((each for each in found if each is not None), resolved(self._asked, ()))
        changes = self._changes
        for stream in self._streams:
            if stream.comparison is not None:
                changes = (*(changes or ()), *stream.comparison.found({stream.name: stream.first_line}))
        return Windowed(self._asked, bounds, self._notes, changes)
