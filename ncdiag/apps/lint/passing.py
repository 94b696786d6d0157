"""Checks of what reaches the ranks: assignments that are never exported, launchers that do not pass on variables."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from ncdiag.apps.lint import quoted
from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Finding, Started
from ncdiag.apps.lint.relevance import starts_job
from ncdiag.apps.lint.vocabulary import is_for_ranks
from ncdiag.facts.scalars import VersionRange
from ncdiag.nccl import environment

_FAMILIES = ("NCCL_", "TORCH_NCCL_", "HOROVOD_", "UCX_", "GLOO_", "HCCL_", "FI_", "LIGHT_")
_CONTAINERS = {"docker run", "podman run", "nvidia-docker run", "nerdctl run"}


def check(document: Document, version: VersionRange | None) -> Iterator[Finding]:  # noqa: ARG001
    """Variables that do not reach the processes for which they were set."""
    if document.form not in {"shell", "dockerfile", "kubernetes", "compose", "json", "toml"}:
        return
    yield from _not_exported(document)
    elsewhere = {setting.name for setting in document.settings if setting.group == quoted.GROUP}
    for launch in document.launches:
        yield from _not_passed(launch, elsewhere)


def _not_exported(document: Document) -> Iterator[Finding]:
    if document.is_excerpt:  # a page names settings, and its reader inserts them
        return
    started = bool(document.launches) or any(setting.reaches == "local" for setting in document.settings)
    for setting in document.settings:
        if setting.reaches != "shell" or not (setting.name.startswith(_FAMILIES) and is_for_ranks(setting.name)):
            continue
        if re.search(rf"\$\{{?{setting.name}\b|\b(?:export|-x|-e|--env)[ =]+[^\n]*\b{setting.name}\b", document.text):
            continue
        at = setting.name_at.start
        yield finding("variable-not-exported", setting.name_at, variable=setting.name, fixable=started,
                      severity="warning" if started else "info", edits=(Edit(at, at, "export "),))  # fmt: skip


def _not_passed(launch: Started, elsewhere: Container[str]) -> Iterator[Finding]:
    """Variables that a launcher does not pass on. ``elsewhere``: names that the ranks get in another way."""
    if launch.passed is None:
        return
    known = environment.variables()  # a misspelt name is reported as such
    lost = [n for n in launch.inherited if n.startswith(_FAMILIES) and n in known and n not in launch.passed]
    lost = [name for name in lost if name not in elsewhere]
    text = " ".join(launch.words)
    if not lost or not (launch.program == "srun" or starts_job(f" {text.partition(' ')[2]}")):
        return
    edits, advice = _passing(launch, lost)
    names = ", ".join(lost[:4]) + (" and others" if len(lost) > 4 else "")  # noqa: PLR2004  (what fits on a line)
    yield finding(
        "variable-not-passed-on", launch.at, variable=lost[0], what=f"{launch.program} does not pass {names} on",
        reason=_WHY.get(launch.program, "A container does not inherit the caller's environment."), edits=edits,
        fixable=bool(edits), advice=advice,
    )  # fmt: skip


_WHY = {
    "sudo": "sudo resets the environment (env_reset) and keeps only what it is configured to keep.",
    "ssh": "ssh starts the command in a new environment on the other host.",
    "srun": "--export without ALL drops everything that it does not name.",
    "kubectl exec": "kubectl exec starts the command with the container's environment, not the caller's.",
}


def _passing(launch: Started, lost: list[str]) -> tuple[tuple[Edit, ...], str]:
    at = launch.behind
    if at is None:
        return (), f"Add -x or -e {lost[0]}, or the equivalent option of {launch.program}, to the command."
    if launch.program == "sudo":
        return (Edit(at, at, f" --preserve-env={','.join(lost)}"),), ""
    if launch.program in _CONTAINERS:
        return (Edit(at, at, "".join(f" -e {name}" for name in lost)),), ""
    if launch.program == "srun":
        return (), "Write --export=ALL,... so that the rest of the environment is passed as well."
    return (), f"Set it in the remote command ({launch.program} host 'NAME=value program'), or in /etc/nccl.conf there."
