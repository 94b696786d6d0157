"""What people say about their machines, as facts of the hosts, where no tool said anything: release, GPUs, states.

A statement counts if it is the only one of its kind and is not about another machine or time. It fills a field that is
unknown on every host; a field that a tool printed on one host stays as it is on all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.model import Context, Gpu, Host, Rank
from ncdiag.facts.scalars import VersionRange

_OTHERWISE = lazy_regex(
    r"\b(?:also|another|others?|different|else(?:where)?|previous\w*|before|earlier|former\w*|used\sto|later|old(?:er)?"
    r"|newer|up-?grad\w*|down-?grad\w*|tried|tested|compar\w*|than|unlike|instead|switch\w*\s(?:to|from)|work(?:s|ed)?"
    r"|fine|same|reproduc\w*|laptop|colleague\w*)\b|也|另|换|之前|以前|升级|降级|试|正常",
    re.IGNORECASE,
)
"""Words that show that a line is about another system than this one, or about several."""
_MOST_GPUS = 16
"""The greatest number of GPUs of a host that a statement can mean."""


def is_elsewhere(context: Context) -> bool:
    """True if the line may be about another system, or about several."""
    return _OTHERWISE.search(context.text) is not None


def only(contexts: Iterable[Context], kind: str) -> Context | None:
    """The only statement of that kind; None if there are none or several."""
    found = {context.value: context for context in contexts if context.kind == kind}
    return next(iter(found.values())) if len(found) == 1 else None


_SOFTWARE = ("pytorch", "rocm", "cupy", "horovod", "deepspeed", "lightning")
"""What runs on a host, if somebody names its release."""


def counts(contexts: Iterable[Context], kind: str) -> list[int]:
    """The numbers that people name of a kind, ``gpu-count`` or ``host-count``."""
    found = (re.match(r"\d+", context.value) for context in contexts if context.kind == kind)
    return [int(number[0]) for number in found if number]


def describes(contexts: Sequence[Context]) -> bool:
    """True if people say enough of their machines for a host of which nothing else is known."""
    if _nccl_in_use(contexts) is not None or any(in_use(contexts, name) for name in _SOFTWARE):
        return True
    return any(only(contexts, kind) for kind in ("nccl-version", "state"))


def in_use(contexts: Iterable[Context], product: str) -> Context | None:
    """The only release of the product that somebody says is in use; None if there are none or several."""
    return only((c for c in contexts if c.value.partition(" ")[0] == product), "release")


def _nccl_in_use(contexts: Iterable[Context]) -> Context | None:
    told = in_use(contexts, "nccl")
    return told if told is not None and _version(told.value) is not None else None


def filled(hosts: Sequence[Host], ranks: Sequence[Rank], contexts: Sequence[Context]) -> tuple[Host, ...]:
    """The hosts with what people say of them in the fields that are unknown on all, and that no rank printed."""
    if not contexts:
        return tuple(hosts)
    said: dict[str, tuple[Any, Span]] = {}
    told = _nccl_in_use(contexts)
    if told is not None and (span := told.provenance.get("")):
        said["nccl_version"] = _version(told.value), span
    for kind, field, value_of in _FIELDS:
        context = only(contexts, kind)
        value = value_of(context.value) if context is not None and not is_elsewhere(context) else None
        span = context.provenance.get("") if context is not None else None
        if value is not None and span is not None:
            said.setdefault(field, (value, span))
    for context in contexts:
        if context.kind == "state" and (stated := _STATES.get(context.value)) and (span := context.provenance.get("")):
            contrary = {c.value for c in contexts if c.kind == "state" and _STATES.get(c.value, ("",))[0] == stated[0]}
            if len(contrary) == 1 and not is_elsewhere(context):
                said.setdefault(stated[0], (stated[1], span))
    if any(rank.nccl_version is not None for rank in ranks):
        said.pop("nccl_version", None)
    unknown = {f: v for f, v in said.items() if all(getattr(host, f) is None for host in hosts)}
    gpus = _gpus(hosts, contexts)
    return tuple(_with(host, unknown, gpus) for host in hosts)


def _with(host: Host, said: dict[str, tuple[Any, Span]], gpus: tuple[str, int, Span] | None) -> Host:
    if not said and gpus is None:
        return host
    fields: dict[str, Any] = {name: value for name, (value, _) in said.items()}
    provenance = {**host.provenance, **{name: span for name, (_, span) in said.items()}}
    if gpus is not None:
        model, count, span = gpus
        fields["gpus"] = tuple(
            Gpu(host=host.name, index=index, model=model, provenance={"": span, "model": span})
            for index in range(count)
        )
    return msgspec.structs.replace(host, **fields, provenance=provenance)


def _gpus(hosts: Sequence[Host], contexts: Sequence[Context]) -> tuple[str, int, Span] | None:
    """Model and number of the GPUs that people name, if no tool listed a GPU; one where they give no number."""
    model = only(contexts, "gpu-model")
    if model is None or is_elsewhere(model) or any(host.gpus for host in hosts):
        return None
    count = only(contexts, "gpu-count")
    number = int(digits[0]) if count is not None and (digits := re.findall(r"\d+", count.value)) else 1
    span = model.provenance.get("")
    return None if span is None else (model.value.upper(), min(number, _MOST_GPUS), span)


def _version(value: str) -> VersionRange | None:
    release = value.rpartition(" ")[2]
    return VersionRange.exact(release) if release.count(".") > 1 else None


def _true(_value: str) -> bool:
    return True


def _same(value: str) -> str:
    return value


_FIELDS: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("nccl-version", "nccl_version", _version),
    ("vm", "virtual_machine", _true),
    ("passthrough", "virtual_machine", _true),
    ("cloud", "cloud", _same),
    ("instance-type", "instance_type", _same),
)
"""Kinds of statements, the field of a host that each fills, and the value."""
_STATES: dict[str, tuple[str, Any]] = {
    "iommu-off": ("iommu_translating", False),
    "iommu-on": ("iommu_translating", True),
    "acs-off": ("acs_redirects", False),
    "acs-on": ("acs_redirects", True),
    "peermem-loaded": ("peermem_registered", True),
}
"""States that people name, and the field of a host that each fills."""
