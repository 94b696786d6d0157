"""Leave out commands of a fix that belong to a platform, or to a launcher, with which the job does not run."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.platforms import DOCKER, OF_WORD, SLURM, platforms
from ncdiag.facts.vocabulary.told import told_context

_FILTERS = {"firewall-cmd": "firewalld", "ufw": "ufw", "iptables": "iptables", "nft": "nft"}
"""The packet filter that a program manages: on a host with one, a line for another one would be undone, or fail."""
_LAUNCHERS = frozenset({"torchrun", "srun", "mpirun", "mpiexec", "horovodrun", "deepspeed", "accelerate"})
"""Programs that start the processes of a job: a line for another one than the job's would have to be translated."""
_OF_LOGINS = "/etc/security/limits.conf"
_RUNTIMES = {"--runtime=docker": DOCKER, "--runtime=containerd": POD, "--runtime=crio": POD}
"""Options of nvidia-ctk for the program that starts the containers."""
_SERVICES = {"containerd": POD, "crio": POD, "kubelet": POD}
_SUBMITS = {"sbatch": "srun", "salloc": "srun"}
"""Programs of Slurm in whose jobs srun starts the processes."""


def suited(commands: Sequence[str], view: View) -> list[str]:
    """The commands without those of other platforms than the input shows; all of them if none would be left."""
    shown = platforms(view.job, view)
    launchers, filters = view.remembered(("launchers", "filters"), lambda: (_launchers(view), _filters(view)))
    return [line for line in commands if _fits(line, shown, launchers, filters)] or list(commands)


def _fits(command: str, shown: frozenset[str], launchers: set[str], filters: set[str]) -> bool:
    """False for a command of another platform, launcher or packet filter than the input shows."""
    if shown and _platform(command) not in {None, *shown}:
        return False
    words = command.split()
    of_filter = next((_FILTERS[word] for word in words[:2] if word in _FILTERS), None)
    if filters and of_filter not in {None, *filters}:
        return False
    return not launchers or words[0] not in _LAUNCHERS or not launchers.isdisjoint(words)


def _launchers(view: View) -> set[str]:
    """The programs that start the job's processes, as its launch lines or people name them."""
    words = {*(launch.program for launch in view.job.launches), *told_context(view.job, view)}
    return {_SUBMITS.get(word, word) for word in words} & _LAUNCHERS


def _filters(view: View) -> set[str]:
    """The packet filters of the hosts."""
    return {name for host in view.job.hosts for name in host.input_filters or ()}


def _platform(command: str) -> str | None:
    """The platform on which a command runs; None if it runs everywhere.

    limits.conf holds for logins, and what Slurm starts may get the limits of the login: no container gets them.
    """
    if _OF_LOGINS in command:
        return SLURM
    if runtime := next((platform for option, platform in _RUNTIMES.items() if option in command), None):
        return runtime
    known = OF_WORD | _SERVICES
    return next((known[word] for word in command.split()[:4] if word in known), None)
