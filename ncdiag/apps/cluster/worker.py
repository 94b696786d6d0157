"""What each host of a sweep runs: ``python -m ncdiag.apps.cluster.worker SECONDS`` looks at it and prints what it saw.

The same as ``ncdiag check --partial --wrapped SECONDS``, which starts in twice the time.
"""

from __future__ import annotations

import gc
import sys

from ncdiag.agent.wrap import leave_with_caller, own_name, wrapped


def main(seconds: float) -> int:
    """Look at this host for at most so many seconds."""
    leave_with_caller(seconds)
    gc.disable()
    from ncdiag.machine.host import look
    from ncdiag.text import Case, partial

    seen = b"".join(partial.written(Case((), (look(),))))
    sys.stdout.writelines(wrapped(seen, own_name()))
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
