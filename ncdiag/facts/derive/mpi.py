"""What a launch line tells Open MPI."""

from __future__ import annotations

from ncdiag.facts.model import Event, Launch
from ncdiag.facts.view import View, derived, derived_of

_NOT_FOUND = 127
"""The exit status of a shell that does not find a command (POSIX)."""
_LISTS = ("btl_tcp_if_", "oob_tcp_if_")


def _parameters(launch: Launch) -> set[str]:
    """The MCA parameters that the line gives, as options or as OMPI_MCA_ variables."""
    variables = {*launch.env, *launch.prefix_env}
    return {*launch.mca, *(name.removeprefix("OMPI_MCA_") for name in variables if name.startswith("OMPI_MCA_"))}


@derived
def contradicting_lists(launch: Launch, view: View) -> tuple[str, ...]:
    """The TCP components for which an include and an exclude list are given: ``btl_tcp``, ``oob_tcp``."""
    given = _parameters(launch)
    return tuple(prefix.removesuffix("_if_") for prefix in _LISTS if {prefix + "include", prefix + "exclude"} <= given)


@derived_of("mpi-library-missing", "ssh-command-ended")
def is_mpi_missing(event: Event, view: View) -> bool:
    """Does a host lack Open MPI, by its own word, or by the shell that found no daemon to start (status 127)?"""
    if event.event == "mpi-library-missing":
        return True
    failed = any(other.event == "mpi-daemon-not-started" for other in view.job.events)
    return failed and event.fields.get("exit_status") == _NOT_FOUND
