"""Facts that do not fit each other, or that together say what none of them says alone."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact

RelationKind = Literal[
    "alone", "more-than-gpus", "fewer-tasks", "gpus-shared", "place-no-address", "place-is-path", "peer-elsewhere",
    "bus-id-twice", "contexts-on-gpu0", "ipc-across-hosts", "gids-start-late", "first-gid-link-local",
    "longer-than-limit", "at-resolver-interval", "gpu-newer-than-cuda", "library-for-other-cuda", "starts-at-gigabytes",
    "silent-past-idle-limit", "silent-nccl", "not-passed-on", "port-without-lid", "port-without-manager", "lid-twice",
    "guid-twice", "subnets-apart", "onboard-listed", "list-full", "mpi-interface-missing",
    "says-alone", "others-not-started", "one-side-started", "first-waits-alone", "lists-differ",
    "still-meeting", "first-is-elsewhere", "seeks-itself", "batch-alone", "in-each-task", "loaders-over-cpus",
]  # fmt: skip


class Relation(Fact, frozen=True, kw_only=True):
    """A relation between read facts (`ncdiag.nccl.vocabulary.relations`); ``text`` says it with names and numbers.

    ``what``, about the launch: ``alone`` (each process of one command printed a result, so each ran alone),
    ``more-than-gpus`` (more processes on a host than visible GPUs), ``fewer-tasks`` (Slurm starts fewer tasks than
    nodes times tasks per node), ``gpus-shared`` (two programs that run at the same time may use the same GPU),
    ``place-no-address`` (the place where the ranks meet cannot be an address), ``place-is-path`` (the same for a path,
    as a start-up file of the shell prints one), ``silent-nccl`` (NCCL's log is on, and the output of a job that hangs
    has no line of it), ``not-passed-on`` (the shell exports variables, and the launcher does not pass them to other
    hosts), ``loaders-over-cpus`` (the processes of a host have several times as many data loader workers as it has
    processors).

    About who meets: ``says-alone`` (each process of one command announces rank 0 of 1), ``others-not-started`` (the
    ranks meet on the host itself, and others did not come), ``one-side-started`` (the launcher is shown on some hosts
    of its list, and only processes of the others do not listen), ``first-waits-alone`` (after the work was done, rank 0
    alone waits in a collective), ``lists-differ`` (the lines of two hosts list the same hosts in another order),
    ``still-meeting`` (the last line of torchrun is that it waits for the other hosts at the rendezvous),
    ``first-is-elsewhere`` (the rendezvous address belongs to another host than the one that is started as the first),
    ``seeks-itself`` (a process of a multi-host job tries to reach the rendezvous at a loopback address),
    ``batch-alone`` (one process of a batch job of several nodes waits, and no line starts a step), ``in-each-task``
    (a launcher that starts all processes of a host runs several times on each host).

    About addresses, tables and numbers: ``peer-elsewhere`` (a peer that does not answer has an address in another
    network than all known hosts of the job), ``mpi-interface-missing`` (a host has none of the interfaces that a
    launch line lists for Open MPI), ``bus-id-twice`` (two ranks of one host have one bus id), ``contexts-on-gpu0``
    (several processes of other GPUs have memory on GPU 0), ``ipc-across-hosts`` (ranks of different hosts use a
    transport inside a host), ``gids-start-late`` (a GID table without its first entries), ``first-gid-link-local``
    (its first entry is link-local, and a later one has the address).

    About InfiniBand ports: ``port-without-lid`` (an active port has a LID that no port can have),
    ``port-without-manager`` (it names LID 0 as that of its subnet manager), ``lid-twice`` (one LID on two hosts, so
    that they are in two subnets), ``guid-twice`` (different devices on two hosts have the same GUID), ``subnets-apart``
    (two hosts have no subnet prefix in common), ``onboard-listed`` (NCCL uses the RDMA card of the on-board interface,
    over which its ranks also connect first, together with other cards), ``list-full`` (NCCL lists the maximum number
    of ports that its release can use).

    About values: ``longer-than-limit`` (somebody says that a step takes longer than the time limit that was exceeded),
    ``at-resolver-interval`` (a line comes again and again after the time limit of a resolver),
    ``gpu-newer-than-cuda`` (the CUDA release of a build has no code for the GPU), ``library-for-other-cuda`` (the NCCL
    package is for another CUDA than the toolkit), ``starts-at-gigabytes`` (a failure begins at a size of gigabytes),
    ``silent-past-idle-limit`` (a connection broke, and a pause was longer than something between the hosts keeps idle
    connections).
    """

    what: RelationKind
    text: str
