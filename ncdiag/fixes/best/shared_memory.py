"""The command that removes what ended programs left in /dev/shm, and nothing that a process has open.

Source: find(1), fuser(1) of psmisc (``-s``: silent; open and mapped files count). Without fuser nothing is removed.
"""

from __future__ import annotations

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.mounts import is_in_container
from ncdiag.facts.vocabulary.shared_memory import is_filled
from ncdiag.fixes.values import Bindings, Value, best

_MADE = frozenset({"nccl-", "torch_", "psm_", "plasma_", "vader_"})
"""What programs make anew at each start. All other files may be data that a person has put there to keep."""
_LINE = (
    'sudo sh -c "command -v fuser && find /dev/shm -maxdepth 1 -type f{which} -mmin +60 '
    "! -exec fuser -s {{}} ';' {act}\""
)
_ASK = ("ls -l /dev/shm",)


@best
def shm_leftovers(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The command for the host whose /dev/shm is full: it deletes only kinds that programs make."""
    hosts = [host for host in view.job.hosts if is_filled(host, view)]
    if len(hosts) != 1:
        return Value(reason="no large /dev/shm was seen that is full", ask_for=("df -h /dev/shm",))
    kinds = sorted({text.partition(" ")[2] for text in hosts[0].shm_files or ()})
    where = "" if hosts[0].name == UNNAMED else f"on {hosts[0].name}; "
    if hosts[0].in_container or is_in_container(view.job, view) or _is_told_of(view):
        line = f"{_LINE.format(which='', act='-ls')}   # on the host, where the programs of all containers are seen"
        return Value(text=line, reason="a container does not see what programs of others have open", ask_for=_ASK)
    is_theirs = bool(kinds) and _MADE.issuperset(kinds)
    names = " -o ".join(f"-name '{kind}*'" for kind in kinds) if is_theirs else ""
    which = f" \\( {names} \\)" if len(kinds) > 1 and names else f" {names}".rstrip()
    what = "only files that no process has open" if which else "what no process has open may still be someone's data"
    line = f"{_LINE.format(which=which, act='-delete' if which else '-ls')}   # {where}{what}"
    if not which:
        return Value(text=line, reason="files of people may be among them", ask_for=_ASK)
    return Value(text=line, reason="programs made what was shown there")


def _is_told_of(view: View) -> bool:
    """Did the person say that the job runs in containers?"""
    return any(
        context.kind in {"container", "orchestrator"} and context.value != "slurm" for context in view.job.contexts
    )
