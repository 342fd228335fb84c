"""The requests of the page: its files, a session, the events, the lab's protocol, the report.

Every answer is refused to other users, other sites and wrong host names; everything but the page's
own files needs a session.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from onceproof.harness.lab.protocol import MAX_BYTES, Refused, parsed, too_large
from onceproof.reports.html import digests
from onceproof.web.access import Denied, Sessions, check_origin, check_user
from onceproof.web.feed import Feed

_PAGE: Final = Path(__file__).parent / "page"
_FILES: Final = {
    "/": ("page.html", "text/html"),
    "/lab.css": ("lab.css", "text/css"),
    "/style.css": ("../../reports/html/style.css", "text/css"),
    "/vendor/htm-preact.module.js": ("vendor/htm-preact.module.js", "text/javascript"),
} | {f"/{file.name}": (file.name, "text/javascript") for file in sorted(_PAGE.glob("*.js"))}
_CSS, _CODE = digests()
_HEADERS: Final = {
    # The report, which the page opens as a blob, inherits this policy.
    "Content-Security-Policy": f"default-src 'none'; script-src 'self' {_CODE}; "
    f"style-src 'self' {_CSS}; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
Answer = Callable[[str, str, dict[str, Any]], tuple[HTTPStatus, Any]]
"""Answers a method, a path and a body; raises `Refused`."""


class Subject(Protocol):
    """What the page shows; its parts come while the run goes on."""

    @property
    def answer(self) -> Answer | None:
        """Answers the lab's protocol; None in a run without one."""

    @property
    def report(self) -> Path | None:
        """The page of the report, once it is written."""


def app(feed: Feed, sessions: Sessions, subject: Subject, link: Callable[[], str]) -> ASGIApp:
    """Return the application; `link` makes the address for one more browser."""

    def file(request: Request) -> Response:
        name, kind = _FILES[request.url.path]
        return Response((_PAGE / name).read_bytes(), media_type=kind, headers=_HEADERS)

    async def session(request: Request) -> Response:
        token = (await _body(request)).get("token")
        return _json({"session": sessions.begin(token if isinstance(token, str) else "")})

    async def events(request: Request) -> Response:
        _check_session(request)
        return StreamingResponse(feed.follow(), media_type="application/x-ndjson", headers=_HEADERS)

    async def lab(request: Request) -> Response:
        _check_session(request)
        if subject.answer is None:
            raise Refused(HTTPStatus.NOT_FOUND, "there is no lab to control")
        path = "/" + str(request.path_params["path"])
        code, found = await run_in_threadpool(
            subject.answer, request.method, path, await _body(request)
        )
        return _json(found, code)

    async def links(request: Request) -> Response:
        _check_session(request)
        return _json({"address": link()}, HTTPStatus.CREATED)

    async def report(request: Request) -> Response:
        _check_session(request)
        if subject.report is None:
            raise Refused(HTTPStatus.NOT_FOUND, "the report is not written yet")
        return Response(subject.report.read_bytes(), media_type="text/html", headers=_HEADERS)

    def _check_session(request: Request) -> None:
        sessions.check(request.headers.get("authorization", ""))

    return _OnlyOwner(
        Starlette(
            routes=[
                *(Route(path, file, methods=["GET"]) for path in _FILES),
                Route("/session", session, methods=["POST"]),
                Route("/events", events, methods=["GET"]),
                Route("/lab/{path:path}", lab, methods=["GET", "POST"]),
                Route("/links", links, methods=["POST"]),
                Route("/report", report, methods=["GET"]),
            ],
            exception_handlers={Denied: _denied, Refused: _refused},
        )
    )


class _OnlyOwner:
    """Refuses other users, other sites and wrong host names before anything else."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                check_origin(Request(scope).headers)
                await run_in_threadpool(
                    check_user, scope["client"], scope["server"], owner=os.getuid()
                )
            except Denied as error:
                await _json({"error": str(error)}, HTTPStatus.FORBIDDEN)(scope, receive, send)
                return
        await self._inner(scope, receive, send)


async def _body(request: Request) -> dict[str, Any]:
    data = b""
    try:
        async for part in request.stream():
            data += part
            if len(data) > MAX_BYTES:
                raise too_large()
    except ClientDisconnect:
        raise Refused(HTTPStatus.BAD_REQUEST, "the body is incomplete") from None
    return parsed(data)


def _json(content: Any, code: HTTPStatus = HTTPStatus.OK) -> Response:
    return JSONResponse(content, status_code=code, headers=_HEADERS)


async def _denied(_: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, HTTPStatus.UNAUTHORIZED)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _json({"error": str(error)}, error.code)
