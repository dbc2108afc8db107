"""How the asynchronous client sends. `_caller.py` is made of this file: python3 scripts/unasync.py."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Callable, Dict, Generic, List, Mapping, Optional, TypeVar, cast

import httpx

from . import _core
from ._core import CallOptions, Json
from ._page import Page, WalkPage
from .errors import ConsentRequiredError, LetheError, ProcessingRefusedError
from .types import Id

T = TypeVar("T")
_DEFAULTS = CallOptions()


class AsyncCaller:
    """Sends requests: time limit, repetitions, errors."""

    def __init__(
        self,
        url: str,
        key: Optional[str],
        timeout: float,
        retries: int,
        client: Optional[httpx.AsyncClient],
        on_retry: Optional[_core.OnRetry],
    ) -> None:
        _core.require_number("timeout", timeout, 0, _core.TIMEOUT_MAX)
        _core.require_number("retries", retries, 0, _core.RETRIES_MAX)
        self.base = _core.base_of(str(httpx.URL(url)))
        self.cache: Optional[_core.ConsentCache] = None
        self._key = _core.client_key(key)
        self._timeout, self._retries, self._on_retry = timeout, retries, on_retry
        self._owned = client is None
        # Each send says that it follows no redirect, which would turn a POST into a GET: a client of the bot may do so.
        self._client = client or httpx.AsyncClient()
        self._bot_id: Optional[str] = None

    async def aclose(self) -> None:
        if self._owned:
            await self._client.aclose()

    async def send(self, route: str, given: Mapping[str, Any], options: Optional[CallOptions] = None) -> Any:
        """`data` of the answer."""
        try:
            request, attempts = await self._begun(route, given, options or _DEFAULTS)
            answer = await self._repeated(request, attempts)
            if route == "POST /data/submit/batch":
                for refused in _core.refused_users(given, answer):
                    self._consent_may_have_changed(refused)
            return answer
        except (ConsentRequiredError, ProcessingRefusedError):
            self._consent_may_have_changed(given.get("user_id"))
            raise
        finally:
            if route in _core.CHANGING:
                self._consent_may_have_changed(given.get("user_id"))

    async def stream(
        self, route: str, given: Mapping[str, Any], options: Optional[CallOptions] = None
    ) -> AsyncIterator[bytes]:
        """The answer as it arrives. The time limit ends with its headers."""
        request, attempts = await self._begun(route, given, options or _DEFAULTS)
        while True:
            left = attempts.begin()
            try:
                built = self._client.build_request(
                    request.method, request.url, headers=request.headers, timeout=left
                )
                response = await attempts.within(self._client.send(built, stream=True, follow_redirects=False))
            except httpx.HTTPError as cause:
                await asyncio.sleep(attempts.pause_after(_fault(request, attempts, cause)))
                continue
            try:
                if response.status_code == 200:
                    async for chunk in response.aiter_bytes():
                        yield chunk
                    return
                content = await attempts.within(response.aread())
            except httpx.HTTPError as cause:
                raise _fault(request, attempts, cause) from cause
            finally:
                await response.aclose()
            error = _core.refusal_of(response.status_code, response.headers, content)
            await asyncio.sleep(attempts.pause_after(error))

    async def document(self, path: str) -> Any:
        """The keys of a document of the service outside of the interface."""
        request = _core.Request(f"GET {path}", "GET", self.base + path, {}, None, is_repeatable=True)
        return await self._repeated(request, _core.Attempts(request, self._timeout, self._retries, self._on_retry), _core.keys_of)

    async def own_id(self, options: CallOptions = _DEFAULTS) -> str:
        """The id of the bot that the key belongs to, asked once."""
        if self._bot_id is None:
            limits = CallOptions(timeout=options.timeout, retries=options.retries)
            self._bot_id = str((await self.send("GET /bots/me", {}, limits))["id"])
        return self._bot_id

    async def _begun(
        self, route: str, given: Mapping[str, Any], options: CallOptions
    ) -> "tuple[_core.Request, _core.Attempts]":
        if "bot_id" in _core.ids_in(route) and given.get("bot_id") is None:
            own: Dict[str, Any] = {"bot_id": await self.own_id(options)}
            given = {**given, **own}
        request = _core.request_of(self.base, self._key, route, given, options)
        timeout = self._timeout if options.timeout is None else options.timeout
        retries = self._retries if options.retries is None else options.retries
        _core.require_number("timeout", timeout, 0, _core.TIMEOUT_MAX)
        _core.require_number("retries", retries, 0, _core.RETRIES_MAX)
        return request, _core.Attempts(request, timeout, retries, self._on_retry, options.on_retry)

    async def _repeated(
        self,
        request: _core.Request,
        attempts: _core.Attempts,
        read: Callable[[int, Mapping[str, str], bytes], Any] = _core.data_of,
    ) -> Any:
        while True:
            left = attempts.begin()
            try:
                built = self._client.build_request(
                    request.method, request.url, headers=request.headers, content=request.body, timeout=left
                )
                response, content = await attempts.within(self._answer(built, attempts))
                return read(response.status_code, response.headers, content)
            except httpx.HTTPError as cause:
                await asyncio.sleep(attempts.pause_after(_fault(request, attempts, cause)))
            except LetheError as error:
                await asyncio.sleep(attempts.pause_after(error))

    async def _answer(self, built: httpx.Request, attempts: _core.Attempts) -> "tuple[httpx.Response, bytes]":
        response = await self._client.send(built, stream=True, follow_redirects=False)
        try:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                # The time limit of httpx is that of each part.
                attempts.check()
                content += chunk
        finally:
            await response.aclose()
        return response, bytes(content)

    def _consent_may_have_changed(self, user_id: Optional[Id] = None) -> None:
        if self.cache is not None:
            self.cache.clear(user_id)


def _fault(request: _core.Request, attempts: _core.Attempts, cause: Exception) -> LetheError:
    never_sent = isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    if isinstance(cause, httpx.TimeoutException) and not never_sent:
        return attempts.over()
    return _core.network_error(request.route, cause, never_sent)


class _AsyncListed(Generic[T]):
    """A list of the service. `async for` reads it in pages; rows that come or go meanwhile hide no other row."""

    def __init__(
        self, call: AsyncCaller, route: str, name: str, given: Mapping[str, Any], options: Optional[CallOptions]
    ) -> None:
        self._call, self._route, self._name, self._given, self._options = call, route, name, given, options

    async def __aiter__(self) -> AsyncIterator[T]:
        place: Json = {}
        while True:
            found = await self._asked({**place, "page_size": _core.PAGE_SIZE})
            for item in found["items"]:
                yield item
            if found["pagination"]["next"] is None:
                return
            place = {"after": found["pagination"]["next"]}

    async def to_list(self) -> List[T]:
        """Every item."""
        return [item async for item in self]

    async def _asked(self, place: Mapping[str, Any]) -> Json:
        answer = await self._call.send(self._route, {**self._given, **place}, self._options)
        return _core.page_of(answer, self._name)


class AsyncPages(_AsyncListed[T]):
    """A list of the service with totals. `async for` reads it in pages; rows that come or go meanwhile hide no other row."""

    async def page(self, number: int, size: int = _core.PAGE_SIZE) -> Page[T]:
        """One page: `items`, and `pagination` as the service answers it."""
        return cast("Page[T]", await self._asked({"page": number, "page_size": size}))


class AsyncWalk(_AsyncListed[T]):
    """A list of the service without totals. `async for` reads it in pages; rows that come or go meanwhile hide no other row."""

    async def page(self, after: Optional[str] = None, size: int = _core.PAGE_SIZE) -> WalkPage[T]:
        """The first page, or the one after `next` of the page before. It can have fewer items than `size`, or none."""
        place: Json = {} if after is None else {"after": after}
        return cast("WalkPage[T]", await self._asked({**place, "page_size": size}))


class AsyncGroup:
    """Methods of the client that belong together."""

    def __init__(self, call: AsyncCaller) -> None:
        self._call = call
