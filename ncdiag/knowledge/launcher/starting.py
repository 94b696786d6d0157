"""How a job was started, by its launch lines and the first lines of its ranks."""

from __future__ import annotations

from itertools import pairwise

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Benchmark, Event, Host, Job
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import STORE_UNREACHED
from ncdiag.facts.vocabulary.failures import tasks_text
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS
from ncdiag.facts.vocabulary.listeners import is_foreign
from ncdiag.facts.vocabulary.outcome import went_on
from ncdiag.facts.vocabulary.told import cured_by
from ncdiag.knowledge.launcher.announced import ANNOUNCED, misnumbered
from ncdiag.messages.vocabulary.connections import leads_nowhere
from ncdiag.messages.vocabulary.cuda_errors import PRINTED, is_invalid_device
from ncdiag.messages.vocabulary.first_ends import first_crash_order
from ncdiag.messages.vocabulary.reasons import reason

_RAS_SINCE = Version(2, 24)


@derived_of("c10d-port-in-use", "bind-failed")
def is_port_taken(event: Event, view: View) -> bool:
    """Is the TCP port of the rendezvous in use?

    From 2.24 on NCCL prints the same words when the port of its RAS service is in use, which is harmless
    (src/ras/ras.cc); NCCL's lines count for earlier releases only.
    """
    if event.event == "c10d-port-in-use":
        return True
    version = view.version(event)
    before = version is not None and version.less(_RAS_SINCE)
    return event.event == "bind-failed" and reason(event, view) == "address-in-use" and bool(before)


_TEST = lazy_regex(r"\b[a-z_]{4,40}_perf\b")
_UNREACHED = (
    "no error",
    "Cannot connect to self",
    "Connect timeout",
    "Connection refused",
    "No route to host",
    "Connection timed out",
)
_MISNUMBERED = frozenset({"bootstrap-rank-twice", "bootstrap-rank-count", "rank-invalid", "buffer-on-other-gpu"})


@derived
def tests_apart(job: Job, view: View) -> bool | None:
    """Did every process of an mpirun line run nccl-tests separately?

    A binary with MPI prints one header for the job and lists the GPUs of all processes below it.
    """
    line = next((la for la in job.launches if la.program.endswith(MPI_PROGRAMS) and _TEST.search(la.text)), None)
    if line is None or line.np is None or not job.benchmarks:
        return None
    if line.np == 1:
        return False
    view.note(line)
    for first, second in pairwise(job.benchmarks):
        if _is_bare(first) and first.nthreads == second.nthreads and first.min_bytes == second.min_bytes:
            view.note(second)
            return True
    for run in job.benchmarks:
        if run.rows and run.nranks is not None and run.nthreads is not None and run.gpus_per_process is not None:
            view.note(run)
            return run.nranks == run.nthreads * run.gpus_per_process
    return None


def _is_bare(run: Benchmark) -> bool:
    """Is it a header without a GPU and a number below it, since the next process printed first?"""
    return run.nthreads is not None and run.nranks is None and not run.rows and not run.unreadable_rows


@derived
def mapping_faults(job: Job, view: View) -> tuple[Event, ...]:
    """Signs that numbers from the launcher are wrong: of a GPU, of a rank, of a host."""
    told = (e for e in job.events if e.event in _MAPPED and is_mapping_fault(e, view))
    return (*told, *misnumbered(job, view))


_MAPPED = _MISNUMBERED | {"cuda-invalid-device", "cuda-device-invalid", *PRINTED}


@derived_of(*_MAPPED, ANNOUNCED)
def is_mapping_fault(event: Event, view: View) -> bool:
    """Is a number from the launcher wrong: that of a GPU, or of a rank among the others?"""
    return event.event in _MISNUMBERED or event.event == ANNOUNCED or bool(is_invalid_device(event, view))


@derived_of("gloo-no-address", "gloo-connect-failed", "gloo-family-mismatch", "horovod-no-common-interface")
def is_gloo_misled(event: Event, view: View) -> bool | None:
    """Did Gloo announce or search for an address that its peers do not share?

    Its fall-back to loopback harms only a job on several hosts. A host that refuses connections after a crash is an
    echo.
    """
    if event.event in {"gloo-family-mismatch", "horovod-no-common-interface"}:
        return True
    if event.event == "gloo-no-address":
        several = is_multi_host(view.job, view)
        return True if "wanted_interface" in event.fields else several
    if leads_nowhere(event, view):
        return True
    return any(word in event.text for word in _UNREACHED) and first_crash_order(view.job, view) is None


_LOST = "torch-rdzv-store-lost"
_STARTED = ("c10d-connect-timeout", "torch-store-timeout", "coordination-start-timeout")
_UNREGISTERED = "coordination-not-registered"
_ANSWERED = frozenset({"coordination-task-refused", "coordination-task-restarted"})
"""Events in which the coordination service refuses a task, so that the task has reached it."""
_UNANSWERED = "rendezvous-unanswered"
_UNREACHED_ERRNO = frozenset({110, 111, 113})
"""Timed out, refused, no route. PyTorch tries IPv6 first, which fails with other errors and does no harm."""


@derived_of("c10d-connect-failed", _UNANSWERED, _LOST, _UNREGISTERED, *_STARTED)
def is_unmet_rendezvous(event: Event, view: View) -> bool:
    """Did processes fail to meet before NCCL started? A refused attempt counts only without ranks of NCCL."""
    if event.event in _STARTED:
        return True
    if event.event == _UNREGISTERED:
        return _ANSWERED.isdisjoint(view.event_names())
    if event.event == _UNANSWERED:
        return not (view.job.ranks or went_on(event, view))
    return (event.event == _LOST or event.fields.get("errno") in _UNREACHED_ERRNO) and not view.job.ranks


@derived
def absent_tasks(event: Event, view: View) -> str:
    """The missing task, ``; task 5 did not come``, where the timeout message names it; else empty."""
    tasks = event.fields.get("tasks")
    return f"; {tasks_text(str(tasks))} did not come" if tasks else ""


@derived_of("torch-store-peer-gone", "torch-unique-id-missing", _LOST)
def is_store_loss(event: Event, view: View) -> bool:
    """Did a process lose the connection to the job's store after it had reached it?"""
    return event.event != _LOST or bool(view.job.ranks)


@derived
def port_tried(event: Event, view: View) -> str:
    """The result of trying the port by hand, `` (port 29500 of n1 gave: Connection refused)``; empty without one."""
    told = _kept_out(event, view) or next(iter(_tried(event, view)), None)
    if told is None:
        return ""
    fields = told.fields
    who = f"from {told.host} " if told.host else ""
    return f" ({who}port {fields.get('port')} of {fields.get('address')} gave: {fields.get('answer')})"


def _tried(event: Event, view: View) -> list[Event]:
    """The attempts by hand at the port of the event, or at any port if it names none."""
    port = event.fields.get("port")
    return [e for e in view.events_named("port-tried") if port in {None, e.fields.get("port")}]


def _kept_out(event: Event, view: View) -> Event | None:
    """The first attempt that failed from one host while the same port answered another."""
    tried = _tried(event, view)
    open_for = {(e.fields.get("address"), e.fields.get("port")): e.host for e in tried if _answers(e) and e.host}
    for each in tried:
        other = open_for.get((each.fields.get("address"), each.fields.get("port")))
        if not _answers(each) and each.host and other not in {None, each.host}:
            return each
    return None


def _answers(tried: Event) -> bool:
    return tried.fields.get("answer") == "answers"


@derived
def kept_out_host(event: Event, view: View) -> str:
    """The host that does not reach a port that answers another host; empty for none."""
    told = _kept_out(event, view)
    return "" if told is None or told.host is None else told.host


@derived
def address_kept_from_it(event: Event, view: View) -> str:
    """The address that `kept_out_host` does not reach; empty for none."""
    told = _kept_out(event, view)
    return "" if told is None else str(told.fields.get("address") or "")


@derived
def taken_port(host: Host, view: View) -> int | None:
    """The MASTER_PORT, if a program on this host, which MASTER_ADDR names, already listens on it.

    0 when it is free. None when that is not known, and where a process of the job may be the one that listens: one
    that others of the job look for, and whose program is not known to be another.
    """
    port, address = view.setting(host, "MASTER_PORT"), view.setting(host, "MASTER_ADDR")
    text = (port.text if port is not None and port.is_set else None) or ""
    if host.listening_ports is None or not text.isdecimal() or any(library.loaded for library in host.libraries):
        return None
    if int(text) not in host.listening_ports:
        return 0
    is_awaited = any(
        event.event in STORE_UNREACHED and event.fields.get("port") == int(text) for event in view.job.events
    )
    if is_awaited and not is_foreign(int(text), host):
        return None
    named = (address.text if address is not None and address.is_set else None) or ""
    own = {a.ip for interface in host.interfaces for a in interface.addresses or ()}
    if named not in own | {host.name, "localhost"} and named.split(".", 1)[0] != host.name:
        return None
    view.note(host, "listening_ports")
    view.note(port)
    return int(text)


@derived
def asked_by(event: Event, view: View) -> str | None:
    """The program that contacted a host that did not answer: ``ssh``, ``srun``, ``mpirun`` or ``kubectl``."""
    if event.event != "host-unanswered":
        return None
    return str(event.fields.get("carrier") or "ssh")  # releases that did not print it used ssh most often


_CHOOSES = lazy_regex(r"--(?:network[-_]interfaces?|nics)\b|HOROVOD_GLOO_IFACE\b")
"""The options of horovodrun (horovod/runner/launch.py) and the variable that name the interface."""


@derived
def interface_option_helped(job: Job, view: View) -> bool:
    """Does somebody say that the job works if an interface is named for Horovod, by option or variable?"""
    return any(_CHOOSES.match(change) for change in cured_by(job, view))
