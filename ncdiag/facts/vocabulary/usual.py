"""What an expert asks of a thread that names only a symptom: how the trouble shows, and on what kind of machine.

Both are labels, from what tools print and from what people say, so that a rule can state what is usual: GPUs on PCIe
cards that hang at the first collective, a training over RoCE whose bandwidth collapses. They are evidence for a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ncdiag.base.capabilities import capabilities_of
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.products import Product, machines, product_of, type_name
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Complaint, Job
from ncdiag.facts.stated import counts
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.capabilities import has_amd_gpus, named_gpus
from ncdiag.facts.vocabulary.gpus import has_nvlink, has_nvswitch
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.platforms import SLURM, platforms
from ncdiag.facts.vocabulary.told import broken_by, cured_by

_LATE_PHASES = frozenset({"later", "end", "rendezvous"})
_LATE_FORMS = frozenset({
    "epoch-end", "validating", "saving", "pauses", "falls-off", "second-step", "on-one-rank", "data-dependent",
})  # fmt: skip
_IDLE = frozenset({"gpus-idle", "pauses"})
_STARTING = frozenset({"cannot-start", "fails-at-init"})
_SEVERAL_GPUS = frozenset({"one-gpu", "fewer-gpus"})
_AMD_CARD = lazy_regex(r"\b(?:radeon|rx|w[67][89]00)", re.IGNORECASE)
_AZURE_IB = lazy_regex(r"nd\d+\w*r\w*_v\d|hb\d+\w*r")
"""Machine types of Azure with RDMA, which have an r in their name."""
_ONE_DEVICE = lazy_regex(r"(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES=\d")
_HOSTS = lazy_regex(
    r"\b(?:two|three|four|eight|both|several|multiple|all|[2-9]|\d{2,4})\s(?:[\w.-]+\s)?"
    r"(?:nodes|hosts|machines|servers|instances|workstations|desktops|pcs|computers|pods|vms|boxes|(?:dgx\s)?sparks?)\b"
    r"|\b(?:multi-?\s?node|(?:across|between|over)\s(?:the\s)?(?:nodes|hosts|machines|servers)"
    r"|each\s(?:node|host|machine|server)|(?:master|worker|head|second|other)\s(?:node|host)"
    r"|(?:two|dual|three|four|eight|(?<![\d.])(?:[2-9]|\d{2,3}))-(?:node|host|machine|server))\b"
    r"|\b(?:two|four|[2-9]|\d{2})\s?(?:x\s?)?(?:[a-z]{1,3}\d[a-z]{0,3}\.(?:\d{1,3}xlarge|metal)|a[23]-(?:high|mega|ultra)gpu"
    r"|(?:standard_)?n[dc]\d{2,3}\w{0,12}_v\d)"
    r"|[多双两跨](?:机|节点|台)",
    re.IGNORECASE,
)
"""Words for several hosts, and a number before a machine type of a cloud."""
_BEFORE = r"\b(?:both|two|three|four|six|eight|several|[2-9]|\d{2})\s?x?\s(?:\w+\s){0,3}?"
"""A number before the name of a GPU."""
_KINDS = frozenset({"machine", "slot", "network", "networks", "storage", "orchestrator", "container", "wsl"})


@derived
def symptoms(job: Job, view: View) -> tuple[str, ...]:
    """How the trouble shows, as labels: a kind (``slow``), with its form (``slow:pauses``) or phase (``hangs:end``).

    ``hangs-early``: at the first steps, or at a time that nobody names, and with no form that says more.
    ``slow-with-more-gpus`` and ``wrong-with-more-gpus``: one GPU alone is faster, or right.
    """
    found: list[str] = []
    shaped = [told for told in job.complaints if told.form or told.phase]
    for told in shaped[:1] or job.complaints[:1]:
        view.note(told)
    stuck = any(told.what == "hangs" and told.form not in _IDLE for told in job.complaints)
    for told in job.complaints:
        form = None if stuck and told.what == "slow" and told.form in _IDLE else told.form
        found += [told.what, *(f"{told.what}:{more}" for more in (form, told.phase) if more)]
    late = any(told.what == "hangs" and _is_late(told) for told in job.complaints)
    if not late and any(told.what in {"hangs", *_STARTING} for told in job.complaints):
        found.append("hangs-early")
    if "slow:with-more-gpus" in found or _is_faster_alone(job, view):
        found.append("slow-with-more-gpus")
    if "wrong-results:wrong-with-several" in found or ("wrong-results" in found and _needs_several(job, view)):
        found.append("wrong-with-more-gpus")
    return tuple(dict.fromkeys(found))


def _is_late(told: Complaint) -> bool:
    return told.phase in _LATE_PHASES or told.form in _LATE_FORMS


def _is_faster_alone(job: Job, view: View) -> bool:
    """True if a run with one GPU is said to be faster, or the throughput of one node falls by the number of GPUs."""
    return any(t.change in _SEVERAL_GPUS and t.outcome == "faster" for t in job.trials)


def _needs_several(job: Job, view: View) -> bool:
    """True if it works with one GPU, or fails with more."""
    cured = cured_by(job, view)
    return (
        any(change in _SEVERAL_GPUS or _ONE_DEVICE.fullmatch(change) for change in cured)
        or "more-gpus" in broken_by(job, view)
        or any(told.scope == "multi-gpu" or told.form == "with-more-gpus" for told in job.complaints)
    )


@derived
def platform(job: Job, view: View) -> tuple[str, ...]:
    """The kind of machine, as labels, from what tools and people name.

    ``cards``: all GPUs are on PCIe and no NVLink is known; ``board``: on a board; ``several-gpus``, ``several-hosts``;
    ``amd``, ``amd-cards``; ``virtual``; ``small-bar``: GPUs with a BAR1
    of 256 MiB; and the words that people use for it: ``workstation``, ``riser``, ``roce``, ``gigabit``, ``slurm``.
    """
    found = [*_of_gpus(job, view), *_of_hosts(job, view), *_of_cloud(job, view)]
    if any(host.virtual_machine for host in job.hosts) or _said(job, view, "vm", "passthrough"):
        found.append("virtual")
    if "workstation" in (said := _values(job, view, _KINDS)) and "board" not in found:
        found.append("cards")
    if SLURM in platforms(job, view):
        found.append(SLURM)
    return tuple(dict.fromkeys([*found, *said]))


def _of_gpus(job: Job, view: View) -> Iterator[str]:
    named = named_gpus(job, view)
    products_of = [product_of(as_printed(name)) for name in named]
    for gpu in [gpu for host in job.hosts for gpu in host.gpus if gpu.model][:1]:
        view.note(gpu, "model")
    for context in [context for context in job.contexts if context.kind in {"gpu-model", "instance-type"}][:1]:
        view.note(context)
    if has_amd_gpus(job, view):
        yield "amd"
        if any(_AMD_CARD.search(name) for name in named):
            yield "amd-cards"
    if _are_cards(job, view, products_of):
        yield "cards"
    joined = bool(named) and all("nvlink" in capabilities_of(name) for name in named)
    if joined or any(product is not None and product.form != "card" for product in products_of):
        yield "board"
    if products_of and all(product is not None and product.bar1 for product in products_of):
        yield "small-bar"
    if sum(len(host.gpus) for host in job.hosts) > 1 or len(job.ranks) > 1 or _counts(job) or _needs_several(job, view):
        yield "several-gpus"


def _are_cards(job: Job, view: View, products: Iterable[Product | None]) -> bool:
    joined = [h for h in job.hosts if has_nvlink(h, view) or has_nvswitch(h, view)]
    if joined or _said(job, view, "nvlink-bridge", "nvswitch"):
        return False
    if any(has_nvlink(host, view) is False for host in job.hosts):
        return True
    known = list(products)
    return bool(known) and all(product is not None and product.form == "card" for product in known)


def _counts(job: Job) -> bool:
    """True if people speak of several GPUs."""
    if any(number > 1 for number in counts(job.contexts, "gpu-count")):
        return True
    models = (context for context in job.contexts if context.kind == "gpu-model")
    return any(re.search(_BEFORE + re.escape(c.value.split()[-1]), c.text, re.IGNORECASE) for c in models)


def as_printed(model: str) -> str:
    """The name of a GPU as tools print it, from a person's: ``RTX A6000`` for ``a6000``."""
    name = model.upper()
    return f"RTX {name}" if re.fullmatch(r"A[456][05]00", name) else name


def _of_hosts(job: Job, view: View) -> Iterator[str]:
    several = is_multi_host(job, view)
    told = "one-host" in cured_by(job, view) or any(c.scope == "multi-host" for c in job.complaints)
    written = (fact.text for facts in (job.complaints, job.contexts, job.trials) for fact in facts)
    if several or (several is None and (told or any(_HOSTS.search(text) for text in written))):
        yield "several-hosts"


def _of_cloud(job: Job, view: View) -> Iterator[str]:
    """The network of the machine type that tools or people name."""
    types = {host.instance_type for host in job.hosts} | {c.value for c in job.contexts if c.kind == "instance-type"}
    names = {type_name(name) for name in types if name}
    for kind, row in machines().items():
        if kind in names:
            yield "efa" if row.layer == "EFA" else f"{row.cloud}-network"
    if any(_AZURE_IB.match(name) for name in names):
        yield "azure-network"


def _said(job: Job, view: View, *kinds: str) -> bool:
    return any(context.kind in kinds for context in job.contexts)


def _values(job: Job, view: View, kinds: Iterable[str]) -> list[str]:
    """What people say of these kinds, each once."""
    held = [context for context in job.contexts if context.kind in kinds]
    for context in held[:1]:
        view.note(context)
    return list(dict.fromkeys(context.value for context in held))
