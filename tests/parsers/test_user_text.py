"""What people tell of their trials, told from what they ask, plan, wish, hear and deny: pairs of sentences."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from linear import assert_linear_time

from ncdiag.base.spans import Section
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import (
    broken_by,
    complains,
    cured_by,
    not_cured_by,
    set_in_vain,
    told_trials,
)
from ncdiag.parsers import user_text
from ncdiag.parsers.user_text.trials import Reader
from ncdiag.text.reading.job import facts_of

PAIRS = [
    Path(__file__).parent / "user_text" / name for name in ("pairs.txt", "blind.txt", "people.txt", "experiments.txt")
]
_SHORT = {"unchanged": "same", "other-error": "other"}
PRECISION, RECALL = 0.97, 0.95


def pairs() -> list[tuple[str, str, set[str]]]:
    """Sentences of the files: the part that they stand in, the text, and what it tells of that part."""
    found, part = [], ""
    for line in itertools.chain.from_iterable(path.read_text(encoding="utf-8").splitlines() for path in PAIRS):
        if line.startswith("## "):
            part = line[3:].partition(":")[0]
        elif "=>" in line and not line.startswith("#"):
            text, _, told = line.rpartition("=>")
            facts = told.split("context:")[1:] if part == "context" else told.split()
            found.append((part, text.strip().replace("|", "\n"), {fact.strip() for fact in facts}))
    return found


def told_by(part: str, text: str) -> set[str]:
    job = facts_of({"text": [f"{text}\n"]})
    wants = {f"want:{want.what}" for want in job.wishes}
    complaints = {
        f"{c.what}{f'@{c.phase}' if c.phase else ''}{f'/{c.scope}' if c.scope else ''}" for c in job.complaints
    }
    if part == "context":
        return {context.value for context in job.contexts}
    if part == "wants":
        return wants
    if part == "complaints":
        return complaints
    trials = {f"{_SHORT.get(trial.outcome, trial.outcome)}:{label}" for label, trial in told_trials(job, View(job))}
    contexts = {f"context:{context.value.replace(' ', '_')}" for context in job.contexts}
    return trials | wants | complaints | contexts if part == "all" else trials


def test_pairs() -> None:
    right, extra, missing = 0, [], []
    for part, text, facts in pairs():
        found = told_by(part, text)
        right += len(found & facts)
        extra += [(text, fact) for fact in found - facts]
        missing += [(text, fact) for fact in facts - found]
    assert right > 850
    assert right >= PRECISION * (right + len(extra)), extra
    assert right >= RECALL * (right + len(missing)), missing


def test_what_is_told_becomes_facts_of_the_job() -> None:
    text = """Our training hangs after init.
NCCL_P2P_DISABLE=1 works.
We tried NCCL_IB_DISABLE=1, no luck.
It works with docker stopped? Should I set NCCL_SHM_DISABLE=1?
-g 2 works, -g 4 hangs
"""
    job = facts_of({"text": [text]})
    view = View(job)
    assert complains(job, view) == ("hangs",)
    assert cured_by(job, view) == ("NCCL_P2P_DISABLE=1", "NCCL_P2P_DISABLE", "fewer-gpus")
    assert not_cured_by(job, view) == ("NCCL_IB_DISABLE=1", "NCCL_IB_DISABLE")
    assert broken_by(job, view) == ("more-gpus",)


def test_people_who_are_stuck_with_a_release_report_no_hang() -> None:
    for text, whats in (
        ("Our people are stuck with 2.20 until summer.", ()),
        ("Our people are stuck on CUDA 11.8.", ()),
        ("We\u2019re stuck with an old driver.", ()),
        ("The ranks get stuck with NCCL 2.20 after init.", ("hangs",)),
        ("We are stuck on NCCL init.", ("hangs",)),
        ("We are stuck at step 20.", ("hangs",)),
        ("We are stuck after init.", ("hangs",)),
    ):
        job = facts_of({"text": [text]})
        assert complains(job, View(job)) == whats


def test_what_is_told_both_ways_is_told_neither_way() -> None:
    job = facts_of({"text": ["NCCL_P2P_DISABLE=1 works.\nNCCL_P2P_DISABLE=1 did not help.\n"]})
    view = View(job)
    assert (cured_by(job, view), not_cured_by(job, view)) == ((), ())


@pytest.mark.parametrize("outcome", ["hangs", "crashes"])
def test_a_failure_alone_is_no_trial(outcome: str) -> None:
    assert told_by("trials", f"With NCCL_ALGO=Tree it {outcome}.") == set()
    found = told_by("trials", f"With NCCL_ALGO=Tree it {outcome}.\nWith NCCL_ALGO=Ring it works.")
    assert found == {"fails:NCCL_ALGO=Tree", "works:NCCL_ALGO=Ring"}


def test_other_words_for_one_change_are_one_change() -> None:
    assert told_by("trials", "It works over Ethernet, i.e. NCCL_IB_DISABLE=1.") == {"works:NCCL_IB_DISABLE=1"}
    assert told_by("trials", "With GDR off (NCCL_NET_GDR_LEVEL=0) it works.") == {"works:NCCL_NET_GDR_LEVEL=0"}
    assert told_by("trials", "With GDR off it works.") == {"works:NCCL_NET_GDR_LEVEL=LOC"}


@pytest.mark.parametrize(
    ("rates", "outcome"),
    [
        ("600 MB/s instead of 2 GB/s", "slower"), ("2 GB/s instead of 600 MB/s", "faster"),
        ("from 900 MB/s to 1 GB/s", "faster"), ("2 min rather than 100 s", "slower"),
        ("4 s instead of 300 ms", "slower"),
        ("12 instead of 50 minutes", "faster"), ("3 GB/s, up from 1", "faster"), ("3 GB/s instead of 20 ms", None),
    ],
)  # fmt: skip
def test_rates_are_compared_in_their_units(rates: str, outcome: str | None) -> None:
    found = told_by("trials", f"With NCCL_ALGO=Tree we get {rates}.")
    assert found == (set() if outcome is None else {f"{outcome}:NCCL_ALGO=Tree"})


@pytest.mark.parametrize("denied", ["does not cause", "did not trigger", "never introduced", "does not lead to"])
def test_what_does_not_cause_a_trouble_is_no_cure_of_it(denied: str) -> None:
    assert told_by("trials", f"A reboot {denied} the hang.") == set()
    assert told_by("trials", f"NCCL_P2P_DISABLE=1 {denied} this problem.") == set()


WRAPPED = """Hello, since last Monday our jobs of two nodes time out, and when we
set NCCL_IB_DISABLE=1 on all of the nodes of the partition none of the
jobs hangs. Setting NCCL_ALGO=Ring, as the vendor had recommended, made no
difference at all.
"""


def test_a_sentence_runs_over_the_lines_of_a_mail() -> None:
    assert told_by("trials", WRAPPED) == {"works:NCCL_IB_DISABLE=1", "same:NCCL_ALGO=Ring"}
    quoted = "".join(f"> {line}\n" for line in WRAPPED.splitlines())
    assert told_by("trials", quoted) == {"works:NCCL_IB_DISABLE=1", "same:NCCL_ALGO=Ring"}


@pytest.mark.parametrize("mark", ["- ", "| ", "$ ", "2. "])
def test_lines_of_lists_tables_and_commands_are_sentences_of_their_own(mark: str) -> None:
    lines = [*WRAPPED.splitlines()]
    lines[2] = f"{mark}{lines[2]}"
    assert "works:NCCL_IB_DISABLE=1" not in told_by("trials", "\n".join(lines))


def test_a_trial_is_told_by_the_line_of_its_outcome() -> None:
    job = facts_of({"text": [WRAPPED]})
    assert [trial.provenance[""].line for trial in job.trials] == [3, 3]


LOG = """node1:100:100 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.
node1:100:100 [0] NCCL INFO NCCL version 2.21.5+cuda12.4
"""
FAILURE = "node1:100:110 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote peer node2<5000>\n"


def test_what_was_set_in_the_run_that_failed_did_not_help() -> None:
    job = facts_of({"text": [LOG + FAILURE]})
    assert not_cured_by(job, View(job)) == ("NCCL_P2P_DISABLE=1",)
    for text in (LOG, f"{LOG}{FAILURE.replace('100:110', '200:210').replace('node1', 'node3')}"):
        other = facts_of({"text": [text]})
        assert set_in_vain(other, View(other)) == {}
    contrary = facts_of({"text": [f"{LOG}{FAILURE}But usually it works with NCCL_P2P_DISABLE=1.\n"]})
    assert not_cured_by(contrary, View(contrary)) == ()


def test_a_release_told_alone_is_older_or_newer_than_the_one_that_is_shown() -> None:
    told_alone = "It works with NCCL 2.18.\n"
    job = facts_of({"text": [told_alone]})
    assert cured_by(job, View(job)) == ("nccl-2.18", "other-nccl")
    for shown, label in (("2.21.5", "older-nccl"), ("2.17.1", "newer-nccl"), ("2.18.3", "nccl-2.18")):
        job = facts_of({"text": [f"NCCL version {shown}+cuda12.2\n{told_alone}"]})
        assert cured_by(job, View(job)) == (label,)


@pytest.mark.parametrize(
    ("remark", "is_set"),
    [
        ("do NOT do this", False), ("removed again", False), ("not set", False), ("TODO", False), ("没有设置", False),
        ("do not remove", True), ("never touch", True), ("was: 0", True), ("this made it work", True), ("不要动", True),
    ],
)  # fmt: skip
def test_the_remark_behind_a_setting_may_take_it_back(remark: str, is_set: bool) -> None:
    job = facts_of({"text": [f"export NCCL_IB_DISABLE=1  # {remark}\nexport NCCL_DEBUG=INFO\n"]})
    names = {setting.name for host in job.hosts for setting in host.settings.values()}
    assert ("NCCL_IB_DISABLE" in {*names, *(setting.name for setting in job.settings)}) is is_set


@pytest.mark.parametrize(
    ("line", "complains"),
    [("step = dist.all_reduce(x[{}])\n", True), ("    return {}\n", True), ("epoch 3 step {} loss 0.3\n", False)],
)
def test_a_ticket_holds_programs_of_any_length_and_output_of_some(line: str, *, complains: bool) -> None:
    rest = "".join(line.format(number) for number in range(400))
    job = facts_of({"text": [f"It hangs with 2 GPUs.\n\n{rest}"]})
    assert bool(job.complaints) is complains


def prose(size: int) -> list[Section]:
    line = "With NCCL_P2P_DISABLE=1 on two nodes it works but it still hangs without, and so on ({})."
    return [Section(kind="text", source="x", first_line=1, lines=tuple(line.format(i) for i in range(size)))]


def test_books_are_read_in_passing() -> None:
    assert_linear_time(user_text.read, prose, 1000)
    assert user_text.read(prose(1000)) == []


@pytest.mark.parametrize(
    "part",
    [
        "with ", "the same ", "NCCL_", "a " * 3 + "no ", "if I set ", "does not ", "the bandwidth of ", "from 5 ms to ",
        "moved the card into ", "has been running ", "a_b_", "--a-b", "data on the local ", "5 ", "bind the ranks to ",
        "has not yet ever been ", "two nodes instead of ", "i.e. ", "takes much ", "double the ",
    ],
)  # fmt: skip
def test_hostile_lines_take_no_longer(part: str) -> None:
    assert_linear_time(lambda text: Reader().read(text), lambda size: part * size, 100)


@pytest.mark.parametrize(
    ("line", "hangs"),
    [
        ("Whatever I set, the result does not move.", False),
        ("I tried four values and the numbers don't budge.", False),
        ("After step 12 the job does not move.", True),
    ],
)
def test_a_number_that_does_not_move_is_no_hang(line: str, hangs: bool) -> None:
    job = facts_of({"text": [line]})
    assert ("hangs" in {complaint.what for complaint in job.complaints}) is hangs
