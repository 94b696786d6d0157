"""Leave out commands of a fix that belong to a platform on which the job does not run."""

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
_NAMES = lazy_regex(rf"\b(?:{'|'.join(_OF_WORD)})\b(?=:|\[)")
"""A program at the beginning of a line that it logged: ``slurmstepd: error:``."""


def suited(commands: Sequence[str], view: View) -> list[str]:
    """The commands without those of other platforms than the input shows; all of them if none would be left."""
    shown = _shown(view)
    if not shown:
        return list(commands)
    return [line for line in commands if _platform(line) in {None, *shown}] or list(commands)


def _platform(command: str) -> str | None:
    """The platform on which a command runs; None if it runs everywhere."""
    return next((_OF_WORD[word] for word in command.split()[:4] if word in _OF_WORD), None)


def _shown(view: View) -> set[str]:
    """The platforms that launches, people or logged lines name."""
    words = [*(launch.program for launch in view.job.launches), *told_context(view.job, view), *_loggers(view)]
    return {_OF_WORD.get(word, word) for word in words} & {POD, _DOCKER, _SLURM}


def _loggers(view: View) -> Iterable[str]:
    return (found[0] for event in view.job.events for found in _NAMES.finditer(event.text or ""))
