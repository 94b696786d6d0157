"""Variables and conf files, as far as the input shows them."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Setting
from ncdiag.facts.view import View

CONF = "conf file"
"""The origin of settings that NCCL reads from its files."""


@derived
def variables_told(job: Job, view: View) -> tuple[str, ...]:
    """The names of NCCL variables about which anything is known, computed once for all hosts."""
    return tuple(sorted({s.name for s in job.settings if s.name.startswith("NCCL_")}))


@derived
def conf_settings_told(job: Job, view: View) -> tuple[Setting, ...]:
    """The settings of the conf files that were seen, computed once for all hosts."""
    return tuple(s for s in job.settings if s.origin == CONF and s.is_set and s.text is not None)
