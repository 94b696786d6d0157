"""Patterns that are compiled late: they do what compiled ones do, and each of the package compiles."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re

import pytest

import ncdiag
from ncdiag.base.patterns import _Lazy, lazy_regex


def test_a_late_pattern_does_what_a_compiled_one_does() -> None:
    late, compiled = (make(r"(?P<word>[a-z]+)", re.IGNORECASE) for make in (lazy_regex, re.compile))
    for _ in range(2):
        found, expected = late.match("Ab 1"), compiled.match("Ab 1")
        assert found is not None
        assert expected is not None
        assert found["word"] == expected["word"]
    assert late.sub("x", "a b") == compiled.sub("x", "a b")
    assert (late.pattern, late.groups) == (compiled.pattern, compiled.groups)


def test_it_is_compiled_on_first_use() -> None:
    wrong = lazy_regex("(")
    with pytest.raises(re.error):
        wrong.match("")


def test_each_pattern_of_the_package_compiles() -> None:
    for module in pkgutil.walk_packages(ncdiag.__path__, "ncdiag."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    held = [each for each in gc.get_objects() if isinstance(each, _Lazy) and each.pattern != "("]
    assert held
    for each in held:
        re.compile(each.pattern, each._flags)
