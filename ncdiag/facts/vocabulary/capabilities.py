"""What the GPUs of a job can do, from any name that a tool or a person gives."""

from __future__ import annotations

import re

from ncdiag.base.capabilities import capabilities_of
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.products import products
from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_AMD = lazy_regex(r"\b(?:mi\d{2,3}x?|(?:radeon|rx)\s?\w+|w[67][89]00x?|amd)\b", re.IGNORECASE)


@derived
def capabilities(job: Job, view: View) -> tuple[str, ...]:
    """What all GPUs of the job can do, or cannot: ``gdr``, ``no-peer``, ``no-nvlink``, ``mig``; empty if unknown."""
    names = named_gpus(job, view)
    words = [capabilities_of(name) for name in names]
    return tuple(sorted(frozenset.intersection(*words))) if words else ()


@derived
def named_gpus(job: Job, view: View) -> dict[str, Span | None]:
    """The GPUs that tools list, or else those that people name, or the machine type implies; each with its line."""
    listed = {gpu.model: gpu.provenance.get("model") for host in job.hosts for gpu in host.gpus if gpu.model}
    if listed:
        return listed
    said = {c.value: c.provenance.get("") for c in job.contexts if c.kind == "gpu-model"}
    types = {host.instance_type: host.provenance.get("instance_type") for host in job.hosts if host.instance_type}
    types |= {c.value: c.provenance.get("") for c in job.contexts if c.kind == "instance-type"}
    rented = {row.gpu: types[row.name] for row in products().machine if row.name in types}
    return said or rented


def has_amd_gpus(job: Job, view: View) -> bool:
    """Is one of the named GPUs of AMD?"""
    return any(_AMD.search(name) for name in named_gpus(job, view))
