"""The platforms on which a job runs: Slurm, Kubernetes, Docker."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.told import told_context

SLURM, DOCKER = "slurm", "docker"
OF_WORD = {
    "kubectl": POD, "helm": POD, "pod": POD, "kubeflow": POD, "mpi-operator": POD, "training-operator": POD,
    "kuberay": POD, "docker": DOCKER, "podman": DOCKER, "compose": DOCKER,
    "srun": SLURM, "sbatch": SLURM, "salloc": SLURM, "scontrol": SLURM, "sacct": SLURM, "slurmstepd": SLURM,
    "slurmd": SLURM,
}  # fmt: skip
"""The platform of a program, or of what people name, by its name."""
_IN_TEXT = (
    (POD, lazy_regex(r"\bkubepods?\b|\bcri-containerd\b|\bOOMKilled\b|\bkubelet\b")),
    (SLURM, lazy_regex(r"/slurm(?:stepd)?[_./]|\bSLURM_JOB_ID\b")),
)
"""What kernels, container runtimes and controllers print only on a platform: names of control groups, reasons."""
_LISTED = {"slurm": SLURM, "k8s": POD, "pod": POD}
"""The first words of events that only tools of a platform print: ``slurm-job-runs``, ``pod-listed``."""
_NAMES = lazy_regex(rf"\b(?:{'|'.join(OF_WORD)})\b(?=:|\[)")
"""A program at the beginning of a line that it logged: ``slurmstepd: error:``."""


@derived
def platforms(job: Job, view: View) -> frozenset[str]:
    """The platforms that launches, people, typed commands or logged lines name."""
    programs = (launch.program.split(" ")[0] for launch in job.launches)
    typed = (context.value for context in job.contexts if not context.told)
    texts = [event.text for event in job.events if event.text]
    loggers = (found[0] for text in texts for found in _NAMES.finditer(text))
    listed = (_LISTED[word] for event in job.events if (word := event.event.partition("-")[0]) in _LISTED)
    words = [*programs, *told_context(job, view), *typed, *loggers, *listed]
    return frozenset({OF_WORD.get(word, word) for word in words} & {POD, DOCKER, SLURM} | {*_in_text(texts)})


def _in_text(texts: list[str]) -> Iterable[str]:
    return (platform for platform, sign in _IN_TEXT if any(map(sign.search, texts)))
