"""The routes: the page, the files that it loads, and its form."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from ncdiag.apps.web import abandoned, analysis, keep, uploads
from ncdiag.apps.web.guard import Guard
from ncdiag.apps.web.line import Line
from ncdiag.apps.web.page import Page, said, statics
from ncdiag.apps.web.settings import Settings
from ncdiag.apps.web.unfinished import Unfinished
from ncdiag.apps.web.words import LANGUAGES, accepted
from ncdiag.apps.web.worker import INPUT, Outcome, Work
from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.language import ENGLISH
from ncdiag.report import SPOKEN, formats

EVENTS = "application/x-ndjson"
"""The type that the page's script accepts: one line of JSON per event, the answer last."""
_ECHO_LIMIT = 256 << 10
"""Maximum size in bytes of a paste that is shown again after a form was sent without scripts."""
_TYPES = {"json": "application/json", "sarif": "application/json", "html": "text/html", "junit": "application/xml"}
_STATUS = {"too_slow": 504, "no_memory": 507, "died": 500, "answer_too_large": 500}


def build(settings: Settings, note: Callable[[str], None]) -> Guard:
    """The application with its guard; ``note`` receives sentences for the operator."""
    site = _Site(settings, note)
    routes = [
        Route("/", site.page, methods=["GET"]),
        Route("/", _Judge(site), methods=["POST"]),
        Route("/words.json", site.words),
        Route("/static/{name}", site.static),
    ]
    return Guard(Starlette(routes=routes, lifespan=site.lifespan), settings)


class _Site:
    """State shared by the routes."""

    def __init__(self, settings: Settings, note: Callable[[str], None]) -> None:
        self.settings, self.note = settings, note
        self.line = Line(settings.limits.at_once)
        self.unfinished = Unfinished(settings.limits.unfinished, settings.limits.unfinished_each)
        self.folder = ""
        self._statics = statics()

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Keep a folder for uploads while the server runs, and remove those of servers that were killed."""
        await anyio.to_thread.run_sync(abandoned.remove)
        await analysis.make_ready()
        with tempfile.TemporaryDirectory(
            prefix=abandoned.prefix(os.getpid()), ignore_cleanup_errors=True
        ) as self.folder:
            yield

    def language(self, request: Request, wants: str = "") -> str:
        """The language in the address, else the browser's; for a format for programs English."""
        named = request.query_params.get("lang", "")
        if named in LANGUAGES:
            return named
        is_spoken = not wants or wants in SPOKEN
        return accepted(request.headers.get("accept-language", "")) if is_spoken else ENGLISH

    def page(self, request: Request) -> Response:
        """The empty page."""
        return HTMLResponse(Page(self.settings, self.language(request)).whole())

    def words(self, _: Request) -> Response:
        """The sentences of the page in all languages, for its script."""
        return JSONResponse({code: said(self.settings, code) for code in LANGUAGES})

    def static(self, request: Request) -> Response:
        """A file that the page loads."""
        found = self._statics.get(request.path_params["name"])
        return Response(found[0], media_type=found[1]) if found else PlainTextResponse("Not found\n", 404)


class _Judge:
    """The form: an upload is judged, and deleted when the answer was sent or the client has gone."""

    def __init__(self, site: _Site) -> None:
        self._site, self._settings = site, site.settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if uploads.is_too_large(request, self._settings.limits.upload):
            await self._refuse_unread(request, self._refusal(request, 413, "too_large"), send)
            return
        if self._is_full():
            await self._refusal(request, 503, "busy")(scope, receive, send)
            return
        made = self._folder()
        if made is None:
            await self._refusal(request, 507, "no_room")(scope, receive, send)
            return
        with made as folder:
            await self._answer(request, Path(folder), send)

    def _is_full(self) -> bool:
        """True if as many analyses run and wait as may."""
        return len(self._site.line) >= self._settings.limits.at_once + self._settings.limits.waiting

    async def _refuse_unread(self, request: Request, refusal: Response, send: Send) -> None:
        """Send the refusal before the upload is read; then drop the upload, so that a browser shows the refusal."""
        await send({"type": "http.response.start", "status": refusal.status_code, "headers": refusal.raw_headers})
        await send({"type": "http.response.body", "body": refusal.body, "more_body": True})
        with self._site.unfinished.place(_address(request)) as upload:
            await uploads.drop(request, self._settings.limits.upload, upload.heard)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _folder(self) -> tempfile.TemporaryDirectory[str] | None:
        """A folder for uploads; None, with a note to the operator, if it cannot be created."""
        try:
            made = tempfile.TemporaryDirectory(dir=self._site.folder, ignore_cleanup_errors=True)
            Path(made.name, INPUT).mkdir(mode=0o700)
        except OSError as error:
            self._site.note(f"cannot create a folder in {self._site.folder}: {error.strerror or error}")
            return None
        return made

    async def _answer(self, request: Request, folder: Path, send: Send) -> None:
        try:
            received = await self._received(request, folder / INPUT)
        except uploads.UploadError as error:
            await self._refusal(request, error.status, error.word)(request.scope, request.receive, send)
            return
        async with _while_there(request):
            wants = received.fields.get("format", "")
            response: Response
            if self._is_full():
                response = self._refusal(request, 503, "busy")
            elif not received.names:
                response = self._refusal(request, 400, "nothing")
            elif wants and wants not in formats():
                response = self._refusal(request, 400, "no_format")
            elif wants:
                response = await self._plain(request, folder, self._work(request, folder, received))
            else:
                response = self._streamed(request, folder, self._work(request, folder, received))
            await response(request.scope, request.receive, send)

    async def _received(self, request: Request, folder: Path) -> uploads.Received:
        """The upload, in a place for unfinished ones. Raises UploadError."""
        with self._site.unfinished.place(_address(request)) as upload:
            return await uploads.receive(request, folder, self._settings.limits.upload, upload.heard)
        raise uploads.UploadError(503, "given_up")

    def _work(self, request: Request, folder: Path, received: uploads.Received) -> Work:
        limits, wants = self._settings.limits, received.fields.get("format", "")
        return Work(
            folder=str(folder), names=tuple(received.names), language=self._site.language(request, wants),
            redact=received.fields.get("redact", "") not in {"", "0", "no", "off"},
            wants=wants, window={name: text for name in uploads.WINDOW if (text := received.fields.get(name, ""))},
            options=self._settings.options,
            seconds=limits.seconds, memory=limits.memory,
        )  # fmt: skip

    async def _steps(self, folder: Path, work: Work) -> AsyncGenerator[int | Outcome, None]:
        """The number of analyses before this one, whenever it changes; then the outcome."""
        ticket = self._site.line.join()
        try:
            while before := ticket.before():
                yield before
                await ticket.moved()
            outcome = await analysis.run(work)
        finally:
            ticket.leave()
        await self._keep(folder, outcome)
        yield outcome

    async def _keep(self, folder: Path, outcome: Outcome) -> None:
        """Keep an analysis if the operator requested it; the answer is sent even if that fails."""
        place = self._settings.keep
        if place is not None:
            try:
                await anyio.to_thread.run_sync(keep.keep, folder, outcome, place)
            except OSError as error:
                self._site.note(f"cannot store a diagnosis in {place}: {error.strerror or error}")

    async def _plain(self, request: Request, folder: Path, work: Work) -> Response:
        """A single format, for programs; the HTTP status reports success."""
        outcome = Outcome(word="died")
        async with contextlib.aclosing(self._steps(folder, work)) as steps:
            async for step in steps:
                if isinstance(step, Outcome):
                    outcome = step
        if outcome.word:
            return self._refusal(request, _STATUS[outcome.word], outcome.word)
        if outcome.sentence:
            return PlainTextResponse(f"{outcome.sentence}\n", 422)
        return Response(outcome.files[work.wants], media_type=_TYPES.get(work.wants, "text/plain"))

    def _streamed(self, request: Request, folder: Path, work: Work) -> Response:
        """The page, or the events for its script; sent from the start, so that the user sees that they wait."""
        if _wants_events(request.headers):
            return StreamingResponse(self._events(folder, work), media_type=EVENTS)
        return StreamingResponse(self._whole(folder, work), media_type="text/html")

    async def _events(self, folder: Path, work: Work) -> AsyncIterator[bytes]:
        page = Page(self._settings, work.language)
        async with contextlib.aclosing(self._steps(folder, work)) as steps:
            async for step in steps:
                event = {"result": page.result(step)} if isinstance(step, Outcome) else {"before": step}
                yield msgspec.json.encode(event) + b"\n"

    async def _whole(self, folder: Path, work: Work) -> AsyncIterator[str]:
        page = Page(self._settings, work.language)
        before, after = page.halves(text=_pasted(work), redact=work.redact, window=work.window)
        yield before
        waits = False
        async with contextlib.aclosing(self._steps(folder, work)) as steps:
            async for step in steps:
                if isinstance(step, Outcome):
                    yield page.result(step)
                elif not waits:
                    waits = True
                    yield page.note(page.words["waiting"].format(before=step))
        yield after

    def _refusal(self, request: Request, status: int, word: str) -> Response:
        """Why there is no analysis, in the form of the requested answer."""
        page = Page(self._settings, self._site.language(request))
        sentence = page.words[word]
        headers = {"Retry-After": "30"} if status == 503 else None  # noqa: PLR2004  (RFC 9110)
        if _wants_events(request.headers):
            return JSONResponse({"result": page.failure(sentence)}, status, headers, EVENTS)
        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(page.whole(result=page.failure(sentence)), status, headers)
        return PlainTextResponse(f"{sentence}\n", status, headers)


def _address(request: Request) -> str:
    """The address from which the request came."""
    return request.client.host if request.client else ""


def _wants_events(headers: Headers) -> bool:
    return EVENTS in headers.get("accept", "")


def _pasted(work: Work) -> str:
    """The pasted text without secrets, to be shown in the page again; empty if it is long."""
    path = Path(work.folder, INPUT, uploads.PASTE)
    if uploads.PASTE not in work.names or path.stat().st_size > _ECHO_LIMIT:
        return ""
    return Hiding().text(path.read_text(encoding="utf-8", errors="replace"))


@contextlib.asynccontextmanager
async def _while_there(request: Request) -> AsyncIterator[None]:
    """Cancel the block when the client disconnects; its request has been read to the end."""
    async with anyio.create_task_group() as group:
        group.start_soon(_watch, request.receive, group.cancel_scope)
        yield
        group.cancel_scope.cancel()


async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
