"""The asynchronous client. `_sync.py` is made of this file: python3 scripts/unasync.py."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, AsyncIterable, AsyncIterator, Awaitable, Callable, Dict, Iterable, List, Mapping, Optional, Type, TypeVar, Union

import httpx

from . import _core
from ._core import CallOptions, Id, Json
from .errors import ConsentRequiredError, LetheError, LetheTimeoutError

T = TypeVar("T")
AsyncMany = Union[Iterable[T], AsyncIterable[T]]
_DEFAULTS = CallOptions()
#: Seconds between two looks at an erasure.
_LOOK_SECONDS = 1.0


class _AsyncCaller:
    """Sends requests: time limit, repetitions, errors."""

    def __init__(
        self,
        url: str,
        key: Optional[str],
        timeout: float,
        retries: int,
        client: Optional[httpx.AsyncClient],
        on_retry: Optional[Callable[[str, LetheError, float], None]],
    ) -> None:
        _core.require_number("timeout", timeout, 0, _core.TIMEOUT_MAX)
        _core.require_number("retries", retries, 0, _core.RETRIES_MAX)
        self.base = str(httpx.URL(url)).rstrip("/")
        self.cache: Optional[_core.ConsentCache] = None
        self._key = _core.client_key(key)
        self._timeout, self._retries, self._on_retry = timeout, retries, on_retry
        self._owned = client is None
        self._client = client or httpx.AsyncClient(follow_redirects=False)
        self._bot_id: Optional[str] = None

    async def aclose(self) -> None:
        if self._owned:
            await self._client.aclose()

    async def send(self, route: str, given: Mapping[str, Any], options: Optional[CallOptions] = None) -> Any:
        """`data` of the answer."""
        try:
            request, attempts = await self._begun(route, given, options or _DEFAULTS)
            return await self._repeated(request, attempts)
        except ConsentRequiredError:
            self._consent_may_have_ended()
            raise
        finally:
            if route in _core.ENDING:
                self._consent_may_have_ended()

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
                response = await self._client.send(built, stream=True)
            except httpx.HTTPError as cause:
                await self._pause(request, attempts, _fault(request, attempts, cause))
                continue
            try:
                if response.status_code == 200:
                    async for chunk in response.aiter_bytes():
                        yield chunk
                    return
                content = await response.aread()
            except httpx.HTTPError as cause:
                raise _fault(request, attempts, cause) from cause
            finally:
                await response.aclose()
            error = _core.refusal_of(response.status_code, response.headers, content)
            await self._pause(request, attempts, error)

    async def document(self, path: str) -> Any:
        """A document of the service outside of the interface."""
        response = await self._client.get(self.base + path, timeout=self._timeout)
        if response.status_code != 200:
            raise _core.refusal_of(response.status_code, response.headers, response.content)
        return _core.envelope_of(response.content)

    async def own_id(self) -> str:
        """The id of the bot that the key belongs to, asked once."""
        if self._bot_id is None:
            self._bot_id = str((await self.send("GET /bots/me", {}))["id"])
        return self._bot_id

    async def _begun(
        self, route: str, given: Mapping[str, Any], options: CallOptions
    ) -> "tuple[_core.Request, _core.Attempts]":
        if "bot_id" in _core.ids_in(route) and given.get("bot_id") is None:
            own: Dict[str, Any] = {"bot_id": await self.own_id()}
            given = {**given, **own}
        request = _core.request_of(self.base, self._key, route, given, options)
        timeout = self._timeout if options.timeout is None else options.timeout
        retries = self._retries if options.retries is None else options.retries
        _core.require_number("timeout", timeout, 0, _core.TIMEOUT_MAX)
        _core.require_number("retries", retries, 0, _core.RETRIES_MAX)
        return request, _core.Attempts(request, timeout, retries)

    async def _repeated(self, request: _core.Request, attempts: _core.Attempts) -> Any:
        while True:
            left = attempts.begin()
            try:
                response = await self._client.request(
                    request.method, request.url, headers=request.headers, content=request.body, timeout=left
                )
                return _core.data_of(response.status_code, response.headers, response.content)
            except httpx.HTTPError as cause:
                await self._pause(request, attempts, _fault(request, attempts, cause))
            except LetheError as error:
                await self._pause(request, attempts, error)

    async def _pause(self, request: _core.Request, attempts: _core.Attempts, error: LetheError) -> None:
        seconds = attempts.pause_after(error)
        if self._on_retry is not None:
            self._on_retry(request.route, error, seconds)
        await asyncio.sleep(seconds)

    def _consent_may_have_ended(self) -> None:
        if self.cache is not None:
            self.cache.clear()


def _fault(request: _core.Request, attempts: _core.Attempts, cause: Exception) -> LetheError:
    never_sent = isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    if isinstance(cause, httpx.TimeoutException) and not never_sent:
        return attempts.over()
    return _core.network_error(request.route, cause, never_sent)


class AsyncPages:
    """A list of the service. `async for` reads it in pages; rows that come or go meanwhile hide no other row."""

    def __init__(
        self, call: _AsyncCaller, route: str, name: str, given: Mapping[str, Any], options: Optional[CallOptions]
    ) -> None:
        self._call, self._route, self._name, self._given, self._options = call, route, name, given, options

    async def page(self, number: int, size: int = _core.PAGE_SIZE) -> Json:
        """One page: `items`, and `pagination` as the service answers it."""
        return await self._asked({"page": number, "page_size": size})

    async def __aiter__(self) -> AsyncIterator[Json]:
        place: Json = {}
        while True:
            found = await self._asked({**place, "page_size": _core.PAGE_SIZE})
            for item in found["items"]:
                yield item
            if found["pagination"]["next"] is None:
                return
            place = {"after": found["pagination"]["next"]}

    async def to_list(self) -> List[Json]:
        """Every item."""
        return [item async for item in self]

    async def _asked(self, place: Mapping[str, Any]) -> Json:
        return _core.page_of(await self._call.send(self._route, {**self._given, **place}, self._options), self._name)


class _AsyncGroup:
    def __init__(self, call: _AsyncCaller) -> None:
        self._call = call

    async def _send(self, route: str, given: Mapping[str, Any], options: Optional[CallOptions]) -> Json:
        answer: Json = await self._call.send(route, given, options)
        return answer

    def _list(self, route: str, name: str, given: Mapping[str, Any], options: Optional[CallOptions]) -> AsyncPages:
        return AsyncPages(self._call, route, name, given, options)


class AsyncBots(_AsyncGroup):
    async def register(
        self, *, platform_bot_id: Id, name: str, options: Optional[CallOptions] = None, **given: Any
    ) -> Json:
        """Registers a bot. The answer shows `api_key` and `webhook_secret` this once."""
        given = {"platform_bot_id": platform_bot_id, "name": name, **given}
        return await self._send("POST /bots/register", given, options)

    async def me(self, *, options: Optional[CallOptions] = None) -> Json:
        """The bot of the key, with the state of its webhook calls."""
        return await self._send("GET /bots/me", {}, options)

    async def get(self, bot_id: str, *, options: Optional[CallOptions] = None) -> Json:
        return await self._send("GET /bots/{bot_id}", {"bot_id": bot_id}, options)

    async def change(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Changes what is given; None clears."""
        return await self._send("PUT /bots/{bot_id}", given, options)

    async def delete(self, *, options: Optional[CallOptions] = None) -> Json:
        """Erases the bot with everything that is stored for it. The key is void at once."""
        return await self._send("DELETE /bots/{bot_id}", {}, options)

    async def processing_record(self, *, options: Optional[CallOptions] = None) -> Json:
        """The record of processing activities (GDPR Art. 30)."""
        return await self._send("GET /bots/{bot_id}/processing-record", {}, options)

    async def processing_record_text(self, *, options: Optional[CallOptions] = None) -> str:
        """The same as Markdown, for people."""
        given = {"format": "markdown"}
        chunks = [chunk async for chunk in self._call.stream("GET /bots/{bot_id}/processing-record", given, options)]
        return b"".join(chunks).decode()


class AsyncKeys(_AsyncGroup):
    def list(self, *, options: Optional[CallOptions] = None) -> AsyncPages:
        return self._list("GET /bots/{bot_id}/keys", "keys", {}, options)

    async def create(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Makes a further API key, shown this once."""
        return await self._send("POST /bots/{bot_id}/keys", given, options)

    async def rotate(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Replaces the key of this client; both work until `overlap_until`."""
        return await self._send("POST /bots/{bot_id}/keys/rotate", given, options)

    async def delete(self, key_id: str, *, options: Optional[CallOptions] = None) -> Json:
        return await self._send("DELETE /bots/{bot_id}/keys/{key_id}", {"key_id": key_id}, options)


class AsyncServers(_AsyncGroup):
    async def register(self, *, guild_id: Id, options: Optional[CallOptions] = None, **given: Any) -> Json:
        return await self._send("POST /servers/register", {"guild_id": guild_id, **given}, options)

    def list(self, *, options: Optional[CallOptions] = None) -> AsyncPages:
        return self._list("GET /servers", "servers", {}, options)

    async def delete(self, *, guild_id: Id, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Erases every user of a guild, at once or after `grace_days`."""
        return await self._send("DELETE /servers/{guild_id}", {"guild_id": guild_id, **given}, options)

    async def cancel_deletion(self, *, guild_id: Id, options: Optional[CallOptions] = None) -> Json:
        return await self._send("POST /servers/{guild_id}/cancel-deletion", {"guild_id": guild_id}, options)


class AsyncCategories(_AsyncGroup):
    async def register(self, *, key: str, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Declares what the bot stores, with a type and labels for each field."""
        return await self._send("POST /data/register", {"key": key, **given}, options)

    def list(self, *, options: Optional[CallOptions] = None) -> AsyncPages:
        return self._list("GET /data/categories", "categories", {}, options)

    async def get(self, key: str, *, options: Optional[CallOptions] = None) -> Json:
        return await self._send("GET /data/categories/{key}", {"key": key}, options)

    async def change(self, *, key: str, options: Optional[CallOptions] = None, **given: Any) -> Json:
        return await self._send("PUT /data/categories/{key}", {"key": key, **given}, options)

    async def delete(self, key: str, *, options: Optional[CallOptions] = None) -> Json:
        """Deletes the declaration with all values of the category."""
        return await self._send("DELETE /data/categories/{key}", {"key": key}, options)


class AsyncConsents(_AsyncGroup):
    async def request(
        self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None, **given: Any
    ) -> Json:
        """Records that the user is asked. Show your text, or `texts` of the answer."""
        return await self._send("POST /consents/request", {"user_id": user_id, "guild_id": guild_id, **given}, options)

    async def accept(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Records the yes. `receipt` of the answer is for the user."""
        return await self._send("POST /consents/accept", given, options)

    async def decline(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Records the no to the request of a user in a guild, or of a `consent_id`. All is as before the request."""
        return await self._send("POST /consents/decline", given, options)

    async def revoke(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Withdraws the consent, or the one to some categories."""
        return await self._send("POST /consents/revoke", {"user_id": user_id, "guild_id": guild_id, **given}, options)

    async def status(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None) -> Json:
        return await self._send("GET /consents/status", {"user_id": user_id, "guild_id": guild_id}, options)

    async def status_many(
        self, subjects: AsyncMany[Mapping[str, Id]], *, options: Optional[CallOptions] = None
    ) -> List[Json]:
        """The states of any number of subjects, in their order."""
        found: List[Json] = []
        async for items in _async_batches(subjects, _core.ITEMS_MAX):
            found += (await self._send("POST /consents/status/batch", {"items": items}, options))["results"]
        return found

    def history(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None) -> AsyncPages:
        return self._list("GET /consents/history", "entries", {"user_id": user_id, "guild_id": guild_id}, options)

    async def receipt(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None) -> Json:
        """The signed receipt of the consent in force."""
        return await self._send("GET /consents/receipt", {"user_id": user_id, "guild_id": guild_id}, options)

    async def register_text(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Registers the words that users are shown."""
        return await self._send("POST /consents/texts", given, options)

    def texts(self, *, options: Optional[CallOptions] = None, **given: Any) -> AsyncPages:
        return self._list("GET /consents/texts", "texts", given, options)

    async def words(self, digest: str, *, options: Optional[CallOptions] = None) -> Json:
        """The words that a user was shown, by their digest in the history."""
        return await self._send("GET /consents/texts/{digest}", {"digest": digest}, options)


class AsyncData(_AsyncGroup):
    async def submit(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: str,
        data: Mapping[str, Any],
        options: Optional[CallOptions] = None,
    ) -> Json:
        """Stores the values of one category in place of what was stored."""
        given = {"user_id": user_id, "guild_id": guild_id, "category": category, "data": data, "mode": "replace"}
        return await self._send("POST /data/submit", given, options)

    async def merge(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: str,
        data: Mapping[str, Any],
        options: Optional[CallOptions] = None,
    ) -> Json:
        """Changes only the fields that are given; None removes one."""
        given = {"user_id": user_id, "guild_id": guild_id, "category": category, "data": data, "mode": "merge"}
        return await self._send("POST /data/submit", given, options)

    async def submit_many(
        self, items: AsyncMany[Mapping[str, Any]], *, options: Optional[CallOptions] = None
    ) -> AsyncIterator[Json]:
        """Stores any number of items, in batches. Each is answered by itself, with its `item`."""
        async for batch in _async_batches(items, _core.ITEMS_MAX):
            waiting = [batch]
            while waiting:
                part = waiting.pop(0)
                try:
                    answer = await self._send("POST /data/submit/batch", {"items": part}, options)
                except LetheError as error:
                    size = _core.smaller_size(error, len(part))
                    if size is None:
                        raise
                    waiting[:0] = [part[at : at + size] for at in range(0, len(part), size)]
                    continue
                for item, result in zip(part, answer["results"]):
                    yield {**result, "item": item}

    async def values(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: Optional[str] = None,
        options: Optional[CallOptions] = None,
    ) -> Json:
        """What is stored about a user, by category, under the consent in force."""
        given = {"user_id": user_id, "guild_id": guild_id, "category": category}
        return await self._send("GET /data/values/{user_id}", given, options)

    def values_of_guild(self, *, guild_id: Id, category: str, options: Optional[CallOptions] = None) -> AsyncPages:
        """One category of all users of a guild whose consent covers it."""
        return self._list("GET /data/values", "values", {"guild_id": guild_id, "category": category}, options)

    async def erase_values(
        self, *, user_id: Id, guild_id: Id, category: str, options: Optional[CallOptions] = None
    ) -> Json:
        """Erases one category of a user."""
        given = {"user_id": user_id, "guild_id": guild_id, "category": category}
        return await self._send("DELETE /data/values/{user_id}", given, options)

    async def export(
        self, *, user_id: Id, guild_id: Id, format: Optional[str] = None, options: Optional[CallOptions] = None
    ) -> Json:
        """Everything about a user in one guild (GDPR Art. 15 and 20)."""
        given = {"user_id": user_id, "guild_id": guild_id, "format": format}
        return await self._send("GET /data/export/{user_id}", given, options)

    async def export_everywhere(
        self, *, user_id: Id, format: Optional[str] = None, options: Optional[CallOptions] = None
    ) -> Json:
        """Everything about a user in every guild of the bot."""
        given = {"user_id": user_id, "scope": "all_guilds", "format": format}
        return await self._send("GET /data/export/{user_id}", given, options)

    async def export_stream(
        self,
        *,
        user_id: Id,
        guild_id: Optional[Id] = None,
        format: Optional[str] = None,
        options: Optional[CallOptions] = None,
    ) -> AsyncIterator[bytes]:
        """The same JSON as it arrives, for a file: without `guild_id` of every guild."""
        route = "GET /data/export/{user_id}"
        given: Dict[str, Any] = {"user_id": user_id, "format": format}
        given["scope" if guild_id is None else "guild_id"] = "all_guilds" if guild_id is None else guild_id
        inner = _core.WithoutEnvelope()
        async for chunk in self._call.stream(route, given, options):
            yield inner.feed(chunk)
        inner.end(route)


class AsyncPrivacy(_AsyncGroup):
    async def forget(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None) -> Json:
        """Erases a user in one guild. Keep `certificate_salt`: it ties the certificate to the user."""
        return await self._send("POST /gdpr/forget-user", {"user_id": user_id, "guild_id": guild_id}, options)

    async def forget_everywhere(self, *, user_id: Id, options: Optional[CallOptions] = None) -> Json:
        """Erases a user in every guild of the bot."""
        return await self._send("POST /gdpr/forget-user", {"user_id": user_id, "scope": "all_guilds"}, options)

    async def link(self, *, user_id: Id, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """A link to the page on which the user sees, exports and erases what is stored. Give it to this user alone."""
        return await self._send("POST /privacy-links", {"user_id": user_id, **given}, options)

    async def end_link(self, id: str, *, options: Optional[CallOptions] = None) -> Json:
        """Ends a link before its time."""
        return await self._send("DELETE /privacy-links/{id}", {"id": id}, options)

    async def status(self, id: str, *, options: Optional[CallOptions] = None) -> Json:
        return await self._send("GET /gdpr/forget-status/{id}", {"id": id}, options)

    async def certificate(self, id: str, *, options: Optional[CallOptions] = None) -> Json:
        """The signed certificate of a completed erasure."""
        return await self._send("GET /gdpr/forget-status/{id}/certificate", {"id": id}, options)

    async def wait_for(self, id: str, *, timeout: float = 300.0) -> Json:
        """The erasure once it is completed or failed. Raises LetheTimeoutError after `timeout` seconds."""
        end = time.monotonic() + timeout
        while True:
            found = await self.status(id)
            if found["status"] != "processing":
                return found
            if time.monotonic() + _LOOK_SECONDS >= end:
                raise LetheTimeoutError(f"The erasure took longer than {timeout:g} s.", code="timeout")
            await asyncio.sleep(_LOOK_SECONDS)


class AsyncAudit(_AsyncGroup):
    async def write(
        self, *, user_id: Id, guild_id: Id, event_type: str, options: Optional[CallOptions] = None, **given: Any
    ) -> Json:
        """Writes an event of your own beside those of the service."""
        given = {"user_id": user_id, "guild_id": guild_id, "event_type": event_type, **given}
        return await self._send("POST /audit/event", given, options)

    def events(self, *, options: Optional[CallOptions] = None, **given: Any) -> AsyncPages:
        """The events, newest first."""
        return self._list("GET /audit/events", "events", given, options)

    async def proof(self, event_id: str, *, options: Optional[CallOptions] = None) -> Json:
        """An event with its path to a signed checkpoint."""
        return await self._send("GET /audit/proof/{event_id}", {"event_id": event_id}, options)

    def checkpoints(self, *, options: Optional[CallOptions] = None) -> AsyncPages:
        return self._list("GET /audit/checkpoints", "checkpoints", {}, options)

    async def export(self, *, options: Optional[CallOptions] = None, **given: Any) -> AsyncIterator[str]:
        """The sealed log line by line."""
        rest = b""
        async for chunk in self._call.stream("GET /audit/export", given, options):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line.decode()
        if rest:
            yield rest.decode()

    async def breach_scope(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Who and what was affected in a period (GDPR Art. 33)."""
        return await self._send("GET /audit/breach-scope", given, options)


class AsyncWebhooks(_AsyncGroup):
    async def test(self, *, options: Optional[CallOptions] = None) -> Json:
        """Sends a signed `ping` to the receiver."""
        return await self._send("POST /webhooks/test", {}, options)

    def deliveries(self, *, options: Optional[CallOptions] = None, **given: Any) -> AsyncPages:
        return self._list("GET /webhooks/deliveries", "deliveries", given, options)

    async def delivery(self, id: str, *, options: Optional[CallOptions] = None) -> Json:
        """One delivery with its attempts."""
        return await self._send("GET /webhooks/deliveries/{id}", {"id": id}, options)

    async def redeliver(self, id: str, *, options: Optional[CallOptions] = None) -> Json:
        return await self._send("POST /webhooks/deliveries/{id}/redeliver", {"id": id}, options)

    async def replay(self, *, since: str, options: Optional[CallOptions] = None) -> Json:
        """Sends every event since a time again, after you have restored a backup of your bot."""
        return await self._send("POST /webhooks/replay", {"since": since}, options)

    async def rotate_secret(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """Makes a new webhook secret, shown this once. Give both to `WebhookHandler` until `overlap_until`."""
        return await self._send("POST /bots/{bot_id}/webhook-secret/rotate", given, options)


class AsyncLethe:
    """The client of a bot. Fields of requests and answers are named as in the interface.

    `timeout` is the seconds of a call with all its attempts and pauses. `client` is an httpx client of your own.
    """

    def __init__(
        self,
        url: str,
        key: Optional[str] = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        consent_cache: float = 5.0,
        client: Optional[httpx.AsyncClient] = None,
        on_retry: Optional[Callable[[str, LetheError, float], None]] = None,
    ) -> None:
        _core.require_number("consent_cache", consent_cache, 0, _core.TIMEOUT_MAX)
        call = self._call = _AsyncCaller(url, key, timeout, retries, client, on_retry)
        self._cache = call.cache = _core.ConsentCache(consent_cache)
        self.bots = AsyncBots(call)
        self.keys = AsyncKeys(call)
        self.servers = AsyncServers(call)
        self.categories = AsyncCategories(call)
        self.consents = AsyncConsents(call)
        self.data = AsyncData(call)
        self.privacy = AsyncPrivacy(call)
        self.audit = AsyncAudit(call)
        self.webhooks = AsyncWebhooks(call)

    @staticmethod
    async def register(*, url: str, registration_token: Optional[str] = None, **given: Any) -> Json:
        """Registers a bot, before there is a key. It is not repeated once the request was sent."""
        headers = {} if registration_token is None else {"x-registration-token": registration_token}
        async with AsyncLethe(url) as lethe:
            return await lethe.bots.register(options=CallOptions(headers=headers), **given)

    async def __aenter__(self) -> "AsyncLethe":
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections, but those of a client of your own."""
        await self._call.aclose()

    async def stats(self, *, options: Optional[CallOptions] = None, **given: Any) -> Json:
        """What happened over time, in numbers: acts, webhook calls, durations of erasures."""
        shown: Json = await self._call.send("GET /stats", given, options)
        return shown

    async def request(self, route: str, given: Mapping[str, Any], *, options: Optional[CallOptions] = None) -> Any:
        """Any operation of the interface by its route, for what has no method: `POST /consents/request`."""
        return await self._call.send(route, given, options)

    async def with_consent(
        self, act: Callable[[], Awaitable[T]], *, user_id: Id, guild_id: Id, category: str
    ) -> T:
        """Runs `act` only under a consent to the category, which is trusted for `consent_cache` seconds.

        Raises ConsentRequiredError.
        """
        status = self._cache.get(user_id, guild_id)
        if status is None:
            changes = self._cache.changes
            status = await self.consents.status(user_id=user_id, guild_id=guild_id)
            self._cache.keep(user_id, guild_id, status, changes)
        _core.require_consent(status, category)
        return await act()

    def empty_consent_cache(self) -> None:
        """After a consent has ended elsewhere. `WebhookHandler(lethe=...)` does it for the calls of the service."""
        self._cache.clear()

    async def public_keys(self) -> Any:
        """The keys that verify certificates, receipts and the audit log. Keep them apart from what they verify."""
        return await self._call.document("/.well-known/lethe-keys.json")


async def _async_batches(items: AsyncMany[T], size: int) -> AsyncIterator[List[T]]:
    batch: List[T] = []
    async for item in _async_items(items):
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


async def _async_items(items: AsyncMany[T]) -> AsyncIterator[T]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
