"""What people say of a trouble in languages other than English and Chinese: the tables of `ncdiag.language.speech`."""

# ruff: noqa: RUF001  (letters of other scripts)
from __future__ import annotations

import pathlib

import msgspec
import pytest

from ncdiag.language import speech

FIXTURES = pathlib.Path(__file__).parents[2] / "fixtures"
ROLES = {
    "common", "own", "one", "help", "fails", "now", "not", "done", "outcome", "yet", "past", "instructs", "status",
    "subject",
}  # fmt: skip
CODES = sorted(path.stem for path in speech.FOLDER.glob("*.toml") if path.stem != "en")
NEEDED = {"own", "help", "fails", "now", "done", "yet", "past", "status", "subject"}
SAID = {
    "cs": ("Stav: vyřešeno, uzel znovu funguje", "Moje úloha na uzlu stále padá"),
    "de": ("Der Fehler ist behoben und der Lauf ist stabil", "Mein Lauf bricht immer noch ab"),
    "es": ("El caso fue resuelto el viernes", "Mi trabajo sigue fallando, ¿alguna idea?"),
    "fr": ("Le problème est résolu depuis hier", "Mon job s'arrête toujours au démarrage"),
    "it": ("Il problema è stato risolto venerdì", "Il mio job si blocca ancora"),
    "ja": ("問題は解決しました", "今朝からまた学習が止まります"),
    "ko": ("문제가 해결되었습니다", "오늘 제 학습이 다시 중단되었습니다"),
    "nl": ("De storing is verholpen en de training draait weer", "Mijn training stopt nog steeds met een fout"),
    "pl": ("Zgłoszenie zamknięte, awaria więcej nie wystąpiła", "Nadal mam problem, zadanie zawiesza się"),
    "pt": ("A falha foi corrigida e não voltou a ocorrer", "Meu treino trava de novo na época 2"),
    "ru": ("Проблема решена, всё заработало", "У меня опять падает обучение"),
    "tr": ("Sorun çözüldü, düğüm tekrar çalışıyor", "İşim hâlâ aynı hata ile duruyor"),
    "uk": ("Проблему вирішено, все запрацювало", "У мене знову падає навчання"),
}
"""In each language: a trouble is over, and somebody has one."""


@pytest.mark.parametrize("code", CODES)
def test_a_table_has_known_roles_and_words_in_small_letters(code: str) -> None:
    table = msgspec.toml.decode((speech.FOLDER / f"{code}.toml").read_bytes(), type=dict[str, list[str]])
    assert set(table) <= ROLES
    assert set(table) >= NEEDED
    for role, entries in table.items():
        assert all(entry == entry.lower() for entry in entries), role
        assert len(set(entries)) == len(entries), role


@pytest.mark.parametrize("code", CODES)
def test_what_is_over_is_told_from_what_goes_wrong(code: str) -> None:
    over, wrong = map(speech.roles, SAID[code])
    assert "done" in over
    assert "own" not in over
    assert not wrong.isdisjoint({"own", "help"}) or {"fails", "now"} <= wrong
    assert "done" not in wrong


def test_english_lines_are_in_no_other_language() -> None:
    texts = [path.read_text() for path in sorted((FIXTURES / "mentioned").glob("*/*")) if "." not in path.stem]
    lines = [line for text in texts for line in text.split("\n") if line.isascii()]
    known = {line: said for line in lines if (said := speech.roles(line))}
    german = {
        line for line in known if any(word in line.lower() for word in (" der ", " die ", " ist ", " und ", " wir "))
    }
    assert len(lines) > 800
    assert len(set(known) - german) <= 0.01 * len(lines), set(known) - german


def test_a_few_words_have_the_roles_of_the_language_of_their_line() -> None:
    line = "État : clos."
    assert "done" not in speech.roles("clos")
    assert "done" in speech.roles_in("clos", line)


def test_a_long_line_is_read_up_to_a_limit() -> None:
    assert not speech.roles("x " * 1_000_000 + "problème résolu")


def test_a_verb_in_two_parts_is_one_word() -> None:
    assert "fails" in speech.roles("Unser Training bricht seit dem Umzug auf zwei Knoten immer wieder ab")
    assert "fails" in speech.roles("Onze training loopt sinds vanmorgen op twee nodes vast")
    assert "fails" not in speech.roles("Er bricht das Brot, und wir fahren mit dem Zug durch das Tal in die Stadt ab")
