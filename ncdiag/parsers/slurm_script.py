"""The options of a batch script (``#SBATCH`` lines); its exports and srun lines are sections of their own.

Source: Slurm sbatch(1): lines that begin with ``#SBATCH`` before the first command, the options of the command line.
"""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats.launch_words import read_command
from ncdiag.formats.launchers import find
from ncdiag.formats.shell import is_variable, without_secrets, words

KIND = "slurm_script"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"#SBATCH[ \t]+-"

_OPTION = lazy_regex(r"#SBATCH[ \t]+(?P<options>-\S.*)$")
_COMMENT = lazy_regex(r"\s#.*$")
_LINES = 500
_TEXT = 4000


def continues(lines: Sequence[str], line: str) -> bool:
    """More options; comments that are switched-off options (``##SBATCH``) are between them."""
    return len(lines) < _LINES and line.startswith(("#SBATCH", "##SBATCH", "# SBATCH", "###"))


def parse(section: Section) -> Parsed:
    """One Launch of the program ``sbatch`` with what the options say."""
    section = without_secrets(section)
    options: list[str] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        found = _OPTION.match(line)
        if found:
            options += words(_COMMENT.sub("", found["options"]))
        elif line.startswith("#SBATCH") and line.strip() != "#SBATCH":
            unread.append(index)
    place = find(["srun", *options], 0)
    if place is None or not options:
        return Parsed(unread=tuple(unread))
    command, _ = read_command(["srun", *options], place)
    env = {name: value for name, value in command.env.items() if is_variable(name)}
    fields = {
        **command.fields, "program": "sbatch", "text": " ".join(["sbatch", *options])[:_TEXT], "host": section.host,
        "env": env or None, "forwarded": [name for name in command.forwarded if is_variable(name)] or None,
        "hosts": command.hosts or None,
    }  # fmt: skip
    launch = observe(section, 0, "Launch", standing="manifest", **{k: v for k, v in fields.items() if k != "host"})
    settings = [
        observe(section, 0, "Setting", (name,), standing="manifest", is_set=True, text=value, origin="launcher")
        for name, value in env.items()
    ]
    return Parsed(observations=(launch, *settings), unread=tuple(unread))
