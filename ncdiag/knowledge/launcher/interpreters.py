"""Launchers that start Python themselves, and are given an interpreter as the script.

torchrun and torch.distributed.launch (torch/distributed/run.py), accelerate launch and deepspeed run ``python SCRIPT``,
unless they are told not to (``--no-python``, ``--no_python``) or get a module (``-m``).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Launch
from ncdiag.facts.view import View

_INTERPRETER = lazy_regex(r"(?:\S*/)?(?:python|bash|sh|zsh)[\d.]{0,5}$")


@derived
def interpreter_as_script(launch: Launch, view: View) -> str:
    """The word that names an interpreter where the launcher expects the script; empty where it names a script."""
    script = launch.script or ""
    return script if _INTERPRETER.match(script) else ""
