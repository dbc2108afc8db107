"""Calls that arrive from outside, with the web framework of the bot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Awaitable, Callable, List, Mapping, Tuple

#: The limit of a body in bytes. Calls of the service and events of Discord are far smaller.
BODY_MAX_BYTES = 65_536


class Receiver(ABC):
    """Mounts `handle` and `handle_async` in web frameworks. No more of a body is read than it may have."""

    @abstractmethod
    def handle(self, raw_body: bytes, headers: Mapping[str, str]) -> Tuple[int, str]:
        """The status and the text to answer, for a function that is not async."""

    @abstractmethod
    async def handle_async(self, raw_body: bytes, headers: Mapping[str, str]) -> Tuple[int, str]:
        """The status and the text to answer."""

    @property
    def asgi(self) -> Callable[..., Awaitable[None]]:
        """An ASGI application. With `app.mount("/gdpr", handler.asgi)` of FastAPI its URL ends with `/gdpr/`."""
        return self._asgi

    async def fastapi(self, request: Any) -> Any:
        """A route of FastAPI or Starlette: `app.add_route("/gdpr", handler.fastapi, methods=["POST"])`."""
        from starlette.responses import Response

        status, text = await self.handle_async(await _joined(request.stream()), dict(request.headers))
        return Response(text or None, status_code=status, media_type="text/plain")

    async def aiohttp(self, request: Any) -> Any:
        """A route of aiohttp: `app.router.add_post("/gdpr", handler.aiohttp)`."""
        from aiohttp import web

        status, text = await self.handle_async(await _joined(request.content.iter_any()), dict(request.headers))
        return web.Response(status=status, text=text or None)

    @cached_property
    def flask(self) -> Callable[[], Any]:
        """A view of Flask: `app.add_url_rule("/gdpr", view_func=handler.flask, methods=["POST"])`."""

        def view() -> Any:
            from flask import Response, request

            status, text = self.handle(request.stream.read(BODY_MAX_BYTES + 1), dict(request.headers))
            return Response(text, status=status, mimetype="text/plain")

        # Flask takes it for the name of the endpoint, and refuses two of one name.
        view.__name__ = f"{type(self).__name__}_{id(self)}"
        return view

    async def _asgi(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not received here")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        status, text = await self.handle_async(await _joined(_received(receive)), headers)
        answer_headers = [(b"content-type", b"text/plain; charset=utf-8")]
        await send({"type": "http.response.start", "status": status, "headers": answer_headers})
        await send({"type": "http.response.body", "body": text.encode()})


async def _received(receive: Any) -> Any:
    more = True
    while more:
        message = await receive()
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _joined(chunks: Any) -> bytes:
    """The body, or one byte more than a body may have."""
    parts: List[bytes] = []
    length = 0
    async for chunk in chunks:
        parts.append(chunk)
        length += len(chunk)
        if length > BODY_MAX_BYTES:
            break
    return b"".join(parts)
