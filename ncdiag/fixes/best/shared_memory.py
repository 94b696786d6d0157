"""The command that removes what ended programs left in /dev/shm, and nothing that a process has open.

Source: find(1), fuser(1) of psmisc (``-s``: silent; open and mapped files count). Without fuser nothing is removed.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.shared_memory import is_filled
from ncdiag.fixes.values import Bindings, Value, best

_USER = lazy_regex(r"[a-z_][a-z0-9_-]{0,31}")
_KIND = lazy_regex(r"[A-Za-z]{2,20}[_.-]")
_LINE = (
    'sudo sh -c "command -v fuser && find /dev/shm -maxdepth 1 -type f{which} -mmin +60 '
    "! -exec fuser -s {{}} ';' {act}\""
)
_ASK = ("ls -l /dev/shm",)


@best
def shm_leftovers(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The command for the host whose /dev/shm is full: it deletes where the owner or the kind of files was shown."""
    hosts = [host for host in view.job.hosts if is_filled(host, view)]
    if len(hosts) != 1:
        return Value(reason="no large /dev/shm was seen that is full", ask_for=("df -h /dev/shm",))
    shown = [text.partition(" ") for text in hosts[0].shm_files or ()]
    owners, kinds = {owner for owner, _, _ in shown}, {kind for _, _, kind in shown}
    owner, kind = (names.pop() if len(names) == 1 else "" for names in (owners, kinds))
    which = f" -user {owner}" if _USER.fullmatch(owner) and owner != "root" else ""
    which += f" -name '{kind}*'" if _KIND.fullmatch(kind) else ""
    where = "" if hosts[0].name == UNNAMED else f"on {hosts[0].name}; "
    line = (
        f"{_LINE.format(which=which, act='-delete' if which else '-ls')}   # {where}only files that no process has open"
    )
    if not which:
        return Value(text=line, reason="whose files they are was not seen", ask_for=_ASK)
    return Value(text=line, reason="what was shown there")
