"""The file that ``ncdiag rules new`` writes: a rule that is complete and holds, to be changed line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ncdiag.base.errors import OutputError, UsageError
from ncdiag.engine.schema import Rule

_TEMPLATE = """\
# A finding for each setting of NCCL_SOCKET_IFNAME that names another interface than the site's own.
# `ncdiag facts FILE` shows which facts there are; a misspelt one is refused with the name that was meant.
code = "{code}"
name = "{name}"
area = "{area}"
severity = "warning"        # error, warning, info
role = "cause"              # cause: to be mended; symptom: explained by causes, and then with a complaint
title = "NCCL_SOCKET_IFNAME={{s.text}} is not this site's network"
why = \"\"\"
The hosts of this site share one network, on bond0. Write here, for whoever reads it at night, why the rule holds.
\"\"\"
false_positives = ["A job on one host needs no network."]
each = {{ s = "job.settings" }}
when = ['s.name == "NCCL_SOCKET_IFNAME"', 's.text not in ["bond0", "=bond0"]']
references = ["https://wiki.example.org/clusters/network"]
explains = ["init-never-completes"]

[[fix]]
kind = "env"
text = "Name the site's interface."
env = {{ NCCL_SOCKET_IFNAME = "bond0" }}
confirm = "the Bootstrap line of every rank names bond0"

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


def write_rule(folder: Path, area: str, name: str, prefix: str, known: Iterable[Rule]) -> Path:
    """Write ``folder/area/name.toml`` with the next free code of that prefix; returns its path.

    ``known`` are the rules whose names and codes are taken. Raises UsageError for words that rules cannot have, a name
    that is taken and a file that exists.
    """
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
    path = folder / area / f"{name}.toml"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_TEMPLATE.format(code=next_code(prefix, taken), name=name, area=area))
    except FileExistsError:
        msg = f"{path} exists already"
        raise UsageError(msg) from None
    except OSError as error:
        msg = f"{path} cannot be written: {error.strerror}"
        raise OutputError(msg) from None
    return path


def next_code(prefix: str, taken: Iterable[str]) -> str:
    """The code after the highest of that prefix."""
    numbers = [int(code[len(prefix) :]) for code in taken if re.fullmatch(prefix + r"\d{3,4}", code)]
    return f"{prefix}{max(numbers, default=0) + 1:03d}"
