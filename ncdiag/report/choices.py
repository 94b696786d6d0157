"""The choices of NCCL on a host, each with its reason, for the table of checks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.checks.book import Choice
from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import is_roce
from ncdiag.nccl import versions
from ncdiag.nccl.on_host.nameless import of_like
from ncdiag.nccl.on_host.predicting import GIVES_UP, Chosen, Prediction, predict_host
from ncdiag.report.prediction import NONE, cell, is_told

_CHOICES: tuple[Choice, ...] = (
    "bootstrap_interface", "socket_interfaces", "net", "ib_devices", "gid", "gdr", "nics", "local",
)  # fmt: skip
_STEPS = {"local": "p2p"}
"""Names of choices whose reasons have another name."""
_REASONS = 2
_WORD = lazy_regex(r"[\w.:%]+")


class Told(msgspec.Struct, frozen=True):
    """A choice in words; ``seen`` None: unknown, empty: there is nothing to choose. ``why``: the reason."""

    seen: str | None
    why: str


def chosen(host: Host, view: View, *, beside_others: bool = False) -> Mapping[str, Told]:
    """All choices of a host; ``beside_others``: the reasons omit its addresses, which always differ between hosts.

    For the possible releases if they agree, else for the newest of them; if no version is known, for the newest one
    that ncdiag covers. The answer of the installed library takes precedence over the simulation.
    """
    if not beside_others:
        return _chosen(host, view)

    def told(like: Host, its: View) -> Mapping[str, Told]:
        return {name: Told(one.seen, _without_addresses(one.why, like)) for name, one in _chosen(like, its).items()}

    return of_like(host, view, "choices", told)


def _chosen(host: Host, view: View) -> Mapping[str, Told]:
    version = view.version(host)
    newest = versions.LATEST_READ if version is None else min(version.high, versions.LATEST_READ)
    later = functools.cache(lambda: predict_host(host, view, newest))  # rarely needed
    first = predict_host(host, view, version)
    return {name: _told(name, host, view, first, later) for name in _CHOICES}


def _without_addresses(why: str, host: Host) -> str:
    """``eno1: taken with its address``: hosts with the same choice get the same text."""
    own = {address.ip for interface in host.interfaces for address in interface.addresses or ()}
    return _WORD.sub(lambda word: "its address" if word[0] in own else word[0], why)


def _told(name: Choice, host: Host, view: View, first: Prediction, later: Callable[[], Prediction]) -> Told:
    picked = {
        rank.bootstrap_interface.name for rank in view.ranks_on(host.name) if rank.bootstrap_interface is not None
    }
    if name == "bootstrap_interface" and len(picked) == 1:
        return Told(picked.pop(), "chosen by the installed NCCL")
    if name == "gid" and not any(is_roce(port, view) for hca in host.hcas for port in hca.ports):
        return Told("", "")
    settled = is_told(first.chosen, name)
    found = first if settled else later()
    if not settled and not is_told(found.chosen, name):
        return Told(None, _why(name, first.chosen, "") or "it is not known")
    value = cell(found.chosen, name)
    by = "" if settled else f"by NCCL {found.nccl_version}"
    return Told("" if value in {"-", NONE} else value, "; ".join(filter(None, (_why(name, found.chosen, value), by))))


def _why(name: Choice, answer: Chosen, value: str) -> str:
    """The reasons of the choice that mention the chosen value, else the first ones."""
    steps = [step for step in answer.reasons if step.choice == _STEPS.get(name, name)]
    own = [step for step in steps if step.about and step.about in value.replace(",", " ").split()]
    given_up = [step for step in steps if step.text.startswith(GIVES_UP)]
    told = given_up or own or steps
    return "; ".join(dict.fromkeys(f"{step.about}: {step.text}".removeprefix(": ") for step in told[:_REASONS]))
