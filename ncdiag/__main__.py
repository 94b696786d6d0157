"""``ncdiag`` and ``python -m ncdiag``: Ctrl-C ends the program without a traceback even while it is being imported."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps, without the time that its enumerations take
import sys


def main() -> int:
    """Import and run the program. If the caller ignores SIGINT, so does `run`, for the job that it starts."""
    stays = sys.argv[1:2] == ["run"] and _signal.getsignal(_signal.SIGINT) == _signal.SIG_IGN
    if not stays:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    from ncdiag.cli import main as run

    if not stays:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    return run()


if __name__ == "__main__":
    sys.exit(main())
