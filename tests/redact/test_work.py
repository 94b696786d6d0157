"""How much of a text is searched: a shape once, a word once, and nothing again in the second reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cleaning import KEY
from planted import planted

from ncdiag.apps.redact import Cleaned, accounts, addresses, cleaned, hosts, searched
from ncdiag.formats.by_shape import ByShape, ByWord, blind
from ncdiag.formats.literals import code, reader
from ncdiag.formats.secrets import shapes
from ncdiag.formats.secrets.remover import Secrets
from ncdiag.formats.secrets.shapes import ZEROS, Shapes
from ncdiag.formats.secrets.tokens import TOKENS
from ncdiag.text import Text

FORMS = (
    *hosts._FORMS, *accounts._FORMS, TOKENS, addresses._DECIMAL_GID, addresses._IPOIB, addresses._V6, addresses._MAC,
    addresses._GUID, addresses._V4, addresses._DASHED, addresses._UUID, addresses._SERIAL,
)  # fmt: skip
IN_WORDS = (shapes._SECRET, shapes._ADDRESS, hosts._HINT)
LINES = [line for _, text, _ in planted() for line in text.split("\n")] + [
    "gpu-a07:812:812 [0] NCCL INFO Bootstrap : Using eth0:10.20.30.7<0>", "ip-10-1-2-3: link is up", "s3://b4cket/a b",
    "GID: 254:128:00:00:00:00:00:00:12:34:56:78:91:01:11:12", "0xb83fd20300a1b2c3 b8:3f:d2:a1:b2:c3 fe80::ba3f:1",
    "arn:aws:iam::123456789012:role/x", "vpc-1a2b3c4d", "Serial Number: MT2204X12345", "see u : kim and id = 4",
]  # fmt: skip


class Pieces(Text):
    """A text in buffers that may change between two readings."""

    def __init__(self, *buffers: bytes) -> None:
        self.name, self.notes, self.pieces = "job.log", [], list(buffers)

    def buffers(self) -> Iterator[bytes]:
        yield from self.pieces


def plain(first: int) -> bytes:
    return b"".join(b"step %d of 900 done, loss 2.%d\n" % (number, number) for number in range(first, first + 9000))


def shown(*buffers: bytes) -> tuple[Pieces, Cleaned]:
    text = Pieces(*buffers)
    source: Any = text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ncdiag.apps.redact.Spooled", Pieces)  # which would keep what it read
        (made,), _ = cleaned([source], KEY)
    return text, made


def counted(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[Any]:
    """The first arguments of the calls of a method from now on."""
    seen: list[Any] = []
    inner: Callable[..., Any] = getattr(owner, name)

    def calls(instance: Any, *given: Any) -> Any:  # noqa: ANN401
        seen.append(given[0])
        return inner(instance, *given)

    monkeypatch.setattr(owner, name, calls)
    return seen


def test_a_buffer_that_holds_nothing_is_not_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"gpu-a07:812:812 [0] NCCL INFO Bootstrap : Using eth0:10.20.30.7<0>\n"
    _, made = shown(head + plain(0), *(plain(number) for number in range(1, 9)))
    cut = counted(monkeypatch, Shapes, "flags")
    first, *others = made.buffers()
    assert first.startswith(b"hos-t07:812:812")
    assert others == [plain(number) for number in range(1, 9)]
    assert len(cut) == 1


def test_no_line_is_searched_for_secrets_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [b"step %d API_TOKEN=q%dzK8wTr4Lm9Pv2x\n" % (number, number) for number in range(50)]
    key = [b"-----BEGIN PRIVATE KEY-----\n", *[b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC%04d\n" % n for n in range(20)]]
    text, made = shown(b"".join([*lines, *key]), b"".join([*key[1:], b"-----END PRIVATE KEY-----\n", plain(0)]))
    looked = counted(monkeypatch, Secrets, "_one")
    found = b"".join(made.buffers())
    assert not looked
    assert not any(line[20:] in found for line in (*lines, *key[1:]))
    assert found.count(b"\n") == b"".join(text.pieces).count(b"\n")


def test_a_text_that_has_changed_is_searched_again_from_there() -> None:
    body = [b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC%04d\n" % number for number in range(30)]
    text, made = shown(b"-----BEGIN PRIVATE KEY-----\n" + b"".join(body[:10]), b"".join(body[10:20]), plain(0))
    text.pieces[1:] = [b"".join(body[10:]), b"password: q8zK2wTr4Lm9Pv\n" + plain(0)]
    found = b"".join(made.buffers())
    assert not any(line.strip() in found for line in body), "the key goes on"
    assert b"q8zK2wTr4Lm9Pv" not in found


def test_what_was_found_is_kept_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    text = [b"password: q8zK2wTr4Lm9Pv%d\n" % number * 40 for number in range(8)]
    expected = b"".join(shown(*text)[1].buffers())
    for name in ("_ROOM", "_KINDS", "_ALL_KINDS"):
        monkeypatch.setattr(searched, name, 3)
        assert b"".join(shown(*text)[1].buffers()) == expected
    assert b"q8zK2" not in expected


def test_patterns_are_tried_once_for_lines_that_differ_in_digits() -> None:
    forms = ByShape(hosts._FORMS)
    for number in range(1000, 2000):
        forms.among(f"gpu-a07:{number}:{number} [0] NCCL INFO Bootstrap : Using eth0:10.20.30.{number % 9}<0>")
    assert forms.tried == len(hosts._FORMS)


def test_a_word_is_judged_once() -> None:
    judged: list[str] = []
    words = ByWord(lambda word: len(judged.append(word) or word))  # type: ignore[func-returns-value]
    assert [words.together("step done step"), words.together("done done")] == [4, 4]
    assert judged == ["step", "done"]


def test_what_matches_a_line_matches_its_shape() -> None:
    tried = 0
    for form in FORMS:
        (zeroed,) = ByShape([form])._blind
        for line in LINES:
            if form.search(line):
                tried += 1
                assert zeroed.search(line.encode().translate(ZEROS).decode()), (form.pattern, line)
    assert tried > len(FORMS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form.pattern[:30]))
def test_no_form_excludes_a_particular_digit(form: Any) -> None:  # noqa: ANN401
    def check(items: Any, *, excluded: bool) -> None:  # noqa: ANN401
        for kind, value in items:
            if kind is code.IN:
                negated = (code.NEGATE, None) in value
                digits = [held for inner, held in value if inner is code.LITERAL and chr(held).isdigit()]
                assert not (digits and negated != excluded), digits
            elif kind in {code.LITERAL, code.NOT_LITERAL} and chr(value).isdigit():
                assert (kind is code.NOT_LITERAL) == excluded, chr(value)
            elif kind is code.ASSERT_NOT:
                check(value[1], excluded=not excluded)
            elif isinstance(value, tuple):
                for part in value:
                    for inner in part if isinstance(part, list) else [part]:
                        if isinstance(inner, reader.SubPattern):
                            check(inner, excluded=excluded)

    check(reader.parse(form.pattern, form.flags & ~32), excluded=False)
    assert blind(r"a1[0-9]{2,3}\x1b[4-7]") == r"a0[0-9]{2,3}\x1b[0]"


@pytest.mark.parametrize("form", IN_WORDS, ids=["secret", "address", "name"])
def test_a_form_of_words_matches_no_blank(form: Any) -> None:  # noqa: ANN401
    found = 0
    for line in LINES:
        whole = form.search(line) is not None
        found += whole
        assert any(map(form.search, line.split())) == whole, line
    assert found
