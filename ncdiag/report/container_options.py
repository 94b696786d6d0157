"""Options of ``docker run`` in the words of the file that starts the containers: Compose, or a manifest of Kubernetes.

Source of the names: the Compose specification (05-services.md), Kubernetes API PodSpec and SecurityContext.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.report.platforms import platforms_shown

_RUN = ("docker run ", "podman run ")
_COMPOSE = "compose"


class _Words(NamedTuple):
    """What an option is called elsewhere, with ``{value}``; empty where there is nothing like it."""

    compose: str
    pod: str


_OPTIONS: Mapping[str, _Words] = {
    "--shm-size": _Words(
        'shm_size: "{value}"',
        "volumes: [{{name: dshm, emptyDir: {{medium: Memory, sizeLimit: {size}}}}}]\n"
        "volumeMounts: [{{name: dshm, mountPath: /dev/shm}}]   # of the container",
    ),
    "--ipc": _Words("ipc: {value}", ""),
    "--network": _Words("network_mode: {value}", "hostNetwork: true"),
    "--device": _Words('devices: ["{value}:{value}"]', ""),
    "--cap-add": _Words("cap_add: [{value}]", "securityContext: {{capabilities: {{add: [{value}]}}}}"),
    "--group-add": _Words('group_add: ["{value}"]', "securityContext: {{supplementalGroups: [{value}]}}"),
    "--ulimit": _Words("ulimits: {{{limit}}}", ""),
}
_UNITS = {"g": "Gi", "m": "Mi"}


def in_their_words(commands: tuple[str, ...], view: View) -> tuple[str, ...]:
    """The commands, those of ``docker run`` as lines of the file that the input starts its containers with."""
    is_compose = any(_COMPOSE in launch.program for launch in view.job.launches)
    is_pod = POD in platforms_shown(view)
    if not (is_compose or is_pod):
        return commands
    return tuple(_translated(line, is_pod=is_pod and not is_compose) or line for line in commands)


def _translated(command: str, *, is_pod: bool) -> str:
    """The lines for the options of a command; empty for another command, or if nothing can be said there."""
    if not command.startswith(_RUN):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation mark in a name of the input
        return ""
    return "\n".join(line for line in _lines(words, is_pod=is_pod) if line)


def _lines(words: Sequence[str], *, is_pod: bool) -> Iterator[str]:
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        known = _OPTIONS.get(name)
        if known is None or (name == "--ipc" and value != "host"):
            continue
        value = value if "=" in word else next(iter(words[at + 1 :]), "")
        size = value[:-1] + _UNITS[value[-1:]] if value[-1:] in _UNITS else value
        limit = ": ".join(value.split("=", 1))
        value = f"<output of {value[2:-1]}>" if value.startswith("$(") else value
        yield (known.pod if is_pod else known.compose).format(value=value, size=size, limit=limit)
