"""A pseudo-terminal for a job that prints to a terminal: the job still sees a terminal, and its output can be read.

Output is not processed (OPOST, termios(3)): bytes pass unchanged, and the real terminal treats them as it does without
ncdiag. It is not the controlling terminal of any process: keys, their signals and standard input are those of the real
terminal, whose settings are only read. Settings that a job makes on its output (as ncurses does) affect only this one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import termios

_OUTPUT_FLAGS = 1
"""Index of the output flags in the result of `termios.tcgetattr`."""
_SIZE = bytes(8)
"""Buffer for struct winsize: rows, columns, and the size in pixels (TIOCGWINSZ(2const))."""
_GET_DEVICE = 0x80045432  # TIOCGDEV, include/uapi/asm-generic/ioctls.h: also resolves /dev/tty to the real terminal


def device(terminal: int) -> int:
    """The device number of a terminal, the same for each descriptor that refers to it. Raises OSError."""
    try:
        return int.from_bytes(fcntl.ioctl(terminal, _GET_DEVICE, bytes(4)), sys.byteorder)
    except OSError:  # a processor architecture with another ioctl number
        return os.fstat(terminal).st_rdev


def like(terminal: int) -> tuple[int, int]:
    """Create a pseudo-terminal with the settings and size of a terminal; returns (end to read, end for the job).

    Raises OSError if none can be created.
    """
    end, job = os.openpty()
    for each in (job, terminal):  # the real one may have disappeared
        with contextlib.suppress(termios.error):
            settings = termios.tcgetattr(each)
            settings[_OUTPUT_FLAGS] &= ~termios.OPOST
            termios.tcsetattr(job, termios.TCSANOW, settings)
    follow_size(terminal, end)
    return end, job


def follow_size(terminal: int, end: int) -> bool:
    """Copy the size of the terminal to a pseudo-terminal; True if it changed."""
    try:
        wanted, has = (fcntl.ioctl(each, termios.TIOCGWINSZ, _SIZE) for each in (terminal, end))
        if wanted == has:
            return False
        fcntl.ioctl(end, termios.TIOCSWINSZ, wanted)
    except OSError:  # its window was closed
        return False
    return True
