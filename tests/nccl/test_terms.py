"""The tables of words, files and codes: complete, without doubles, and found under every name."""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.scalars import Version
from ncdiag.nccl import codes, paths, terms


def test_every_path_type_of_every_release_is_explained() -> None:
    types = {name for _, table in paths.TABLES for name in table}
    told = {term.name for term in terms.terms() if term.kind != "term"}
    assert types <= told
    assert {term.name for term in terms.terms() if term.kind == "path type"} <= types
    assert set(paths.path_types(Version(2, 30, 7))) <= told


def test_words_are_found_under_all_their_names_and_none_has_two_meanings_of_one_kind() -> None:
    for term in terms.terms():
        assert all(term in terms.named(word) for word in (term.name, term.name.lower(), *term.also))
    for kind in ("path type", "topology level", "term"):
        names = Counter(w.lower() for term in terms.terms() if term.kind == kind for w in {term.name, *term.also})
        assert [name for name, count in names.items() if count > 1] == []


def test_places_are_found_by_a_real_path_and_by_their_own() -> None:
    found = terms.place("/sys/class/infiniband/bnxt_re0/ports/2/gids/11/")
    assert found is not None
    assert found.path == "/sys/class/infiniband/<dev>/ports/<n>/gids/<i>"
    assert terms.place("/proc/4711/limits") is not None
    assert terms.place("/proc/47/11/limits") is None
    assert all(terms.place(place.path) == place for place in terms.places())
    assert all(place.holds and place.why for place in terms.places())


def test_codes_have_a_name_and_a_meaning() -> None:
    for kind, table in codes.codes().items():
        assert all(code.name and code.meaning.endswith(".") for code in table.values()), kind
    assert codes.code("sxid", 10042) is not None
    assert codes.code("sxid", 99_000) is None
    assert codes.code("xid", "79") is None
