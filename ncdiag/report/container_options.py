"""Options of ``docker run`` in the words of the file that starts the containers: Compose, or a manifest of Kubernetes.

Source of the names: the Compose specification (05-services.md), Kubernetes API PodSpec, Container and SecurityContext.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.platforms import platforms

_RUN = ("docker run ", "podman run ")
_COMPOSE = "compose"
_ALONE = frozenset({"--rm", "-it", "-i", "-t", "-d"})
"""Options of docker that take no value and say nothing about the container."""
_SHORT = {"--net": "--network", "-v": "--volume"}
_UNITS = {"g": "Gi", "m": "Mi"}
_LIMITS = 2
"""The parts of a limit, soft and hard."""


class _Words(NamedTuple):
    """What an option is called elsewhere, with ``{value}``; empty where there is nothing like it."""

    compose: str
    pod: str


_ONE: Mapping[str, _Words] = {
    "--shm-size": _Words(
        'shm_size: "{value}"',
        "volumes: [{{name: dshm, emptyDir: {{medium: Memory, sizeLimit: {size}}}}}]   # of the pod\n"
        "volumeMounts: [{{name: dshm, mountPath: /dev/shm}}]   # of the container",
    ),
    "--ipc": _Words("ipc: {value}", ""),
    "--pid": _Words("pid: {value}", "hostPID: true   # of the pod"),
    "--network": _Words("network_mode: {value}", "hostNetwork: true   # of the pod"),
}
"""Options that are given once; those of a namespace have the value ``host``.

A pod has a volume for /dev/shm: to share that of the host, and its processes, is more than it needs.
"""
_MANY: Mapping[str, _Words] = {
    "--device": _Words("devices: [{values}]", ""),
    "--cap-add": _Words(
        "cap_add: [{values}]", "securityContext: {{capabilities: {{add: [{values}]}}}}   # of the container"
    ),
    "--group-add": _Words("group_add: [{values}]", ""),
    "--security-opt": _Words("security_opt: [{values}]", ""),
    "--ulimit": _Words("ulimits: {{{values}}}", ""),
    "--volume": _Words("volumes: [{values}]", ""),
}
"""Options whose values are one list."""
_OF_HOST = frozenset({"--ipc", "--pid", "--network"})


def in_their_words(commands: tuple[str, ...], view: View) -> tuple[str, ...]:
    """The commands, those of ``docker run`` as lines of the file that the input starts its containers with.

    A command with an option that cannot be said there stays as it is.
    """
    if not any(line.startswith(_RUN) for line in commands):
        return commands
    is_compose = any(_COMPOSE in launch.program for launch in view.job.launches)
    is_pod = POD in platforms(view.job, view)
    if not (is_compose or is_pod):
        return commands
    return tuple(_translated(line, is_pod=is_pod and not is_compose) or line for line in commands)


def _translated(command: str, *, is_pod: bool) -> str:
    """The lines for the options of a command; empty for another command, or if something cannot be said there."""
    if not command.startswith(_RUN):
        return ""
    try:
        given = list(_options(shlex.split(command)[2:]))
    except ValueError:  # a quotation mark in a name of the input
        return ""
    values: dict[str, list[str]] = defaultdict(list)
    for name, value in given:
        values[name].append(value)
    lines = [_line(name, held, is_pod=is_pod) for name, held in values.items()]
    return "\n".join(lines) if lines and all(lines) else ""


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Name and value of each option before the image, which is the first word that is neither."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        name, has_value, value = words[at].partition("=")
        at += 1
        if name in _ALONE:
            continue
        if not has_value and at < len(words):
            value, at = words[at], at + 1
        yield _SHORT.get(name, name), value


def _line(name: str, values: Sequence[str], *, is_pod: bool) -> str:
    if name in _ONE:
        value = values[-1]
        if name in _OF_HOST and value != "host":
            return ""
        size = value[:-1] + _UNITS[value[-1:]] if value[-1:] in _UNITS else value
        return (_ONE[name].pod if is_pod else _ONE[name].compose).format(value=value, size=size)
    known = _MANY.get(name)
    form = "" if known is None else known.pod if is_pod else known.compose
    return form.format(values=", ".join(_said(name, value) for value in values)) if form else ""


def _said(name: str, value: str) -> str:
    """A value as an item of YAML."""
    if value.startswith("$("):
        return f'"<output of {value[2:-1]}>"'
    if name == "--ulimit":
        limit, _, number = value.partition("=")
        parts = number.split(":")
        return f"{limit}: {number}" if len(parts) < _LIMITS else f"{limit}: {{soft: {parts[0]}, hard: {parts[1]}}}"
    if name == "--device" and value.startswith("/") and ":" not in value:
        return f'"{value}:{value}"'
    return f'"{value}"'
