"""Whether srun tells the tasks of a job of each other, and what people say of srun beside mpirun."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.job import has_ready_rank

_CLAUSE = lazy_regex(r"(?i)[;,\n]|[.!?](?=\s|$)|\b(?:but|while|whereas|however|although|though|and|yet)\b")
_LAUNCHER = lazy_regex(r"(?i)\b(?:(?P<srun>srun)|(?P<mpirun>mpirun|mpiexec(?:\.hydra)?|orterun|prterun))\b")
_ILL = lazy_regex(
    r"(?i)\b(?:not\s(?:ok|okay|fine)|fail\w*|hang\w*|hung|stuck|freez\w*|crash\w*|segfault\w*|abort\w*|errors?|tim(?:es?|ed)\sout"
    r"|(?:does\s?n[o']t|did\s?n[o']t|do\s?n[o']t|not|never)\s(?:work|start|run|complete|finish|return)\w*|broken)\b"
)
_WELL = lazy_regex(
    r"(?i)\b(?:works?|worked|working|ok|okay|fine|runs|ran|succeed\w*|success\w*|no\s(?:problems?|issues?|errors?))\b"
)
_MPI_OPTION = lazy_regex(r"\s--mpi[=\s](?!list)(\w{1,20})")


@derived
def tasks_lack_pmi(job: Job, view: View) -> bool:
    """Does srun start several tasks with the kind ``none``: by its option, or by the default of Slurm?"""
    lines = [launch for launch in job.launches if launch.program == "srun"]
    options = [option[1] for launch in lines if (option := _MPI_OPTION.search(launch.text or ""))]
    defaults = [host for host in job.hosts if (host.slurm_config or {}).get("MpiDefault") == "none"]
    for launch in lines[:1]:
        view.note(launch)
    for host in defaults:
        view.note(host, "slurm_config")
    return bool(lines) and ("none" in options if options else bool(defaults))


@derived
def srun_alone_fails(job: Job, view: View) -> bool:
    """Is a program said to work with mpirun, and not with srun? False where its ranks did find each other."""
    if has_ready_rank(job, view):
        return False
    told = [each for each in job.contexts if each.kind == "launcher"]
    said: dict[str, set[str]] = {"srun": set(), "mpirun": set()}
    for each in told:
        for launcher, outcome in _outcomes(each.text or ""):
            said[launcher].add(outcome)
    found = "ill" in said["srun"] and said["mpirun"] == {"well"}
    for each in told if found else ():
        view.note(each)
    return found


def _outcomes(text: str) -> Iterator[tuple[str, str]]:
    """The outcome in each part of a sentence that names one of the launchers, or follows one that does."""
    launcher = ""
    for clause in _CLAUSE.split(text):
        named = {str(found.lastgroup) for found in _LAUNCHER.finditer(clause)}
        if len(named) > 1:
            launcher = ""
            continue
        launcher = next(iter(named), launcher)
        if launcher and _ILL.search(clause):
            yield launcher, "ill"
        elif launcher and _WELL.search(clause):
            yield launcher, "well"
