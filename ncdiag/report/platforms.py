"""Leave out commands of a fix that belong to a platform, or to a launcher, with which the job does not run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.told import told_context

_SLURM, _DOCKER = "slurm", "docker"
_OF_WORD = {
    "kubectl": POD, "helm": POD, "pod": POD, "docker": _DOCKER, "podman": _DOCKER, "compose": _DOCKER,
    "srun": _SLURM, "sbatch": _SLURM, "salloc": _SLURM, "scontrol": _SLURM, "sacct": _SLURM, "slurmstepd": _SLURM,
    "slurmd": _SLURM,
}  # fmt: skip
"""The platform of a program, by its name."""
_FILTERS = {"firewall-cmd": "firewalld", "ufw": "ufw", "iptables": "iptables", "nft": "nft"}
"""The packet filter that a program manages: on a host with one, a line for another one would be undone, or fail."""
_LAUNCHERS = frozenset({"torchrun", "srun", "mpirun", "mpiexec", "horovodrun", "deepspeed", "accelerate"})
"""Programs that start the processes of a job: a line for another one than the job's would have to be translated."""
_SUBMITS = {"sbatch": "srun", "salloc": "srun"}
"""Programs of Slurm in whose jobs srun starts the processes."""
_IN_TEXT = (
    (POD, lazy_regex(r"\bkubepods?\b|\bcri-containerd\b|\bOOMKilled\b|\bkubelet\b")),
    (_SLURM, lazy_regex(r"/slurm(?:stepd)?[_./]|\bSLURM_JOB_ID\b")),
)
"""What kernels, container runtimes and controllers print only on a platform: names of control groups, reasons."""
_NAMES = lazy_regex(rf"\b(?:{'|'.join(_OF_WORD)})\b(?=:|\[)")
"""A program at the beginning of a line that it logged: ``slurmstepd: error:``."""


def suited(commands: Sequence[str], view: View) -> list[str]:
    """The commands without those of other platforms than the input shows; all of them if none would be left."""
    shown = platforms_shown(view)
    launchers, filters = view.remembered(("launchers", "filters"), lambda: (_launchers(view), _filters(view)))
    return [line for line in commands if _fits(line, shown, launchers, filters)] or list(commands)


def _fits(command: str, platforms: set[str], launchers: set[str], filters: set[str]) -> bool:
    """False for a command of another platform, launcher or packet filter than the input shows."""
    if platforms and _platform(command) not in {None, *platforms}:
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
    """The platform on which a command runs; None if it runs everywhere."""
    return next((_OF_WORD[word] for word in command.split()[:4] if word in _OF_WORD), None)


def platforms_shown(view: View) -> set[str]:
    """The platforms that launches, people or logged lines name."""
    return view.remembered(("platforms shown",), lambda: _platforms(view))


def _platforms(view: View) -> set[str]:
    programs = (launch.program.split(" ")[0] for launch in view.job.launches)
    words = [*programs, *told_context(view.job, view), *_loggers(view)]
    return {_OF_WORD.get(word, word) for word in words} & {POD, _DOCKER, _SLURM} | {*_in_text(view)}


def _in_text(view: View) -> Iterable[str]:
    texts = [event.text for event in view.job.events if event.text]
    return (platform for platform, sign in _IN_TEXT if any(map(sign.search, texts)))


def _loggers(view: View) -> Iterable[str]:
    return (found[0] for event in view.job.events for found in _NAMES.finditer(event.text or ""))
