"""A program that cannot listen at its address: one of the job, or a service beside it."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import is_before
from ncdiag.facts.vocabulary.failures import CRASHES
from ncdiag.facts.vocabulary.outcome import is_open_failure, open_failures, went_on
from ncdiag.knowledge.launcher.ray_nodes import BEHIND_NAT, ray_address_unfit

_ADDRESSES = ("ray-node-address-shared", "own-address-not-listed", "listen-address-not-own")
_ANNOUNCED = "engine-announces"
_RUNS = frozenset({"slow", "memory-grows", "wrong-results", "not-used"})
"""Complaints about a job that runs, so that its hosts can reach each other."""
_SERVICE = lazy_regex(r"listen (?:tcp|udp) |bind\(\) to ")
"""The words of Go and nginx, in which exporters, profilers and proxies are written; hardly a program of ranks is."""
_OF_GPUS = ("cuda-", "gpu-", "xid-")
"""Events of these names are failures that no address explains, as is the end of a process."""


@derived
def has_wrong_address(event: Event, view: View) -> bool:
    """Did the job fail because a host lacks or shares an address, or announces one that other hosts cannot reach?

    An announced address counts only if something failed or somebody complains, and no other failure explains it.
    """
    if event.event != _ANNOUNCED:
        return is_open_failure(event, view) and lacks_address_for_job(event, view)
    failed = open_failures(view.job, view)
    troubled = bool(failed) or any(complaint.what not in _RUNS for complaint in view.job.complaints)
    if not troubled or any(map(_is_own_failure, failed)) or went_on(event, view):
        return False
    return ray_address_unfit(event, view) not in {"", BEHIND_NAT}


@derived
def lacks_address_for_job(event: Event, view: View) -> bool:
    """Is it the job that lacks the address: does no other failure come first, or explain the end by itself?

    A service that cannot listen ends nothing of the job: if something else failed, that is what the job died of.
    """
    if event.event != "listen-address-not-own":
        return True
    others = [each for each in open_failures(view.job, view) if each.event not in _ADDRESSES]
    if _SERVICE.search(event.text):
        return not others
    return not any(_is_own_failure(each) or is_before(each, event, view) for each in others)


def _is_own_failure(event: Event) -> bool:
    return event.event.startswith(_OF_GPUS) or (event.kind == "cause" and event.event in CRASHES)
