"""What NCCL would choose on a host, each choice with its reason, for the table."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

import msgspec

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
"""Names of choices under which their reasons stand, where they differ."""
_REASONS = 2
_WORD = re.compile(r"[\w.:%]+")


class Told(msgspec.Struct, frozen=True):
    """A choice in words; ``seen`` None: not known, empty: there is nothing to choose. ``why``: what decided."""

    seen: str | None
    why: str


def chosen(host: Host, view: View, *, beside_others: bool = False) -> Mapping[str, Told]:
    """All choices of a host; ``beside_others``: the reasons leave out its addresses, which differ by nature.

    By the releases that are possible where these agree, else by the newest of them; without any by the newest that was
    read. What the installed library answered beats what is simulated.
    """
    if not beside_others:
        return _chosen(host, view)

    def told(like: Host, its: View) -> Mapping[str, Told]:
        return {name: Told(one.seen, _without_addresses(one.why, like)) for name, one in _chosen(like, its).items()}

    return of_like(host, view, "choices", told)


def _chosen(host: Host, view: View) -> Mapping[str, Told]:
    version = view.version(host)
    newest = versions.LATEST_READ if version is None else min(version.high, versions.LATEST_READ)
    later = functools.cache(lambda: predict_host(host, view, newest))  # few hosts leave anything open
    first = predict_host(host, view, version)
    return {name: _told(name, host, view, first, later) for name in _CHOICES}


def _without_addresses(why: str, host: Host) -> str:
    """``eno1: taken with its address``: hosts that choose alike are told alike."""
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
    """The reasons of the choice that mention what was chosen, else the first ones."""
    steps = [step for step in answer.reasons if step.choice == _STEPS.get(name, name)]
    own = [step for step in steps if step.about and step.about in value.replace(",", " ").split()]
    given_up = [step for step in steps if step.text.startswith(GIVES_UP)]
    told = given_up or own or steps
    return "; ".join(dict.fromkeys(f"{step.about}: {step.text}".removeprefix(": ") for step in told[:_REASONS]))
