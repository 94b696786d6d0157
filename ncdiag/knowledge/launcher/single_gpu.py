"""Libraries that can use one GPU, and that count those of the host."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.knowledge.launcher.placement import is_under_launcher

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_COUNTED = "Unsloth"


@derived_of("single-gpu-only")
def counts_other_jobs(event: Event, view: View) -> bool:
    """Did Unsloth refuse a single process to which one GPU is shown?

    It asks nvidia-smi, which ignores CUDA_VISIBLE_DEVICES, how much memory of each GPU was taken since its import
    (unsloth/tokenizer_utils.py, patch_sft_trainer_tokenizer): processes of others on other GPUs count as its own.
    """
    if _COUNTED not in event.text or is_under_launcher(event, view):
        return False
    shown = set(_shown(view.job))
    return bool(shown) and all(each.strip("\"' ").isdigit() for each in shown)


def _shown(job: Job) -> Iterator[str]:
    """The lists of visible GPUs that the input sets."""
    for setting in job.settings:
        if setting.name == _VISIBLE:
            yield setting.text or ""
    for launch in job.launches:
        value = launch.prefix_env.get(_VISIBLE) or launch.env.get(_VISIBLE)
        if value is not None:
            yield value
