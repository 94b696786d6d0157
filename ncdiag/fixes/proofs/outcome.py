"""Input and result of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from ncdiag.facts.view import View
from ncdiag.nccl.on_host.in_force import settings_of

State = Literal["proved", "not-simulated", "refuted"]


class Change(msgspec.Struct, frozen=True):
    """The variables that a fix sets and removes."""

    env: dict[str, str]
    unset: tuple[str, ...] = ()

    def applied(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The settings with the change applied."""
        kept = {name: value for name, value in settings.items() if name not in self.unset}
        return {**kept, **self.env}


class HostProof(msgspec.Struct, frozen=True):
    """The result on one host ("" for the job as a whole); ``ask_for`` would settle what was not simulated.

    ``others``: it names hosts of which nothing was seen.
    """

    host: str
    state: State
    text: str
    ask_for: tuple[str, ...] = ()
    others: bool = False


class Proof(msgspec.Struct, frozen=True):
    """The result on all hosts; ``state`` is the worst of the known hosts."""

    state: State
    text: str
    hosts: tuple[HostProof, ...] = ()
    ask_for: tuple[str, ...] = ()

    @property
    def bare(self) -> str:
        """The text without the request at its end."""
        return self.text.rpartition(": paste ")[0] if self.ask_for else self.text


def settings(view: View, name: str, change: Change) -> dict[str, str]:
    """The NCCL variables in force on a host after the change."""
    host = view.host(name)
    return change.applied(settings_of(host, view) if host is not None else {})


def release(view: View, name: str) -> str:
    """``NCCL 2.18.3`` as known for a host, ``NCCL`` if the version is unknown."""
    version = view.version(view.host(name))
    return "NCCL" if version is None else f"NCCL {version}"
