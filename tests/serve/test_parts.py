"""Parts of the page by themselves: names of files, languages, the line, a process that hangs, the sentences."""

from __future__ import annotations

import os
import re
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from ncdiag.apps.web import analysis
from ncdiag.apps.web.app import build
from ncdiag.apps.web.line import Line
from ncdiag.apps.web.settings import Limits, Settings
from ncdiag.apps.web.uploads import Received, UploadError, harmless, receive
from ncdiag.apps.web.words import LANGUAGES, accepted, table
from ncdiag.apps.web.worker import INPUT, Outcome, Work

SERVE = Path(analysis.__file__).parent


@given(st.lists(st.text(max_size=300), max_size=5))
def test_names_of_files_are_harmless(names: list[str]) -> None:
    taken: list[str] = []
    for name in names:
        made = harmless(name, taken)
        assert re.fullmatch(r"[\w+,=@][\w.,+@=-]*", made)
        assert len(made.encode()) < 120
        assert made.casefold() not in {other.casefold() for other in taken}
        taken.append(made)


@pytest.mark.parametrize(
    ("given_name", "made"),
    [
        ("rank0.log", "rank0.log"), ("../../etc/passwd", "passwd"), ("C:\\logs\\a b.log", "a_b.log"), ("-", "file"),
        (".hidden", "hidden"), ("日志.txt", "日志.txt"), ("a*[1].log", "a_1_.log"), ("", "file"),
        ("日" * 300 + ".log", "日" * 32 + ".log"),
    ],
)  # fmt: skip
def test_a_name_stays_as_near_as_it_can(given_name: str, made: str) -> None:
    assert harmless(given_name, []) == made


def test_the_same_name_twice_is_two_files() -> None:
    assert harmless("x.tar.gz", ["X.tar.gz"]) == "x-2.tar.gz"


def part(name: str, value: str, more: str = "") -> str:
    return f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'


def taken(folder: Path, body: str, boundary: str = "x") -> Received:
    """What is taken of a form."""
    messages = [{"type": "http.request", "body": body.encode(), "more_body": False}]

    async def said() -> Message:
        return messages.pop(0)

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"",
             "headers": [(b"content-type", f"multipart/form-data; boundary={boundary}".encode())]}  # fmt: skip
    return anyio.run(receive, Request(scope, said), folder, 1 << 20)


def test_a_form_is_taken(tmp_path: Path) -> None:
    received = taken(tmp_path, part("text", "a log") + part("redact", "on") + part("other", "y") + "--x--\r\n")
    assert received == Received(fields={"redact": "on"}, names=["paste.txt"])
    assert (tmp_path / "paste.txt").read_text() == "a log"


def test_a_file_needs_no_name(tmp_path: Path) -> None:
    """As ``curl -F 'file=<rank0.log'`` sends it; browsers send an empty name where no file was chosen."""
    chosen = part("file", "a log") + part("file", "", more='; filename=""')
    assert taken(tmp_path, f"{chosen}--x--\r\n") == Received(names=["file"])


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (part("a", "b") * 700, 413, "too_many"),
        (part("a", "b", more=f"; filename={'n' * 9000}"), 400, "broken_upload"),
        (part("files", "b", more='; filename="a.log"') * 501, 413, "too_many"),
        ("no form at all", 400, "broken_upload"),
    ],
)
def test_forms_that_no_browser_sends_are_refused(tmp_path: Path, body: str, status: int, word: str) -> None:
    with pytest.raises(UploadError) as refused:
        taken(tmp_path, f"{body}--x--\r\n")
    assert (refused.value.status, refused.value.word) == (status, word)


@pytest.mark.parametrize(
    ("body", "boundary"), [(part("text", "a log"), "x"), (part("text", "a log")[:-9], "x"), ("", "x" * 5000)]
)
def test_a_form_without_its_end_is_refused(tmp_path: Path, body: str, boundary: str) -> None:
    with pytest.raises(UploadError) as refused:
        taken(tmp_path, body, boundary)
    assert (refused.value.status, refused.value.word) == (400, "broken_upload")


def test_a_file_for_which_there_is_no_room_is_refused(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits of a process are for Unix")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, hard))
    try:
        with pytest.raises(UploadError) as refused:
            taken(tmp_path, part("text", "a log\n" * 1000) + "--x--\r\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (refused.value.status, refused.value.word) == (507, "no_room")


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("en-GB,en;q=0.9,zh;q=0.1", "en"), ("fr,zh;q=0.2", "zh"), ("", "en"),
        ("de", "en"), ("zh;q=x,en;q=0.1", "en"), ("en;q=0.2,zh;q=0.7", "zh"),
        ("zh;q=0", "en"),
    ],
)  # fmt: skip
def test_the_preferred_language_of_a_browser(header: str, code: str) -> None:
    assert accepted(header) == code


def test_all_languages_say_the_same_with_the_same_holes() -> None:
    said = table()
    assert set(said) == set(LANGUAGES)
    for word, english in said["en"].items():
        for code in LANGUAGES:
            assert said[code][word]
            assert set(re.findall(r"\{\w+\}", said[code][word])) == set(re.findall(r"\{\w+\}", english)), word
    assert all(re.search(r"[\u4e00-\u9fff]", sentence) for sentence in said["zh"].values())


def test_every_sentence_is_used() -> None:
    code = "".join(path.read_text() for path in SERVE.rglob("*") if path.suffix in {".py", ".js", ".html"})
    assert [word for word in table()["en"] if not re.search(rf"[\"'$]{word}\b", code)] == []


def test_the_line_is_first_come_first_served() -> None:
    async def run() -> None:
        line = Line(2)
        tickets = [line.join() for _ in range(5)]
        assert [ticket.before() for ticket in tickets] == [0, 0, 1, 2, 3]
        async with anyio.create_task_group() as group:
            group.start_soon(tickets[4].moved)
            await anyio.lowlevel.checkpoint()
            tickets[2].leave()
        assert [ticket.before() for ticket in (tickets[3], tickets[4])] == [1, 2]
        tickets[0].leave()
        tickets[1].leave()
        assert [ticket.before() for ticket in (tickets[3], tickets[4])] == [0, 0]

    anyio.run(run)


def test_a_process_that_hangs_is_ended(tmp_path: Path) -> None:
    """It opens a pipe that nobody writes into, which never returns."""
    (tmp_path / INPUT).mkdir()
    os.mkfifo(tmp_path / INPUT / "pipe")
    work = Work(folder=str(tmp_path), names=("pipe",), seconds=1.0)

    outcome = anyio.run(analysis.run, work)

    assert outcome == Outcome(word="too_slow")
    ends = os.open(tmp_path / INPUT / "pipe", os.O_RDWR | os.O_NONBLOCK)
    os.close(ends)
    with pytest.raises(OSError, match="No such device or address"):  # ENXIO: no process reads it
        os.open(tmp_path / INPUT / "pipe", os.O_WRONLY | os.O_NONBLOCK)


def test_a_process_that_the_kernel_ends_gives_a_sentence(tmp_path: Path) -> None:
    """With less memory than it has already, nothing can be read."""
    (tmp_path / INPUT).mkdir()
    (tmp_path / INPUT / "a.log").write_bytes(os.urandom(1 << 20))
    work = Work(folder=str(tmp_path), names=("a.log",), memory=1 << 20)

    outcome = anyio.run(analysis.run, work)

    assert outcome.word in {"died", "no_memory"}


def test_with_no_place_left_one_is_sent_away() -> None:
    """Before anything is read of what is sent."""
    sent: list[Message] = []

    async def receive() -> Message:
        pytest.fail("nothing is to be read")

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/", "query_string": b"", "http_version": "1.1",
        "headers": [(b"host", b"localhost"), (b"content-length", b"9")],
    }  # fmt: skip
    anyio.run(build(Settings(limits=Limits(at_once=1, waiting=-1)), pytest.fail), scope, receive, send)

    assert sent[0]["status"] == 503
    assert dict(sent[0]["headers"])[b"retry-after"] == b"30"
    assert sent[1]["body"] == b"Too many diagnoses are waiting. Try again in a minute.\n"
