"""A pseudo-terminal for what a job prints on a terminal: it stays one for the job, and what is printed can be read.

It processes no output (OPOST, termios(3)): bytes pass as they are, and the real terminal does with them what it does
without ncdiag. It is no process's controlling terminal: keys, their signals and standard input are those of the real
terminal, whose settings are only read. Settings that a job makes through its output (as ncurses does) stay here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import termios

_OUTPUT_FLAGS = 1
"""Place in what `termios.tcgetattr` returns."""
_SIZE = bytes(8)
"""Room for struct winsize: rows, columns, and the size in pixels (TIOCGWINSZ(2const))."""
_GET_DEVICE = 0x80045432  # TIOCGDEV, include/uapi/asm-generic/ioctls.h: /dev/tty as well gives the terminal behind it


def device(terminal: int) -> int:
    """The device number of a terminal, the same for each descriptor that leads to it. Raises OSError."""
    try:
        return int.from_bytes(fcntl.ioctl(terminal, _GET_DEVICE, bytes(4)), sys.byteorder)
    except OSError:  # a processor with other numbers
        return os.fstat(terminal).st_rdev


def like(terminal: int) -> tuple[int, int]:
    """A pseudo-terminal with the settings and the size of a terminal: the end to read, and the end for the job.

    Raises OSError where there can be none.
    """
    end, job = os.openpty()
    for each in (job, terminal):  # the real one may have gone meanwhile
        with contextlib.suppress(termios.error):
            settings = termios.tcgetattr(each)
            settings[_OUTPUT_FLAGS] &= ~termios.OPOST
            termios.tcsetattr(job, termios.TCSANOW, settings)
    follow_size(terminal, end)
    return end, job


def follow_size(terminal: int, end: int) -> bool:
    """Give a pseudo-terminal the size of the terminal; True if it had another one."""
    try:
        wanted, has = (fcntl.ioctl(each, termios.TIOCGWINSZ, _SIZE) for each in (terminal, end))
        if wanted == has:
            return False
        fcntl.ioctl(end, termios.TIOCSWINSZ, wanted)
    except OSError:  # its window was closed
        return False
    return True
