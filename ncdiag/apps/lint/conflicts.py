"""Checks of settings against each other: contradictions, repetitions, differing values that ranks must share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ncdiag.apps.lint.findings import finding
from ncdiag.apps.lint.model import Document, Edit, Finding, Setting
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import VersionRange
from ncdiag.nccl import environment
from ncdiag.nccl.numbers import parse_number

JOB_GROUPS = 1000
"""Groups with the same quotient by this number are containers of one manifest."""
_SOCKET_LIMIT = 64
_RANK = lazy_regex(r"(?i)RANK|PROCID|NODEID|hostname|\$HOST\b|SLURMD_NODENAME|COMM_WORLD")
_STARTS_ALL = {"mpirun", "mpiexec", "orterun", "prterun", "srun", "horovodrun", "deepspeed"}
_IB = (
    "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "NCCL_IB_SL", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT",
    "NCCL_IB_QPS_PER_CONNECTION", "NCCL_IB_ADAPTIVE_ROUTING", "NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ",
)  # fmt: skip

_Values = dict[str, str]


class _Contradiction(msgspec.Struct, frozen=True):
    """``first`` with a value that leaves ``others`` without effect, and the sentence that says so."""

    first: str
    when: Callable[[_Values], bool]
    others: tuple[str, ...]
    why: str
    severity: str = "warning"


def _word(values: _Values, name: str) -> int | str | None:
    """The value as NCCL interprets it; None if it is unset or invalid."""
    return environment.resolve(name, values.get(name)).effective


def _number(values: _Values, name: str) -> int:
    return parse_number(values.get(name)) or 0


def _listed(values: _Values, name: str, *words: str) -> bool:
    text = values.get(name, "").upper()
    return not text.startswith("^") and any(word.upper() in re.split(r"[,;:]", text) for word in words)


_CONTRADICTIONS = (
    _Contradiction("NCCL_IB_DISABLE", lambda v: _number(v, "NCCL_IB_DISABLE") != 0, _IB,
                   "With the verbs transport switched off, these settings have no effect."),
    _Contradiction("NCCL_NET", lambda v: _word(v, "NCCL_NET") == "Socket", _IB,
                   "With NCCL_NET=Socket no RDMA device is opened, and these settings have no effect."),
    _Contradiction("NCCL_IB_DISABLE", lambda v: _number(v, "NCCL_IB_DISABLE") != 0 and _word(v, "NCCL_NET") == "IB",
                   ("NCCL_NET",), "NCCL_NET=IB requests the transport that the other disables: the start fails."),
    _Contradiction("NCCL_P2P_DISABLE", lambda v: _number(v, "NCCL_P2P_DISABLE") == 1,
                   ("NCCL_P2P_LEVEL", "NCCL_P2P_DIRECT_DISABLE"), "With peer access off, its level has no effect."),
    _Contradiction("NCCL_NVLS_ENABLE",
                   lambda v: v["NCCL_NVLS_ENABLE"] == "0" and _listed(v, "NCCL_ALGO", "NVLS", "NVLSTREE"),
                   ("NCCL_ALGO",), "The requested algorithm is switched off."),
    _Contradiction("NCCL_NET_GDR_LEVEL",
                   lambda v: _word(v, "NCCL_NET_GDR_LEVEL") == "LOC" and _number(v, "NCCL_NET_GDR_READ") == 1,
                   ("NCCL_NET_GDR_READ",), "The level switches GPUDirect RDMA off, reading included."),
    _Contradiction("NCCL_MIN_NCHANNELS",
                   lambda v: 0 < _number(v, "NCCL_MAX_NCHANNELS") < _number(v, "NCCL_MIN_NCHANNELS"),
                   ("NCCL_MAX_NCHANNELS",), "The minimum is above the maximum; it is applied last and wins."),
    _Contradiction("NCCL_MIN_CTAS", lambda v: 0 < _number(v, "NCCL_MAX_CTAS") < _number(v, "NCCL_MIN_CTAS"),
                   ("NCCL_MAX_CTAS",), "The minimum is above the maximum; it is applied last and wins."),
    _Contradiction("NCCL_SOCKET_NTHREADS",
                   lambda v: _number(v, "NCCL_SOCKET_NTHREADS") * _number(v, "NCCL_NSOCKS_PERTHREAD") > _SOCKET_LIMIT,
                   ("NCCL_NSOCKS_PERTHREAD",), "Their product may be 64 at most; NCCL lowers the second."),
    _Contradiction("NCCL_DEBUG_SUBSYS",
                   lambda v: "NCCL_DEBUG" in v and _word(v, "NCCL_DEBUG") not in {"INFO", "TRACE", "ABORT"},
                   ("NCCL_DEBUG",), "Subsystems choose among INFO lines, which this level does not print.", "info"),
)  # fmt: skip


def check(document: Document, version: VersionRange | None) -> Iterator[Finding]:  # noqa: ARG001
    """Contradictions and repetitions within one environment."""
    groups: dict[int, list[Setting]] = defaultdict(list)
    for setting in document.settings:
        if setting.value and setting.reaches != "shell" and not setting.branch:
            groups[setting.group].append(setting)
    for group in groups.values():
        yield from _contradictions(document, group)
        if document.form in {"conf", "kubernetes"}:
            yield from _repeated(document, group)
    yield from _by_rank(document)
    if document.form == "kubernetes":
        yield from _between_containers(document, groups)


def _contradictions(document: Document, group: Sequence[Setting]) -> Iterator[Finding]:
    last = {setting.name: setting for setting in group}
    values = {name: setting.value or "" for name, setting in last.items()}
    for rule in _CONTRADICTIONS:
        others = [last[name] for name in rule.others if name in last]
        if rule.first in last and others and rule.when(values):
            one = last[rule.first]
            named = ", ".join(f"{s.name}={s.value} (line {document.line(s.name_at.start)})" for s in others[:3])
            yield finding(
                "settings-contradict", one.name_at, variable=one.name, severity=rule.severity, reason=rule.why,
                what=f"{one.name}={one.value} contradicts {named}", edits=(one.removal,) if one.removal else (),
            )  # fmt: skip


def _repeated(document: Document, group: Sequence[Setting]) -> Iterator[Finding]:
    """Repetitions: in nccl.conf the first setting of a name wins, in Kubernetes the last."""
    first: dict[str, Setting] = {}
    for setting in group:
        earlier = first.setdefault(setting.name, setting)
        if earlier is setting or earlier.value == setting.value:
            continue
        line = document.line(earlier.name_at.start)
        conf = document.form == "conf"
        why = "The first setting of a name wins." if conf else "The last of the list wins."
        yield finding(
            "setting-repeated", setting.name_at, variable=setting.name, reason=why,
            what=f"{setting.name} has another value ({earlier.value}) in line {line}",
            edits=_out(setting if conf else earlier), fixable=conf and setting.removal is not None,
        )  # fmt: skip


def _out(setting: Setting) -> tuple[Edit, ...]:
    return (setting.removal,) if setting.removal else ()


def _must_agree(name: str, *, between_hosts: bool = False) -> bool:
    known = environment.variables().get(name)
    ours = known is not None and known.owner == environment.OURS
    return ours and environment.must_agree(name, between_hosts=between_hosts) is True


def _by_rank(document: Document) -> Iterator[Finding]:
    started = {launch.branch for launch in document.launches if launch.program in _STARTS_ALL}
    for setting in document.settings:
        if setting.branch in started:  # one host starts the ranks of all
            continue
        if setting.branch and _RANK.search(setting.branch) and _must_agree(setting.name) and setting.reaches != "shell":
            others = [s for s in document.settings if s.name == setting.name and s is not setting]
            if others and all(s.value == setting.value for s in others):
                continue
            what = f"{setting.name} is set for some ranks only ({setting.branch.strip()[:60]})"
            yield finding("setting-differs-between-ranks", setting.name_at, variable=setting.name, what=what)


def _between_containers(document: Document, groups: dict[int, list[Setting]]) -> Iterator[Finding]:
    seen: dict[tuple[int, str], Setting] = {}
    for group, settings in groups.items():
        for setting in settings:
            if not _must_agree(setting.name, between_hosts=True):
                continue
            other = seen.setdefault((group // JOB_GROUPS, setting.name), setting)
            if other.group != group and other.value != setting.value:
                yield _differs(setting, f"{other.value} (line {document.line(other.name_at.start)})")


def _differs(setting: Setting, other: str) -> Finding:
    what = f"{setting.name} is {setting.value} here and {other} elsewhere in the job"
    return finding("setting-differs-between-ranks", setting.name_at, variable=setting.name, what=what)


def between_hosts(documents: Sequence[Document]) -> Iterator[tuple[Document, Finding]]:
    """Values that differ between files of the hosts of one job, or between its processes."""
    first: dict[str, tuple[Document, Setting]] = {}
    for document in documents:
        for setting in document.settings:
            if setting.value is None or setting.reaches == "shell":
                continue
            if not _must_agree(setting.name, between_hosts=True):
                continue
            owner, other = first.setdefault(setting.name, (document, setting))
            if owner is not document and other.value != setting.value:
                yield document, _differs(setting, f"{other.value} in {owner.source}")
