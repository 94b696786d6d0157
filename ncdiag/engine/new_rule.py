"""The files that ``ncdiag rules new`` writes: a complete, valid rule to be changed line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ncdiag.base.errors import OutputError, UsageError
from ncdiag.engine.areas import layers_of
from ncdiag.engine.codes import UNNUMBERED, next_code
from ncdiag.engine.examples import file_of
from ncdiag.engine.schema import Rule

_TOP = """\
# A finding for each setting of NCCL_SOCKET_IFNAME that names an interface other than the site's.
# `ncdiag facts FILE` shows the available facts; a misspelt one is rejected with a suggestion.
code = "{code}"
name = "{name}"
area = "{area}"
severity = "warning"        # error, warning, info
role = "cause"              # cause: needs a fix; symptom: explained by causes, needs a complaint
title = "NCCL_SOCKET_IFNAME={s.text} is not this site's network"
why = \"\"\"
The hosts of this site share one network, on bond0. Explain here why the rule holds, for somebody who reads it at night.
\"\"\"
false_positives = ["A job on one host needs no network."]
each = { s = "job.settings" }
when = ['s.name == "NCCL_SOCKET_IFNAME"', 's.text not in ["bond0", "=bond0"]']
references = ["https://wiki.example.org/clusters/network"]
explains = ["init-never-completes"]
"""
_SUSPECT = """\
# The output that settles the rule where a fact is missing.
asks = [{ missing = "the variables of the job", ask_for = "env | grep NCCL_" }]

# What makes the cause likely where nothing proves it: what a tool or framework prints, how a person describes it.
[suspect]
text = "NCCL uses an interface that is not the network of the cluster"
prior = "rare"              # common, uncommon, rare: how often it is the cause of such complaints
complaints = ["fails-at-init", "hangs"]
ask = "Does NCCL_SOCKET_IFNAME name another interface than the network of the cluster?"

[[sign]]
text = "a person says that the interface is the wrong one"
strength = "strong"         # decisive, strong, moderate, weak
says = ["~wrong|another ~interface ... nccl_socket_ifname|nccl", "nccl_socket_ifname ... ~wrong"]

[[sign]]
text = "the setup ends after a wait for the other hosts"
strength = "moderate"
says = ["bootstrap ... ~timeout|~hang"]
"""
_FIX = """\

[[fix]]
kind = "env"                # env, unset, command, config, hardware, ask_admin
text = "Name the site's interface."
env = { NCCL_SOCKET_IFNAME = "bond0" }
confirm = "the Bootstrap line of every rank names bond0"
"""
_EXAMPLES = """\
[[example]]
name = "another interface"
outcome = "fired"
env = "NCCL_SOCKET_IFNAME=eth0"

[[example]]
name = "the right one"
outcome = "clear"
env = "NCCL_SOCKET_IFNAME=bond0"

[[example]]
name = "another variable"
outcome = "clear"
env = "NCCL_IB_HCA=mlx5_0"

[[example]]
name = "the variables are not in the input"
outcome = "unknown"
nccl_log = "n1:40:51 [0] NCCL INFO Bootstrap : Using bond0:10.1.2.3<0>"
"""
_OF_SIGNS = """\

# A text in which the sign is true, and one that looks like it, in which it is not.
[sign."a person says that the interface is the wrong one"]
example = "It took me a day to see that NCCL_SOCKET_IFNAME was wrong."
unlike = "NCCL_SOCKET_IFNAME is set on all hosts."

[sign."the setup ends after a wait for the other hosts"]
example = "The bootstrap ends with a timeout."
"""


def write_rule(folder: Path, area: str, name: str, prefix: str, known: Iterable[Rule]) -> Path:
    """Write a private rule with its examples, ``folder/area/name.toml``, with the next free code; returns its path.

    ``known`` are the rules whose names and codes are taken. Raises UsageError for invalid words, a name that is taken
    and a file that exists; OutputError if it cannot be written.
    """
    taken = _checked(area, name, prefix, known)
    path = folder / area / f"{name}.toml"
    _write(path, _TOP + _FIX + "\n" + _EXAMPLES, next_code(prefix, taken), name, area)
    return path


def write_shipped(folder: Path, area: str, name: str, prefix: str, known: Iterable[Rule]) -> Path:
    """Write a rule of the project, with a suspect, and its examples file; returns the path of the rule.

    It has no number yet (`ncdiag.engine.codes`). Raises as `write_rule`, and UsageError for an area that is not in
    ``areas.toml`` of the folder.
    """
    _checked(area, name, prefix, known)
    areas = layers_of(folder)
    if area not in areas:
        msg = f"there is no area {area!r}; --area may be {', '.join(sorted(areas))}"
        raise UsageError(msg)
    path = folder / area / f"{name}.toml"
    _write(path, _TOP + _SUSPECT + _FIX, prefix + UNNUMBERED, name, area)
    _write(file_of(path), _EXAMPLES + _OF_SIGNS)
    return path


def _checked(area: str, name: str, prefix: str, known: Iterable[Rule]) -> set[str]:
    """The names and codes that are taken; raises UsageError for words that a rule cannot have."""
    for word, what, form in (
        (name, "name", r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"), (area, "area", r"[a-z][a-z0-9_]*"),
        (prefix, "prefix", r"[A-Z]{2,6}"),
    ):  # fmt: skip
        if not re.fullmatch(form, word):
            letters = "2 to 6 capital letters" if what == "prefix" else "small letters, digits and hyphens"
            msg = f"{word!r} is not a valid {what} of a rule: {letters}"
            raise UsageError(msg)
    taken = {held for rule in known for held in (rule.code, rule.name, *rule.formerly)}
    if name in taken:
        msg = f"there is a rule {name!r} already: `ncdiag rules show {name}`"
        raise UsageError(msg)
    return taken


def _write(path: Path, text: str, code: str = "", name: str = "", area: str = "") -> None:
    """Write a new file, with ``{code}``, ``{name}`` and ``{area}`` filled in."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("{code}", code).replace("{name}", name).replace("{area}", area))
    except FileExistsError:
        msg = f"{path} exists already"
        raise UsageError(msg) from None
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}"
        raise OutputError(msg) from None
