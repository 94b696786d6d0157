"""What the words of an input resemble counts for a suspect, and never more than a strong sign."""

from __future__ import annotations

from ncdiag import catalogue
from ncdiag.engine.phrases import TOKEN
from ncdiag.engine.resemblance import Index, index, resemblances
from ncdiag.suspects.weigh import STRENGTHS

ENDINGS = ("", "shire", "like", "ness", "ward", "less")
SYLLABLES = [f"{first}{second}" for first in "bcdfghklmn" for second in "aeiou"]
FIELDS = {
    f"SITE{number}": ["common words of the trade", *(f"{syllable}rn{last}" for last in ENDINGS)]
    for number, syllable in enumerate(SYLLABLES)
}
OWN = " ".join(FIELDS["SITE0"][1:])
TALK = "the job on our new machines was all right last week and like this since monday, nobody changed anything there"


def found(text: str, held: Index | None = None, around: str = TALK) -> dict[str, float]:
    lines = [TOKEN.findall(line.lower()) for line in (text, around)]
    return {code: each.counts for code, each in resemblances(held or index(FIELDS, {}), lines).items()}


def test_rare_words_tell_and_usual_ones_do_not() -> None:
    assert next(iter(found(f"{OWN}, and bern of the birnness and the cornlike"))) == "SITE0"
    assert found("common words of the trade") == {}
    assert found("barn and bern") == {}, "two words are chance"
    assert found("") == {}
    assert found(OWN, around="") == {}, "a line alone"


def test_what_stands_out_most_counts_as_a_strong_sign_and_is_named_by_its_words() -> None:
    lines = [OWN.split(), *((f"{syllable}rn",) for syllable in SYLLABLES)]
    best = resemblances(index(FIELDS, {}), lines)["SITE0"]
    assert best.counts == STRENGTHS["strong"]
    assert set(best.words) <= set(OWN.split())


def test_words_that_inputs_are_full_of_are_not_rare() -> None:
    text = f"{OWN} cern cirnlike"
    assert "SITE0" in found(text)
    assert "SITE0" not in found(text, index(FIELDS, dict.fromkeys(FIELDS, (OWN,))))


def test_pairs_of_signs_are_words_of_scripts_without_blanks() -> None:
    held = index({**FIELDS, "SITE99": ["共享内存不足 容器的内存太小"]}, {})
    assert next(iter(found("容器的共享内存太小了,内存不足 barn bern", held))) == "SITE99"


def test_the_shipped_texts_know_their_fields() -> None:
    held = catalogue.texts()
    assert set(held.codes) == {rule.code for rule in catalogue.rules()}
    text = "show_gids lists no RoCE v2 GID of mlx5_0 but link-local ones, NCCL_IB_GID_INDEX is 3, ibv_modify_qp fails"
    names = {rule.code: rule.name for rule in catalogue.rules()}
    nearest = [names[code] for code in resemblances(held, [TOKEN.findall(line) for line in (text.lower(), TALK)])]
    assert any(name.startswith("roce-gid") for name in nearest[:3])
