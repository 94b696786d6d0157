"""Programs that people paste: pairs of one that cannot go well and one that looks like it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from linear import assert_linear_time
from tenth import tenth

from ncdiag.parsers import script
from ncdiag.text.reading.job import facts_of

PROGRAMS = Path(__file__).parent / "script" / "programs.txt"


def programs() -> dict[str, tuple[set[str], str]]:
    """The kinds of faults and the text of each program by its name."""
    found = {}
    for part in PROGRAMS.read_text(encoding="utf-8").split("## ")[1:]:
        heading, _, text = part.partition("\n")
        name, _, kinds = heading.partition(" => ")
        found[name] = (set() if kinds == "none" else set(kinds.split()), text)
    return found


def faults(text: str) -> set[str]:
    return {fault.kind for fault in facts_of({"text": [text]}).script_faults}


def numbered(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.split("\n"), 1))


START = """Traceback (most recent call last):
  File "/w/run.py", line 8, in main
    jax.distributed.initialize(coordinator_address="n1:1234", num_processes=4, process_id=0)
  File "/venv/lib/python3.11/site-packages/jax/_src/distributed.py", line 180, in initialize
    global_state.initialize(coordinator_address, num_processes, process_id)
RuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect
"""


@pytest.mark.parametrize("label", ["", "{}: ", "[rank{}]: ", "[default{}]:", "[1,{}]<stderr>:", "w-{}  | "])
def test_a_frame_and_its_statement_are_behind_the_label_of_their_rank(label: str) -> None:
    lines = START.splitlines(keepends=True)
    ranks = range(12 if label else 1)
    for text in ("".join(label.format(n) + line for n in ranks for line in lines),
                 "".join(label.format(n) + line for line in lines for n in ranks)):  # fmt: skip
        assert faults(text) == {"fixed-rank"}
        assert faults(text.replace("process_id=0", "process_id=my_id")) == set()


def test_programs() -> None:
    wrong = {}
    for name, (wanted, text) in programs().items():
        found = faults(text)
        if found != wanted:
            wrong[name] = found
    assert wrong == {}


def test_half_of_them_are_sound() -> None:
    sound = [name for name, (wanted, _) in programs().items() if not wanted]
    assert len(programs()) // 3 < len(sound) < 2 * len(programs()) // 3


DRESSES: dict[str, Callable[[list[str]], list[str]]] = {
    "in a fence": lambda lines: ["It hangs with this:", "```python", *lines, "```", "What is wrong?"],
    "indented": lambda lines: ["It hangs with this:", "", *(f"    {line}" for line in lines)],
    "quoted": lambda lines: ["Somebody wrote:", *(f"> {line}" for line in lines)],
    "between sentences": lambda lines: ["It hangs with this program:", *lines, "Does anybody know why it hangs?"],
    "with Windows line ends": lambda lines: [f"{line}\r" for line in lines],
    "cut at its end": lambda lines: [*lines, "    summary(", "        'loss', {"],
    "with a line that is left out": lambda lines: [lines[0], "<snip: the usual arguments>", *lines[1:]],
}


@pytest.mark.sweep
@pytest.mark.parametrize("dress", DRESSES)
def test_a_program_is_read_in_any_dress(dress: str) -> None:
    wrong = {}
    for name, (wanted, text) in tenth(programs().items(), lambda item: f"{dress}/{item[0]}"):
        lines = text.rstrip("\n").split("\n")
        found = faults("\n".join(DRESSES[dress](lines)) + "\n")
        if found != wanted:
            wrong[name] = found
    assert wrong == {}


def test_at_the_prompt() -> None:
    text = """>>> import torch.distributed as dist
>>> if dist.get_rank() == 0:
...     dist.barrier()
...
'waits for ever'
"""
    assert faults(text) == {"some-ranks"}


def test_the_call_is_the_evidence() -> None:
    (fault,) = facts_of({"text": [programs()["barrier on the first rank alone"][1]]}).script_faults
    assert (fault.call, fault.text) == ("dist.barrier", "dist.barrier()")
    assert {span.line for span in fault.provenance.values()} == {6}


def test_settings_in_a_program_are_settings_still() -> None:
    job = facts_of(
        {
            "text": [
                'import os\nimport torch.distributed as dist\nos.environ["NCCL_P2P_DISABLE"] = "1"\ndist.barrier()\n'
            ]
        }
    )
    assert [(setting.name, setting.text) for setting in job.settings] == [("NCCL_P2P_DISABLE", "1")]


HOSTILE = {
    "brackets": "(" * 5000,
    "brackets on lines": "\n".join(["f(" * 10] * 400),
    "minus": "x = " + "-" * 100_000 + "1",
    "minus on lines": "x = (\n" + "\n".join(["-" * 1900] * 250) + "1)",
    "attributes": "x = a" + ".a" * 100_000,
    "attributes on lines": "x = (a\n" + "\n".join([".a" * 900] * 250) + ")",
    "sums": "x = (1\n" + "\n".join(["+1" * 900] * 250) + ")",
    "lambdas": "x = " + "lambda: " * 5000 + "1",
    "branches": "if rank == 0:\n    pass\n" + "elif rank == 1:\n    pass\n" * 1900,
    "branches without an end": "\n".join(f"{' ' * depth}if rank == 0:" for depth in range(1500)),
    "zero bytes": 'x = "\0"',
    "strings without an end": "x = '''\n" * 3000,
    "decorators": "@x\n" * 3000,
    "wrong statements": "def f(:\n    x = = 1\n" * 1900,
    "surrogates": "x = '\udcff'",
    "calls of calls": "\n".join(f"def f{n}():\n    f{n + 1}()\n    f{n + 1}()" for n in range(1000)),
    "devices of themselves": "device = torch.device('cuda', device)\n" * 50 + "x.to(device)",
    "names of names": "\n".join(f"a{n} = a{n + 1}\na{n} = a{n + 1} if b else a{n + 2}" for n in range(1000))
    + "\nx.to(a0)",
    "returns": "def f(rank):\n" + "    if rank != 0:\n        return\n" * 1900,
    "calls of everything": "\n".join(f"def f{n}():\n" + "".join(f"    f{m}()\n" for m in range(40)) for n in range(40)),
    "denials": "if " + "not " * 400 + "rank:\n    dist.barrier()",
    "numbers": "x = " + "9" * 1900,
    "escapes": "x = '" + "\\" * 1900,
    "matches": "match rank:\n" + "    case 0:\n        dist.barrier()\n" * 1000,
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", tenth(HOSTILE))
def test_hostile_programs_are_read_or_left(name: str) -> None:
    text = f"import torch.distributed as dist\n{HOSTILE[name]}\nif dist.get_rank() == 0:\n    dist.barrier()\n"
    assert len(script.read("paste", numbered(text))) <= 1


def test_reading_is_linear() -> None:
    part = "def f(rank):\n    if rank == 0:\n        dist.barrier()\n    x = = 1\n"
    assert_linear_time(lambda lines: script.read("paste", lines), lambda count: numbered(part * count), 60)


@pytest.mark.parametrize(
    "part",
    [
        'srun a "$SLURM_PROCID ',
        "srun --node_rank=$SLURM_PROCID x\n",
        "export RANK=$SLURM_PROCID\n",
        "L='$SLURM_PROCID \n",
    ],
)
def test_reading_shell_scripts_is_linear(part: str) -> None:
    assert_linear_time(lambda lines: script.read("paste", lines), lambda count: numbered(part * count), 200)
