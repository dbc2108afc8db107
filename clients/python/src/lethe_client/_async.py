"""The asynchronous client. `_sync.py` is made of this file: python3 scripts/unasync.py."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, AsyncIterable, AsyncIterator, Awaitable, Callable, Dict, Iterable, List, Literal, Mapping, Optional, Tuple, Type, TypeVar, Union, cast

import httpx

from . import _async_calls as calls
from . import _core
from ._async_caller import AsyncCaller
from ._core import OMITTED, CallOptions
from .errors import LetheError, LetheTimeoutError, NotFoundError
from .types import (
    BotRegisteredView,
    ChangeNoticeSettings,
    ConsentQuery,
    ConsentStatusView,
    DeletionRequestView,
    ExportAllGuildsView,
    ExportView,
    ForgottenEverywhereView,
    ForgottenView,
    Id,
    ProcessingRecordView,
    ReviewDossierView,
    SubmitData,
    SubmittedBatchViewResults1,
    SubmittedBatchViewResults2,
    SubmittedView,
)

T = TypeVar("T")
AsyncMany = Union[Iterable[T], AsyncIterable[T]]
#: Seconds between two looks at an erasure. They grow, so that a bot of the smallest limit has room for its other calls.
_LOOK_SECONDS, _LOOK_MAX_SECONDS = 1.0, 3.0


class SubmittedItem(SubmittedBatchViewResults1):
    """An item that was stored."""

    item: SubmitData


class RefusedItem(SubmittedBatchViewResults2):
    """An item that was refused, with the error."""

    item: SubmitData


class AsyncBots(calls.AsyncBots):
    async def processing_record(
        self, *, language: Optional[Literal["de", "en"]] = OMITTED, options: Optional[CallOptions] = None
    ) -> ProcessingRecordView:
        """The record of processing activities (GDPR Art. 30)."""
        given = {"language": language}
        answer: ProcessingRecordView = await self._call.send("GET /bots/{bot_id}/processing-record", given, options)
        return answer

    async def processing_record_text(
        self,
        *,
        language: Optional[Literal["de", "en"]] = OMITTED,
        format: Literal["markdown", "html"] = "markdown",
        options: Optional[CallOptions] = None,
    ) -> str:
        """The same as a document for people, as Markdown or HTML."""
        given = {"format": format, "language": language}
        chunks = [chunk async for chunk in self._call.stream("GET /bots/{bot_id}/processing-record", given, options)]
        return b"".join(chunks).decode()

    async def review_dossier(
        self, *, language: Optional[Literal["de", "en"]] = OMITTED, options: Optional[CallOptions] = None
    ) -> ReviewDossierView:
        """What a platform asks before it grants privileged intents."""
        given = {"language": language}
        answer: ReviewDossierView = await self._call.send("GET /bots/{bot_id}/review-dossier", given, options)
        return answer

    async def review_dossier_text(
        self,
        *,
        language: Optional[Literal["de", "en"]] = OMITTED,
        format: Literal["markdown", "html"] = "markdown",
        options: Optional[CallOptions] = None,
    ) -> str:
        """The same as a document for people, as Markdown or HTML."""
        given = {"format": format, "language": language}
        chunks = [chunk async for chunk in self._call.stream("GET /bots/{bot_id}/review-dossier", given, options)]
        return b"".join(chunks).decode()


class AsyncConsents(calls.AsyncConsents):
    async def status_many(
        self, subjects: AsyncMany[ConsentQuery], *, options: Optional[CallOptions] = None
    ) -> List[ConsentStatusView]:
        """The states of any number of subjects, in their order."""

        async def send(part: List[ConsentQuery], _: int) -> Any:
            return await self._call.send("POST /consents/status/batch", {"items": part}, options)

        return [answer async for _, answer in _async_answers(subjects, send, False)]


class AsyncData(calls.AsyncData):
    async def submit(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: str,
        data: Mapping[str, Any],
        options: Optional[CallOptions] = None,
    ) -> SubmittedView:
        """Replaces the values of a category: a field that is not given is removed.

        Raises ConsentRequiredError without a consent to the category; then nothing is stored.
        """
        given = {"user_id": user_id, "guild_id": guild_id, "category": category, "data": data, "mode": "replace"}
        answer: SubmittedView = await self._call.send("POST /data/submit", given, options)
        return answer

    async def merge(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        category: str,
        data: Mapping[str, Any],
        options: Optional[CallOptions] = None,
    ) -> SubmittedView:
        """Changes only the fields that are given; None removes one."""
        given = {"user_id": user_id, "guild_id": guild_id, "category": category, "data": data, "mode": "merge"}
        answer: SubmittedView = await self._call.send("POST /data/submit", given, options)
        return answer

    async def submit_many(
        self, items: AsyncMany[SubmitData], *, options: Optional[CallOptions] = None
    ) -> AsyncIterator[Union[SubmittedItem, RefusedItem]]:
        """Stores any number of items, in batches. Each is answered by itself, with its `item`."""

        async def send(part: List[SubmitData], start: int) -> Any:
            own = _core.options_of_part(options, start, len(part))
            return await self._call.send("POST /data/submit/batch", {"items": part}, own)

        # By what is left in this minute the places of items differ from one run of the program to the next, and so would their keys.
        is_elastic = options is None or options.idempotency_key is None
        async for item, result in _async_answers(items, send, is_elastic):
            yield cast("Union[SubmittedItem, RefusedItem]", {**result, "item": item})

    async def export(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        format: Optional[Literal["full"]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ExportView:
        """Everything about a user in one guild (GDPR Art. 15 and 20)."""
        given = {"user_id": user_id, "guild_id": guild_id, "format": format}
        answer: ExportView = await self._call.send("GET /data/export/{user_id}", given, options)
        return answer

    async def export_everywhere(
        self, *, user_id: Id, format: Optional[Literal["full"]] = OMITTED, options: Optional[CallOptions] = None
    ) -> ExportAllGuildsView:
        """Everything about a user in every guild of the bot."""
        given = {"user_id": user_id, "scope": "all_guilds", "format": format}
        answer: ExportAllGuildsView = await self._call.send("GET /data/export/{user_id}", given, options)
        return answer

    async def export_stream(
        self,
        *,
        user_id: Id,
        guild_id: Optional[Id] = None,
        format: Optional[Literal["full"]] = OMITTED,
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


class AsyncPrivacy(calls.AsyncPrivacy):
    async def forget(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None) -> ForgottenView:
        """Erases a user in one guild. Keep `certificate_salt`: it ties the certificate to the user."""
        given = {"user_id": user_id, "guild_id": guild_id}
        answer: ForgottenView = await self._call.send("POST /gdpr/forget-user", given, options)
        return answer

    async def forget_everywhere(
        self, *, user_id: Id, options: Optional[CallOptions] = None
    ) -> ForgottenEverywhereView:
        """Erases a user in every guild of the bot."""
        given = {"user_id": user_id, "scope": "all_guilds"}
        answer: ForgottenEverywhereView = await self._call.send("POST /gdpr/forget-user", given, options)
        return answer

    async def wait_for(self, id: str, *, timeout: float = 300.0) -> DeletionRequestView:
        """The erasure once it is completed or failed. Raises LetheTimeoutError after `timeout` seconds."""
        _core.require_number("timeout", timeout, 0, _core.TIMEOUT_MAX)
        end, pause = time.monotonic() + timeout, _LOOK_SECONDS
        while True:
            left = min(timeout, max(0.0, end - time.monotonic()))
            found = await self.status(id, options=CallOptions(timeout=left))
            if found["status"] != "processing":
                return found
            if time.monotonic() + pause >= end:
                raise LetheTimeoutError(f"The erasure took longer than {timeout:g} s.", code="timeout")
            await asyncio.sleep(pause)
            pause = min(_LOOK_MAX_SECONDS, pause + _LOOK_SECONDS)


class AsyncAudit(calls.AsyncAudit):
    async def export(
        self, *, after: Optional[int] = OMITTED, options: Optional[CallOptions] = None
    ) -> AsyncIterator[str]:
        """The sealed log line by line."""
        async for line in _lines(self._call.stream("GET /audit/export", {"after": after}, options)):
            yield line


class AsyncOperator(calls.AsyncOperator):
    """For the operator: `key` of the client is the token of `OPERATOR_TOKEN`."""

    async def ledger(self, *, options: Optional[CallOptions] = None) -> AsyncIterator[str]:
        """The ledger of all erasures line by line, for a file."""
        async for line in _lines(self._call.stream("GET /operator/ledger", {}, options)):
            yield line


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode()
    if rest:
        yield rest.decode()


class AsyncLethe(calls.AsyncUnnamed):
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
        on_retry: Optional[_core.OnRetry] = None,
    ) -> None:
        _core.require_number("consent_cache", consent_cache, 0, _core.TIMEOUT_MAX)
        call = AsyncCaller(url, key, timeout, retries, client, on_retry)
        super().__init__(call)
        self._cache = call.cache = _core.ConsentCache(consent_cache)
        self.bots = AsyncBots(call)
        self.keys = calls.AsyncKeys(call)
        self.servers = calls.AsyncServers(call)
        self.users = calls.AsyncUsers(call)
        self.categories = calls.AsyncCategories(call)
        self.consents = AsyncConsents(call)
        self.data = AsyncData(call)
        self.privacy = AsyncPrivacy(call)
        self.holders = calls.AsyncHolders(call)
        self.audit = AsyncAudit(call)
        self.webhooks = calls.AsyncWebhooks(call)
        self.operator = AsyncOperator(call)

    @staticmethod
    async def register(
        *,
        url: str,
        platform_bot_id: Id,
        name: str,
        privacy_contact: Optional[str] = OMITTED,
        webhook_url: Optional[str] = OMITTED,
        notice: Optional[ChangeNoticeSettings] = OMITTED,
        registration_token: Optional[str] = None,
        client: Optional[httpx.AsyncClient] = None,
    ) -> BotRegisteredView:
        """Registers a bot, before there is a key. It is not repeated once the request was sent."""
        headers = {} if registration_token is None else {"x-registration-token": registration_token}
        async with AsyncLethe(url, client=client) as lethe:
            return await lethe.bots.register(
                platform_bot_id=platform_bot_id,
                name=name,
                privacy_contact=privacy_contact,
                webhook_url=webhook_url,
                notice=notice,
                options=CallOptions(headers=headers),
            )

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

    async def request(self, route: str, given: Mapping[str, Any], *, options: Optional[CallOptions] = None) -> Any:
        """Any operation of the interface by its route, for what has no method: `POST /consents/request`."""
        return await self._call.send(route, given, options)

    async def with_consent(
        self, act: Callable[[], Awaitable[T]], *, user_id: Id, guild_id: Id, category: str
    ) -> T:
        """Runs `act` only under a consent to the category, which is trusted for `consent_cache` seconds.

        Without one it runs where the category needs none (`requires_consent: false`). Raises ConsentRequiredError, and
        ProcessingRefusedError where the user has objected to the category or restricted it; UnavailableError where consents of the
        user have changed during each of five readings.
        """
        for _ in range(_core.ROUNDS_MAX):
            with self._cache.watched(user_id) as watch:
                await self._require_consent(user_id, guild_id, category)
                # What was read first may have ended while the rest was awaited.
                if not watch.has_ended:
                    break
        else:
            raise _core.consents_change()
        return await act()

    async def _require_consent(self, user_id: Id, guild_id: Id, category: str) -> None:
        who = (str(user_id), str(guild_id))
        cache = self._cache
        basis = cache.bases.get(category)
        if basis is None or basis.needs_consent:
            status: Optional[Mapping[str, Any]] = cache.statuses.get(who)
            if status is None:
                changes = cache.changes
                status = await self.consents.status(user_id=user_id, guild_id=guild_id)
                cache.keep(cache.statuses, who, status, changes, status["status"] == "accepted")
            if not _core.covers(status, category) and (await self._basis(category)).needs_consent:
                raise _core.consent_missing(status, category)
        refusals: Optional[Mapping[str, Any]] = cache.refusals.get(who)
        if refusals is None:
            changes = cache.changes
            refusals = await self.data.refusals(user_id=user_id, guild_id=guild_id)
            cache.keep(cache.refusals, who, refusals, changes, not refusals["objections"] and not refusals["restrictions"])
        is_objectable = _core.refuses_all(refusals, "objections") and (await self._basis(category)).is_objectable
        reason = _core.refused_by(refusals, category, is_objectable)
        if reason is not None:
            raise _core.processing_refused(reason, category)

    async def _basis(self, category: str) -> _core.Basis:
        known = self._cache.bases.get(category)
        if known is not None:
            return known
        changes = self._cache.changes
        try:
            basis = _core.basis_of(await self.categories.get(category))
        except NotFoundError:
            # What is not declared can have no consent either.
            basis = _core.Basis(True, False)
        self._cache.keep(self._cache.bases, category, basis, changes)
        return basis

    def empty_consent_cache(self, user_id: Optional[Id] = None) -> None:
        """After a consent has ended elsewhere, of one user or of any. `WebhookHandler(lethe=...)` does it for the calls of the service."""
        self._cache.clear(user_id)

    async def public_keys(self) -> Any:
        """The keys that verify certificates, receipts and the audit log. Keep them apart from what they verify."""
        return await self._call.document("/.well-known/lethe-keys.json")

    async def webhook_keys(self, bot_id: str) -> Any:
        """The keys that verify the webhook calls to a bot, without an API key: `public_keys` of `verify_webhook`."""
        return await self._call.document(f"/.well-known/lethe-webhook-keys/{_core.in_path('bot_id', bot_id)}")


async def _async_answers(
    items: AsyncMany[T], send: Callable[[List[T], int], Awaitable[Any]], is_elastic: bool
) -> AsyncIterator[Tuple[T, Any]]:
    """Each item with its answer. Batches are smaller where the limit of the bot is lower, or a body would be too large, and with
    `is_elastic` as large as what the bot may still send when it has no time to wait."""
    start, most = 0, [_core.ITEMS_MAX]
    async for batch in _async_batches(items, most):
        waiting = [batch]
        while waiting:
            part = waiting.pop(0)
            try:
                answer = await send(part, start)
            except LetheError as error:
                limited = _core.size_within(error, len(part))
                size = limited or _core.smaller_size(error, len(part), is_elastic)
                if size is None:
                    raise
                most[0] = limited or most[0]
                waiting[:0] = [part[at : at + size] for at in range(0, len(part), size)]
                continue
            start += len(part)
            for item, result in zip(part, answer["results"]):
                yield item, result


async def _async_batches(items: AsyncMany[T], most: List[int]) -> AsyncIterator[List[T]]:
    """`most` may become less between two batches."""
    batch: List[T] = []
    async for item in _async_items(items):
        batch.append(item)
        if len(batch) >= most[0]:
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
