"""All relations between the facts of a job, as rules ask for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ncdiag.base.errors import contained
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, Relation, RelationKind
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.probes import note_lines
from ncdiag.nccl.vocabulary.relations import (
    addresses,
    launches,
    lengths,
    loaders,
    meeting,
    numbers,
    passing,
    ports,
    steps,
    values,
)

KINDS: tuple[Callable[[Job, View], Iterator[Relation]], ...] = (
    launches.alone, launches.more_than_gpus, launches.fewer_tasks, launches.gpus_shared,
    launches.place_no_address, launches.silent, passing.not_passed_on,
    meeting.alone_by_rank, meeting.others_not_started, meeting.one_side_started, meeting.first_waits_alone,
    meeting.lists_differ, meeting.still_meeting, meeting.first_is_elsewhere, meeting.seeks_itself,
    steps.batch_alone, steps.in_each_task,
    addresses.peer_elsewhere, addresses.mpi_interface_missing,
    numbers.bus_id_twice, numbers.contexts_on_gpu0, numbers.ipc_across_hosts, numbers.gids_start_late,
    numbers.first_gid_link_local,
    ports.port_without_lid, ports.port_without_manager, ports.lid_twice, ports.guid_twice, ports.subnets_apart,
    ports.onboard_listed, ports.list_full,
    lengths.longer_than_limit, lengths.silent_past_idle_limit,
    values.at_resolver_interval, values.gpu_newer_than_cuda, values.library_for_other_cuda,
    values.starts_at_gigabytes, loaders.loaders_over_cpus,
)  # fmt: skip


@derived
def relations(job: Job, view: View) -> tuple[Relation, ...]:
    """The relations between read facts that do not fit each other, or say more together than alone."""
    return tuple(found for kind in KINDS for found in _contained(kind, job, view))


def _contained(kind: Callable[[Job, View], Iterator[Relation]], job: Job, view: View) -> list[Relation]:
    """The relations of one kind; a bug in it costs only these."""
    try:
        return list(kind(job, view))
    except Exception as error:  # noqa: BLE001  (whatever a function of the table raises)
        view.faults.append(contained(error, f"the relation {kind.__name__!r} could not be read"))
        return []


@derived
def word(relation: Relation, view: View) -> RelationKind:
    """The kind of the relation (`Relation.what`), with the lines that show it as evidence."""
    note_lines(relation, view)
    return relation.what
