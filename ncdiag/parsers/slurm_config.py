"""``scontrol show config`` and lines of slurm.conf: how Slurm starts tasks, and with which limits.

Source of the format: Slurm src/api/config_info.c (slurm_print_key_pairs: ``Name                    = value``) and
slurm.conf(5) (``Name=value``). Only names that a rule or a fix asks for are kept.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "slurm_config"
COMMANDS: tuple[str, ...] = ("scontrol show config", "cat /etc/slurm/slurm.conf", "cat /etc/slurm-llnl/slurm.conf")
_KEPT = (
    r"(?P<name>PropagateResourceLimits(?:Except)?|MpiDefault|LaunchParameters|TaskPlugin|SelectType|SelectTypeParameters"
    r"|ProctrackType|PrologFlags)"
)
_NUMBER = r"(?:(?:/[\w.-]{1,40}){0,6}slurm\.conf:)?(?:\d{1,5}:)?"
ANCHOR = (
    r"(?:PropagateResourceLimits(?:Except)?|MpiDefault|PropagatePrioProcess)[ \t]{0,30}=[ \t]"
    r"|Configuration data as of \d{4}-\d\d-\d\dT"
)
_LINE = rf"{_NUMBER}{_KEPT}\s{{0,30}}=\s{{0,4}}(?P<value>[^\s#][^\n#]{{0,200}}?)\s*(?:#.*)?$"
_OTHER = rf"{_NUMBER}#?\s{{0,4}}[A-Z][A-Za-z_]{{2,40}}(?:\[\d+\])?\s{{0,30}}=[^\n]{{0,1000}}$"
_FRAME = r"Configuration data as of |[A-Z][\w/ ]{2,40}:\s*$|Slurmctld\(.{1,80}$|#"
_NULL = "(null)"


class _Config(Reading):
    """``slurm_config``, of the cluster of the host that was asked."""

    def setting(self, found: re.Match[str]) -> None:
        """A name with its value; an empty one where it is not set."""
        value = "" if found["value"] == _NULL else found["value"]
        self.observe("Host", slurm_config={found["name"]: value})


ROWS = Rows(_Config, Row(_LINE, _Config.setting), Row(_OTHER), Row(_FRAME), BLANK, most=1000)
continues, parse = ROWS.continues, ROWS.parse
