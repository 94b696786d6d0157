"""Suspects are weighed by what speaks for and against them, and only where nothing is proved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import pytest

from ncdiag.base.severity import Confidence
from ncdiag.diagnose import diagnose, look
from ncdiag.engine.load import load_text
from ncdiag.engine.order import Basis, candidates
from ncdiag.engine.results import Finding
from ncdiag.engine.schema import Rule, Sign
from ncdiag.engine.where import Where
from ncdiag.parsers import discover
from ncdiag.suspects import trials
from ncdiag.suspects.choose import FAR, Decided, chosen, likelihood
from ncdiag.suspects.decide import questions
from ncdiag.suspects.weigh import PRIORS, STRENGTHS, Judged, Scales, Weighed
from ncdiag.text import TextSource

RULE = """
code = "SITE100"
name = "{name}"
area = "site"
severity = "error"
role = "cause"
title = "A cause"
why = "For a reason."

[suspect]
text = "a cause"
prior = "{prior}"
complaints = ["hangs"]

[[sign]]
text = "it says alpha"
strength = "strong"
says = ["alpha"]
ask = "cat /alpha"

[[sign]]
text = "it says alpha or beta"
strength = "moderate"
says = ["alpha|beta"]

[[sign]]
text = "it is not this"
strength = "strong"
says = ["gamma"]
against = true

[[fix]]
kind = "env"
text = "Set it."
workaround = true
env = {{ NCCL_P2P_DISABLE = "1" }}
"""


def rule(name: str = "a-cause", prior: str = "rare") -> Rule:
    return load_text(RULE.format(name=name, prior=prior))


def weighed(text: str, answers: Mapping[str, bool] | None = None) -> Weighed:
    return Scales(*look(text), (), answers).one(rule())


def scored(name: str, score: float) -> Weighed:
    return Weighed(msgspec.structs.replace(rule(name), code=name), score, 0, 0, ())


def decided(weighed: Iterable[Weighed], findings: Sequence[Finding] = (), *, troubled: bool = True) -> Decided:
    return chosen(candidates(findings), list(weighed), Basis(), troubled=troubled)


def test_signs_on_one_line_count_once() -> None:
    assert weighed("alpha").score == STRENGTHS["strong"]
    assert weighed("alpha\nbeta").score == STRENGTHS["strong"] + STRENGTHS["moderate"]


def test_what_speaks_against_counts_against() -> None:
    assert weighed("alpha\ngamma").score == 0
    assert Scales(*look("gamma"), ()).weigh([rule()]) == []


def test_a_prior_breaks_ties() -> None:
    found = Scales(*look("alpha"), ()).weigh([rule(), rule("other-cause", "common")])
    assert [(each.rule.name, each.prior) for each in found] == [
        ("other-cause", PRIORS["common"]), ("a-cause", PRIORS["rare"]),
    ]  # fmt: skip


def test_an_answer_settles_a_sign() -> None:
    assert weighed("nothing", {"SITE100:it says alpha": True}).score == STRENGTHS["strong"]
    assert weighed("alpha", {"SITE100:it says alpha": False}).score == STRENGTHS["moderate"]


def test_an_answer_to_the_question_of_a_suspect_counts_both_ways() -> None:
    asking = load_text(RULE.format(name="a-cause", prior="rare").replace("[suspect]", '[suspect]\nask = "Is it so?"'))
    scores = [
        Scales(*look("alpha"), (), answers).one(asking).score for answers in ({"Is it so?": True}, {"Is it so?": False})
    ]
    assert scores == [2 * STRENGTHS["strong"], 0]
    shown = decided([Scales(*look("alpha\nbeta"), ()).one(asking)]).suspected
    assert ("Is it so?", "Is it so?") in {(question.key, question.text) for question in questions(shown)}


def test_a_trial_with_a_fix_speaks_for_its_cause() -> None:
    assert weighed("nothing", {"NCCL_P2P_DISABLE=1": True}).score == STRENGTHS["strong"]
    assert weighed("alpha", {"NCCL_P2P_DISABLE=1": False}).score < 0


def test_what_keeps_a_rule_from_the_whole_job_speaks_against_its_suspect() -> None:
    guarded = load_text(RULE.format(name="a-cause", prior="rare").replace(
        'why = "For a reason."', 'why = "For a reason."\nunless = ["job.nhosts == 1"]'))  # fmt: skip
    comm = "n1:40:51 [0] NCCL INFO comm 0x7f rank 0 nRanks 8 nNodes {} localRanks 8 localRank 0 MNNVL 0\nalpha"
    scores = [Scales(*look(comm.format(nodes)), ()).one(guarded).score for nodes in (1, 2)]
    assert scores == [0, STRENGTHS["strong"]]
    assert Scales(*look("alpha"), ()).one(guarded).score == STRENGTHS["strong"]


def test_the_complaint_selects() -> None:
    assert weighed("alpha\nWhy does our training hang? It is stuck forever.").trouble > 0
    assert weighed("alpha\nWhy is our training so slow? It is slower than before.").trouble < 0


def test_words_of_likelihood() -> None:
    assert likelihood(scored("it", 9), 9, first=True) == "very likely"
    assert likelihood(scored("it", 9), 1.0, first=True) == "likely"
    assert likelihood(scored("it", 9), 0.1, first=True) == "possible"
    assert likelihood(scored("it", 9), 9, first=False) == "possible"
    assert likelihood(scored("it", 0.1), 9, first=True) is None


def test_words_that_the_input_shares_with_a_rule_make_nothing_likely() -> None:
    shared = Judged(Sign(text="it has words of this cause", strength="strong", group="words"), truth=True, counts=5)
    resembling = msgspec.structs.replace(scored("it", 6), signs=(shared,))
    assert likelihood(resembling, 9, first=True) == "possible"


def test_the_next_question_parts_the_suspects() -> None:
    shown = decided(Scales(*look("alpha beta"), ()).weigh([rule()])).suspected
    asked = questions(shown)
    assert {question.key for question in asked} == {"NCCL_P2P_DISABLE=1"}
    assert questions(shown, ["NCCL_P2P_DISABLE=1"]) == []
    (beta,) = decided(Scales(*look("beta"), ()).weigh([rule(prior="common")])).suspected
    assert "SITE100:it says alpha" in {question.key for question in questions([beta])}


@pytest.mark.parametrize(
    ("area", "told", "counts"),
    [
        ("roce", "NCCL_IB_DISABLE=1 works.", STRENGTHS["moderate"]),
        ("roce", "Disabling IB helped.", STRENGTHS["moderate"]),
        ("roce", "NCCL_IB_DISABLE=0 works.", 0),
        ("roce", "With NCCL_SHM_DISABLE=1 it works.", 0),
        ("roce", "It works on one node, it fails on two nodes.", STRENGTHS["moderate"]),
        ("p2p", "It fails even on one node.", 0),
        ("p2p", "With gloo it works.", 0),
        ("container", "Outside the container it works.", STRENGTHS["moderate"]),
    ],
)
def test_what_leaves_a_part_out_tells_of_all_causes_in_it(area: str, told: str, counts: float) -> None:
    of_area = RULE.format(name="a-cause", prior="rare").replace('area = "site"', f'area = "{area}"')
    own = load_text(of_area.replace("NCCL_P2P_DISABLE", "NCCL_NEVER_TRIED").replace('["hangs"]', '["hangs", "fails"]'))
    found = Scales(*look(f"alpha\n{told}"), ()).one(own)
    assert round(found.score - found.trouble, 1) == round(STRENGTHS["strong"] + counts, 1)


def test_a_fix_that_sets_no_variable_is_tried_by_its_label() -> None:
    tried = load_text(RULE.format(name="a-cause", prior="rare").rstrip() + '\ntried = ["no-firewall"]\n')
    assert Scales(*look("It works with the firewall switched off."), ()).one(tried).score == STRENGTHS["strong"]
    assert Scales(*look("alpha\nDisabling the firewall did not help."), ()).one(tried).score < 0


def test_what_is_far_behind_the_first_is_not_shown() -> None:
    scores = (4.5, 4.5 - FAR, 4.4 - FAR)
    made = decided(scored(f"cause-{number}", score) for number, score in enumerate(scores))
    assert [each.weighed.score for each in made.suspected] == [scores[0], scores[1]]


@pytest.mark.parametrize("line", ["{}=alpha", "export {}=alpha", "-x {}=alpha \\", '{}="alpha";'])
def test_a_variable_that_is_set_is_no_word_about_a_trouble(line: str) -> None:
    text = line.format("NCCL_NOTE")
    assert weighed(text).supporting[0].counts == STRENGTHS["weak"]
    assert weighed(f"{text} does not help").supporting[0].counts == STRENGTHS["strong"]


def found(confidence: Confidence, *, floor: bool = False) -> Finding:
    of = msgspec.structs.replace(rule("found"), code="found", floor=floor, signs=(), suspect=None)
    return Finding(
        rule=of, severity="error", role="symptom" if floor else "cause", layer=50, title="", why="",
        confidence=confidence, where=Where.nowhere(), evidence=(), instances=({},), count=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("finding", "score", "names"),
    [
        (found("certain"), 3.4, ["found", "other"]),
        (found("certain"), 7.4, ["other", "found"]),
        (found("certain"), 1.0, ["found"]),
        (found("certain", floor=True), 3.4, ["other", "found"]),
    ],
)
def test_findings_and_suspects_have_one_order(finding: Finding, score: float, names: list[str]) -> None:
    made = decided([scored("other", score)], [finding])
    assert list(made.answers) == names
    assert made.is_suspected == (names[0] == "other")


def test_answers_with_nearly_equal_sums_are_tied() -> None:
    made = decided([scored("first", 4.4), scored("second", 4.0), scored("third", 2.0)])
    assert [each.is_tied for each in made.suspected] == [True, False, False]


def test_where_nothing_went_wrong_a_suspect_is_only_possible_and_needs_a_higher_score() -> None:
    assert decided([scored("other", 1.2)], troubled=False).suspected == ()
    (shown,) = decided([scored("other", 5)], troubled=False).suspected
    assert shown.likelihood == "possible"
    assert [each.rule.name for each in decided([scored("other", 1.2)]).suspected] == ["other"]


def test_a_fix_that_many_suspects_offer_tells_of_their_class() -> None:
    told = "It works with NCCL_P2P_DISABLE=1."
    many = [rule(f"cause-{number}") for number in range(9)]
    offers = trials.offered(many)
    alone = next(iter(trials.signs(rule(), {"NCCL_P2P_DISABLE=1"}, (), trials.offered([rule()]))))
    shared = next(iter(trials.signs(rule(), {"NCCL_P2P_DISABLE=1"}, (), offers)))
    assert (alone[0].strength, shared[0].strength) == ("strong", "moderate")
    assert Scales(*look(told), ()).one(rule()).score == STRENGTHS["strong"]


MEETING = """\
n1:40:51 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
n1:40:51 [0] NCCL INFO misc/socket.cc:567 -> 2
n1:40:51 [0] NCCL INFO bootstrap.cc:270 -> 2
n1:40:51 [0] NCCL INFO init.cc:1350 -> 2
"""
CONNECTING = MEETING.replace("bootstrap.cc:270", "transport.cc:170")
MET = "n1:40:51 [0] NCCL INFO comm 0x7f rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n"


@pytest.mark.parametrize(
    ("area", "text", "counts"),
    [
        ("ib", MEETING, -STRENGTHS["strong"]),
        ("socket", MEETING, 0),
        ("ib", CONNECTING, 0),
        ("ib", MET + MEETING, 0),
        ("ib", "alpha", 0),
    ],
)
def test_what_carries_data_is_not_to_blame_where_the_ranks_do_not_meet(area: str, text: str, counts: float) -> None:
    own = load_text(RULE.format(name="a-cause", prior="rare").replace('area = "site"', f'area = "{area}"'))
    found = Scales(*look(f"alpha\n{text}"), ()).one(own)
    assert round(found.score - found.trouble, 1) == round(STRENGTHS["strong"] + counts, 1)


GIDS = (
    "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4\t\tVER\tDEV\n"
    "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a46:0401\t10.70.4.1\tv2\tens6f1np1\nn_gids_found=1\n"
)
ANNOUNCING = (
    "$ show_gids", "# show_gids", "% show_gids", "+ show_gids", "ops@n1:~$ show_gids", "n1:~ # show_gids",
    "[root@n1 ~]# show_gids | grep v2", "n1$ sudo show_gids", "(base) ops@n1:~$ ssh n2 show_gids", "> $ show_gids",
    "$ show_gids  # on n1", "$ which show_gids", "root@n1:/# cat show_gids.txt", "show_gids:", "=== show_gids ===",
    "**show_gids**", "show_gids on node-2:", "Output of show_gids:",
)  # fmt: skip


def words(text: str) -> set[str]:
    _, wording = look(text)
    return {word for line in wording.lines() for word in line}


@pytest.mark.parametrize("line", ANNOUNCING)
def test_a_line_that_only_names_a_command_has_nobody_s_words(line: str) -> None:
    found = words(f"{line}\n{GIDS}")
    assert "n_gids_found" in found
    assert not {word for word in found if word.startswith("show_gids") or word in {"grep", "cat", "ssh", "which"}}


def test_no_command_that_is_read_has_words_at_a_prompt() -> None:
    """But for one that starts a job: it is the job, as any other launch is. A name in $HOME is no command."""
    named = {name: parser.launched for parser in discover().values() for name in parser.commands if name[0] != "$"}
    told = {name for name in named if words(f"$ {name}\n\n") or words(f"ops@n1:~$ {name}\n\n")}
    assert told == {name for name, launched in named.items() if launched}


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("I ran show_gids and the GID is wrong", "show_gids"),
        ("show_gids lists eight, which one is right?", "show_gids"),
        ("the output of show_gids looks wrong", "show_gids"),
        ("$ show_gids  # the GID is wrong", "wrong"),
        ("$1 for the one who knows which GID", "knows"),
    ],
)
def test_own_words_that_name_a_command_count(line: str, word: str) -> None:
    assert word in words(f"{line}\n{GIDS}")


@pytest.mark.parametrize("sureness", ["high", "medium"])
def test_a_line_of_an_earlier_answer_on_a_troubled_host_is_weighed(sureness: str) -> None:
    line = f"ncdiag: the trouble follows n7: kernel is 5.15.0-91 there, 5.15.0-130 on n6 [{sureness}]\n"
    assert diagnose([TextSource.of_bytes("paste.txt", line.encode())]).inputs
