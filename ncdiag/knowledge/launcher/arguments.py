"""Arguments that programs reject, and missing variables of launchers."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.knowledge.launcher.imports import MISSING, asks_mpi_for_rank
from ncdiag.messages.vocabulary.exceptions import EXCEPTION, is_own_exception

_UNSET, _NO_VALUE = "torch-env-missing", "argument-without-value"
_REFUSED = ("argument-unrecognized", "argument-missing")
_PLACE = (
    r"RANK|LOCAL_RANK|NODE_RANK|GROUP_RANK|MACHINE_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|MASTER_ADDR|MASTER_PORT|NNODES"
    r"|NPROC_PER_NODE|GPUS_PER_NODE|NUM_NODES|COORDINATOR_ADDRESS|TF_CONFIG"
    # Slurm, Open MPI, PMI, Intel MPI, MVAPICH, PALS, LSF, Flux, PBS, Azure Batch, SageMaker, elastic launchers
    r"|(?:SLURMD?|OMPI|PMIX?|I_MPI|MPI|MV2|PALS|LSB|JSM|FLUX|PBS|AZ_BATCH(?:AI)?|SM|PET|TORCHELASTIC|HOROVOD)_[A-Z_]+"
)
"""Variables with which launchers and schedulers give a process its rank and other numbers."""
_PLACE_ARGUMENT = (
    r"(?i)-?-?(?:local|node|machine|global|group)?[-_]?rank\b|world[-_]size|n?nodes\b|num[-_](?:nodes|machines|processes|gpus)"
    r"|n?proc[-_]per[-_]node|(?:master|main[-_]process)[-_](?:addr|ip|port)|rdzv[-_]\w+|dist[-_](?:url|init[-_]addr)|--?np?\b"
)
"""Arguments with which they do the same."""
_OF_JAX = {
    "coordinator_address": "the coordinator's address",
    "Number of processes": "the number of processes",
    "process id": "the number of the process",
}
"""What jax.distributed.initialize() got from no scheduler, by its words."""
_LOCAL_RANK = r"(?<![\w-])-{0,2}local[-_]rank\b"
_OF_ARGUMENTS = r"(?i)argument|option|flag|pars|not used|No such file"


@derived_of(_UNSET, EXCEPTION, *MISSING, _NO_VALUE)
def is_unlaunched(event: Event, view: View) -> bool:
    """Does a program lack the variables of a launcher, or the value of an argument that is taken from one?

    Without them DeepSpeed asks MPI for the number of the process, and needs mpi4py only for that.
    """
    if asks_mpi_for_rank(event, view):
        return True
    if event.event in MISSING:
        return False
    if event.event == EXCEPTION:
        return re.fullmatch(_PLACE, unset_name(event, view)) is not None
    if event.event == _NO_VALUE:
        return re.search(_PLACE_ARGUMENT, str(event.fields.get("arguments", ""))) is not None
    return True


@derived
def unset_name(event: Event, view: View) -> str:
    """The variable that a program requires and that is not set, ``LOCAL_RANK``; ``its rank`` where no line names it."""
    fields = event.fields
    if asks_mpi_for_rank(event, view):
        return "RANK"
    if event.event == EXCEPTION:
        return str(fields.get("error", "")).strip("'\" ") if fields.get("exception") == "KeyError" else ""
    if event.event == _NO_VALUE:
        return str(fields.get("arguments", "")).strip("'\" ")
    for words, name in _OF_JAX.items():
        if words in event.text:
            return name
    return str(fields.get("unset_variable") or f"its {fields.get('missing_parameter') or 'rank'}")


@derived_of(EXCEPTION, *_REFUSED)
def is_local_rank_argument(event: Event, view: View) -> bool:
    """Did a program end because of the local rank argument: unknown to it, or required and missing?

    A program that takes its first argument as a file reports that no such file exists.
    """
    if event.event != EXCEPTION:
        return re.search(_LOCAL_RANK, str(event.fields.get("arguments", ""))) is not None
    said = str(event.fields.get("error", ""))
    told = "--local" in said and re.search(_LOCAL_RANK, said) is not None and re.search(_OF_ARGUMENTS, said) is not None
    return told and bool(is_open_failure(event, view) or is_own_exception(event, view))


@derived_of("command-not-found")
def is_stray_option(event: Event, view: View) -> bool:
    """Did a shell run an option as a command, since the line before it ended too early?"""
    return stray_option(event, view) != ""


@derived
def stray_option(event: Event, view: View) -> str:
    """The option that a shell ran as a command, ``--model``; empty for other commands."""
    found = re.fullmatch(r"['\"`]?(--?[A-Za-z][\w-]{0,60})(?:[= ].*)?", str(event.fields.get("missing_command", "")))
    return found[1] if found else ""
