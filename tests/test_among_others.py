"""A failure is answered among what people paste around it: a title, a ticket, another host's log, a launcher's end.

Of each rule on an error, the first example that is a log and that the rule alone explains; a tenth of the rules in a
run (`tenth`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

import pytest
from tenth import tenth

from ncdiag import catalogue
from ncdiag.diagnose import diagnose
from ncdiag.text import TextSource

_LOGS = frozenset({"nccl_log", "text", "traceback", "dmesg", "journal"})
_RANK = (
    "gpu07:41{n}:42{n} [{n}] NCCL INFO Bootstrap : Using bond0:10.4.7.7<0>\n"
    "gpu07:41{n}:42{n} [{n}] NCCL INFO cudaDriverVersion 12040\n"
    "gpu07:41{n}:42{n} [{n}] NCCL INFO Using network IB\n"
    "gpu07:41{n}:42{n} [{n}] NCCL INFO ncclCommInitRank comm 0x55d0c81a{n}f30 rank {n} nranks 8 cudaDev {n} "
    "nvmlDev {n} busId {n}b000 commId 0x7c2f8d11aa310c - Init {end}\n"
)
OTHER_HOST = "".join(_RANK.format(n=n, end=end) for n in range(8) for end in ("START", "COMPLETE"))
BEFORE = """\
[2026-11-03 09:12:01,113] torch.distributed.run: [WARNING]
[2026-11-03 09:12:01,113] torch.distributed.run: [WARNING] *****************************************
2026-11-03 09:12:14 | INFO | trainer | arguments: lr=3e-4 batch=4 accum=8 seed=1234 bf16=True
Loading checkpoint shards:  25%|##5       | 1/4 [00:03<00:11,  3.71s/it]
Loading checkpoint shards: 100%|##########| 4/4 [00:13<00:00,  3.40s/it]
2026-11-03 09:12:31 | INFO | trainer | model has 6738415616 parameters, 6738415616 trainable
tracker: run data is saved locally in /scratch/run/20261103_091301
"""
SLURM = """\
srun: error: n1: task 0: Exited with exit code 1
srun: Terminating StepId=81234.0
slurmstepd: error: *** STEP 81234.0 ON n1 CANCELLED AT 2026-11-03T09:23:42 ***
"""
TORCHRUN = """\
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-03_09:23:41
  host      : n1
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 48113)
  error_file: <N/A>
"""
OUTPUTS = """\
$ nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5c1d2e3f-1111-2222-3333-444455556666)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-5c1d2e3f-1111-2222-3333-444455556667)
$ ip -br addr
lo               UNKNOWN        127.0.0.1/8 ::1/128
eno1             UP             10.7.0.14/16
ib0              UP             10.8.0.14/16
$ ibstat
CA 'mlx5_0'
\tCA type: MT4123
\tNumber of ports: 1
\tFirmware version: 20.35.1012
\tHardware version: 0
\tNode GUID: 0x1070fd0300ab1234
\tSystem image GUID: 0x1070fd0300ab1234
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 200
\t\tBase lid: 37
\t\tLMC: 0
\t\tSM lid: 1
\t\tCapability mask: 0x2651e848
\t\tPort GUID: 0x1070fd0300ab1234
\t\tLink layer: InfiniBand
$ df -h /dev/shm
Filesystem      Size  Used Avail Use% Mounted on
tmpfs           504G     0  504G   0% /dev/shm
"""
"""What tools print of a host that lacks nothing."""
AROUND: dict[str, Callable[[str], str]] = {
    "a mail": lambda log: (
        "Hi all,\n\nour job on two nodes fails since this morning, and nothing was changed on our "
        f"side. Any hint is welcome. The end of the log is below.\n\n```\n{log}```\n\nThanks\nAnna\n"
    ),
    "a ticket": lambda log: (
        "Ticket #48211\nPriority: high\nReported by: a.berg\n\nDescription:\nSince the "
        "maintenance on Monday the training of our group does not run any more. We use 2 nodes with 8 GPUs each.\n\n"
        f"Log:\n{log}\nWhat we tried: other nodes, same result.\n\nRegards\nAnna\n"
    ),
    "a chat": lambda log: (
        "Anna Berg  10:12\nmy run died over night, does anybody know this?\n"
        f"```\n{log}```\nTom  10:15\nno idea, did you change anything?\n"
    ),
    "a prompt": lambda log: f"anna@login2:~/run$ tail -n 40 slurm-81234.out\n{log}anna@login2:~/run$ \n",
    "tools' outputs above": lambda log: f"{OUTPUTS}\n{log}",
    "tools' outputs below": lambda log: f"{log}\n{OUTPUTS}",
    "a German mail": lambda log: (
        "Hallo zusammen,\n\nseit heute bricht unser Training auf zwei Knoten ab, geändert haben wir nichts. Das Ende "
        f"der Ausgabe:\n\n{log}\nViele Grüße\nAnna\n"
    ),
    "another host's log": lambda log: (
        "The job does not run on two nodes. Output of the first node:\n"
        f"```\n{OTHER_HOST}```\nand of the second node:\n```\n{log}```\n"
    ),
    "a program's output": lambda log: BEFORE + log,
    "Slurm's end": lambda log: log + SLURM,
    "torchrun's end": lambda log: log + TORCHRUN,
}
_LACKING = r"virtual-ifname|efa-missing|link-local|driver-not-loaded|imex-address|not-propagated|plugin-not-loaded"
"""Rules on what a host lacks that the outputs show."""
_ANSWERED_OTHERWISE = {
    "another host's log": r"has_ready_rank|job\.ranks|\.net\b|nn-data|files-made|pslite|rpc-wrong|security-software"
    r"|pmix-peers|binding-refused|command-not-found",
    "tools' outputs above": _LACKING,
    "tools' outputs below": _LACKING,
    "torchrun's end": r"straggler|watchdog|barrier|crash|calls-apart|store-lost|rank-|gdr-level",
    "Slurm's end": r"gdr-level",
    "a program's output": r"stack-unlimited|starts-interpreter",
    "a prompt": r"stack-unlimited|rank-mapping-wrong",
}
"""Rules by their names and conditions for which what is around is evidence.

Ranks of another host are ready, under a launcher or on the network; a process ended although a setting only slows it;
a job has printed before the line that could not start it; what one command prints is of one host.
"""


def logs() -> Iterator[tuple[str, str]]:
    """(rule, log) of each rule on a cause that is an error."""
    for rule in catalogue.rules_with_examples():
        if (rule.severity, rule.role) == ("error", "cause"):
            for example in rule.examples:
                if example.outcome == "fired" and set(example.sections) <= _LOGS:
                    texts = [text.strip("\n") for parts in example.sections.values() for text in parts]
                    yield rule.name, "\n".join(texts) + "\n"
                    break


def rule_of(each: tuple[str, str]) -> str:
    return each[0]


@functools.cache
def first(text: str) -> str | None:
    found = diagnose([TextSource.of_bytes("paste", text.encode())]).findings
    return found[0].name if found else None


def may_differ(name: str, around: str) -> bool:
    """True if what stands around is evidence against the rule."""
    rule = next(each for each in catalogue.rules() if each.name == name)
    conditions = " ".join(map(str, (rule.name, *rule.when, *rule.unless)))
    return re.search(_ANSWERED_OTHERWISE.get(around, r"(?!)"), conditions) is not None


EXAMPLES: list[tuple[str, str]] = tenth(logs(), name=rule_of, one_in=6)


@pytest.mark.sweep
@pytest.mark.parametrize(("name", "log"), EXAMPLES, ids=lambda value: str(value)[:40])
def test_a_failure_is_answered_among_other_text(name: str, log: str) -> None:
    if first(log) != name:
        pytest.skip("the example alone has another first answer")
    lost = {around for around, put in AROUND.items() if not may_differ(name, around) and first(put(log)) != name}
    assert not lost
