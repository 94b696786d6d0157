"""Launchers that start Python themselves, and are given an interpreter as the script.

torchrun and torch.distributed.launch (torch/distributed/run.py), accelerate launch and deepspeed run ``python SCRIPT``
unless an option prevents it (``--no-python``, ``--no_python``) or a module is given (``-m``).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Launch
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.seen import goes_well

_INTERPRETER = lazy_regex(r"(?:\S*/)?(?:python|bash|sh|zsh)[\d.]{0,5}$")
_BEFORE_SCRIPT = lazy_regex(r"\s(?:\S*/)?python[\d.]{0,5}(?:\s+-[a-zA-Z]+)*(?=\s+[^\s-]\S*\.py(?:\s|$))")


@derived
def interpreter_as_script(launch: Launch, view: View) -> str:
    """The word that names an interpreter where the launcher expects the script.

    Empty where it names a script, and if the job does its work: then a script has that name.
    """
    script = launch.script or ""
    return script if _INTERPRETER.match(script) and not goes_well(view.job, view) else ""


@derived
def line_without_interpreter(launch: Launch, view: View) -> str:
    """The launch line without the interpreter in front of the Python script; empty if no such script is behind it."""
    text = launch.text or ""
    line = _BEFORE_SCRIPT.sub("", text, count=1) if interpreter_as_script(launch, view) else text
    return line if line != text else ""
