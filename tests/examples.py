"""How property tests choose their examples.

``make test`` tries few, and the same ones in every run, on every machine and in any order of tests (the profile
``few``). ``NCDIAG_FUZZ=same`` tries two and a half times as many (``make sweep``), ``NCDIAG_FUZZ=whole`` ten times
(``make lab``), ``NCDIAG_FUZZ=random`` a hundred times, and new ones each time: ``make fuzz`` does, for some minutes.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SIZES = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much, HealthCheck.large_base_example)
"""Judgements on the time and size of examples: a busy machine changes the first."""
_USUAL = 100
"""Examples of a property test that does not say how many; `examples` counts in shares of it."""


def load_profile() -> None:
    """Load the profile that NCDIAG_FUZZ names. Tests read it when they are imported: call it before."""
    settings.register_profile(
        "same", max_examples=_USUAL // 4, derandomize=True, deadline=None, database=None, print_blob=True,
        suppress_health_check=_SIZES,
    )  # fmt: skip
    settings.register_profile("few", settings.get_profile("same"), max_examples=_USUAL // 10)
    settings.register_profile("whole", settings.get_profile("same"), max_examples=_USUAL)
    settings.register_profile("random", settings.get_profile("same"), max_examples=10 * _USUAL, derandomize=False)
    settings.load_profile(os.environ.get("NCDIAG_FUZZ") or "few")
    if settings().derandomize:
        _without_constants_of_modules()


def _without_constants_of_modules() -> None:
    """Hypothesis (6.131 and later) draws constants from our modules, of which each process has loaded others.

    It has no setting for that. A random search gains by them and keeps them.
    """
    from hypothesis.internal.conjecture import providers

    if hasattr(providers, "is_local_module_file"):
        providers.is_local_module_file = lambda _: False


def examples(number: int) -> settings:
    """So many examples of a test in the profile ``whole``; one that tries fewer or more does so here as well."""
    return settings(max_examples=max(1, number * settings().max_examples // _USUAL))
