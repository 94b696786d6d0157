"""Run on each host of a sweep: ``python -m ncdiag.apps.cluster.worker SECONDS [JOB STACKS]`` inspects it.

It prints the result. Equivalent to ``ncdiag check --partial --wrapped SECONDS --job JOB --stacks STACKS``, which takes
twice as long to start.
"""

from __future__ import annotations

import contextlib
import gc
import sys

from ncdiag.agent.wrap import leave_with_caller, own_name, wrapped


def main(seconds: float, job: str = "", wanted: str = "auto") -> int:
    """Inspect this host for at most ``seconds``, and the processes of a job on it, if it has any.

    ``wanted`` says which stacks are taken of these.
    """
    leave_with_caller(seconds)
    gc.disable()
    from ncdiag.machine.host import look
    from ncdiag.text import Case, partial

    machine = look()
    if job:
        from ncdiag.apps.watching import jobs, stacks
        from ncdiag.base.errors import UsageError

        with contextlib.suppress(UsageError):  # it has none
            machine, _ = jobs.examined(
                machine, *jobs.of_name(job), next(mode for mode in stacks.MODES if mode == wanted)
            )
    seen = b"".join(partial.written(Case((), (machine,))))
    sys.stdout.writelines(wrapped(seen, own_name()))
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), *sys.argv[2:]))
