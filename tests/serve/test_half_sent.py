"""Uploads that stop halfway take no place from others."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import pytest
from serving import Served
from starlette.requests import Request
from starlette.types import Message

from ncdiag.apps.web import uploads
from ncdiag.apps.web.unfinished import Unfinished, Upload

USERS = 10
SECONDS = 10
"""Within which a user gets the page and a diagnosis of a small paste."""
PASTE = "n1:1:1 [0] NCCL INFO Bootstrap : Using veth1a2b:172.17.0.1<0>\n"


def head(page: Served, length: int) -> bytes:
    parts = urlsplit(page.url)
    lines = (f"POST {parts.path} HTTP/1.1", f"Host: {parts.netloc}", "Content-Type: text/plain")
    return "\r\n".join([*lines, f"Content-Length: {length}", "\r\n"]).encode()


@contextlib.contextmanager
def half_sent(page: Served, count: int, *, apart: bool) -> Iterator[list[socket.socket]]:
    """So many uploads that never end, each from another address, or all from that of the users."""
    parts = urlsplit(page.url)
    with contextlib.ExitStack() as stack:
        links = []
        for number in range(count):
            own = (f"127.0.1.{number + 1}" if apart else "127.0.0.1", 0)
            place = (parts.hostname or "", parts.port or 0)
            link = stack.enter_context(socket.create_connection(place, 10, own))
            link.sendall(head(page, 1000) + b"n1:1:1 [0] NCCL INFO")
            links.append(link)
        yield links


@pytest.mark.parametrize(("count", "apart"), [(80, True), (80, False), (200, True), (200, False)])
def test_users_are_served_beside_half_sent_uploads(serving: Callable[..., Served], count: int, *, apart: bool) -> None:
    page = serving("--at-once", "2")

    def use(_: int) -> tuple[int, int, float]:
        began = time.monotonic()
        seen, answer = page.ask(), page.send(PASTE, format="json")
        return seen.status, answer.status, time.monotonic() - began

    page.send(PASTE, format="json")  # the rules are loaded
    with half_sent(page, count, apart=apart), ThreadPoolExecutor(USERS) as pool:
        found = list(pool.map(use, range(USERS)))

    assert [(seen, answered) for seen, answered, _ in found] == [(200, 200)] * USERS
    assert max(seconds for *_, seconds in found) < SECONDS


def test_an_upload_that_is_given_up_gets_a_reason(serving: Callable[..., Served]) -> None:
    page = serving()
    with half_sent(page, 33, apart=False) as links:
        assert links[0].recv(1 << 16).startswith(b"HTTP/1.1 503")
        links[0].settimeout(5)
        links[32].settimeout(0.2)
        with pytest.raises(TimeoutError):
            links[32].recv(100)


def test_a_length_over_the_limit_is_refused_before_anything_is_sent(serving: Callable[..., Served]) -> None:
    page = serving("--upload-limit", "1")
    parts = urlsplit(page.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), 5) as link:
        link.sendall(head(page, (1 << 20) + 1))
        answer = link.recv(1 << 16).decode()
        while "\n" not in answer.partition("\r\n\r\n")[2]:
            answer += link.recv(1 << 16).decode()
    assert answer.startswith("HTTP/1.1 413")
    assert "larger than 1 MiB" in answer
    assert page.ask(body=bytes((1 << 20) + 1), headers={"Content-Type": "text/plain"}).status == 413


def test_the_upload_that_is_silent_longest_gives_its_place_up() -> None:
    given_up: list[str] = []

    async def hold(places: Unfinished, address: str, made: dict[str, Upload]) -> None:
        with places.place(address.partition("/")[0]) as upload:
            made[address] = upload
            await anyio.sleep_forever()
        given_up.append(address)

    async def run() -> None:
        places, made = Unfinished(4, 2), dict[str, Upload]()
        async with anyio.create_task_group() as group:
            for address in ("a/1", "b/1", "a/2", "c/1"):
                group.start_soon(hold, places, address, made)
                await anyio.sleep(0.002)
            made["a/1"].heard()
            for address in ("a/3", "d/1", "e/1"):  # of a, one is given up; then of all, the longest silent
                await anyio.sleep(0.002)
                group.start_soon(hold, places, address, made)
                await anyio.sleep(0.002)
            await anyio.lowlevel.checkpoint()
            assert given_up == ["a/2", "b/1", "c/1"]
            group.cancel_scope.cancel()

    anyio.run(run)


@pytest.mark.parametrize(("rate", "arrives"), [(1 << 30, False), (1000, True)])
def test_the_time_for_an_upload_grows_with_its_length(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, rate: int, *, arrives: bool
) -> None:
    """Half a second in which pieces of 100 bytes come steadily; it may take 0.2 s and one for each ``rate`` bytes."""
    monkeypatch.setattr(uploads, "TOTAL", 0.2)
    monkeypatch.setattr(uploads, "RATE", rate)
    left = 10

    async def piece() -> Message:
        nonlocal left
        await anyio.sleep(0.05)
        left -= 1
        return {"type": "http.request", "body": b"x" * 100, "more_body": left > 0}

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"",
             "headers": [(b"content-type", b"text/plain")]}  # fmt: skip

    async def run() -> uploads.Received:
        return await uploads.receive(Request(scope, piece), tmp_path_factory.mktemp("sent"), 1 << 20)

    if arrives:
        assert anyio.run(run).names == [uploads.PASTE]
    else:
        with pytest.raises(uploads.UploadError) as refused:
            anyio.run(run)
        assert refused.value.status == 408
        assert left > 0
