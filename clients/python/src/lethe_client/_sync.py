"""The synchronous client. It is made of the asynchronous file: python3 scripts/unasync.py."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Literal, Mapping, Optional, Tuple, Type, TypeVar, Union, cast

import httpx

from . import _calls as calls
from . import _core
from ._caller import Caller
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
Many = Iterable[T]
#: Seconds between two looks at an erasure. They grow, so that a bot of the smallest limit has room for its other calls.
_LOOK_SECONDS, _LOOK_MAX_SECONDS = 1.0, 3.0


class SubmittedItem(SubmittedBatchViewResults1):
    """An item that was stored."""

    item: SubmitData


class RefusedItem(SubmittedBatchViewResults2):
    """An item that was refused, with the error."""

    item: SubmitData


class Bots(calls.Bots):
    def processing_record(
        self, *, language: Optional[Literal["de", "en"]] = OMITTED, options: Optional[CallOptions] = None
    ) -> ProcessingRecordView:
        """The record of processing activities (GDPR Art. 30)."""
        given = {"language": language}
        answer: ProcessingRecordView = self._call.send("GET /bots/{bot_id}/processing-record", given, options)
        return answer

    def processing_record_text(
        self,
        *,
        language: Optional[Literal["de", "en"]] = OMITTED,
        format: Literal["markdown", "html"] = "markdown",
        options: Optional[CallOptions] = None,
    ) -> str:
        """The same as a document for people, as Markdown or HTML."""
        given = {"format": format, "language": language}
        chunks = [chunk for chunk in self._call.stream("GET /bots/{bot_id}/processing-record", given, options)]
        return b"".join(chunks).decode()

    def review_dossier(
        self, *, language: Optional[Literal["de", "en"]] = OMITTED, options: Optional[CallOptions] = None
    ) -> ReviewDossierView:
        """What a platform asks before it grants privileged intents."""
        given = {"language": language}
        answer: ReviewDossierView = self._call.send("GET /bots/{bot_id}/review-dossier", given, options)
        return answer

    def review_dossier_text(
        self,
        *,
        language: Optional[Literal["de", "en"]] = OMITTED,
        format: Literal["markdown", "html"] = "markdown",
        options: Optional[CallOptions] = None,
    ) -> str:
        """The same as a document for people, as Markdown or HTML."""
        given = {"format": format, "language": language}
        chunks = [chunk for chunk in self._call.stream("GET /bots/{bot_id}/review-dossier", given, options)]
        return b"".join(chunks).decode()


class Consents(calls.Consents):
    def status_many(
        self, subjects: Many[ConsentQuery], *, options: Optional[CallOptions] = None
    ) -> List[ConsentStatusView]:
        """The states of any number of subjects, in their order."""

        def send(part: List[ConsentQuery], _: int) -> Any:
            return self._call.send("POST /consents/status/batch", {"items": part}, options)

        return [answer for _, answer in _answers(subjects, send, False)]


class Data(calls.Data):
    def submit(
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
        answer: SubmittedView = self._call.send("POST /data/submit", given, options)
        return answer

    def merge(
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
        answer: SubmittedView = self._call.send("POST /data/submit", given, options)
        return answer

    def submit_many(
        self, items: Many[SubmitData], *, options: Optional[CallOptions] = None
    ) -> Iterator[Union[SubmittedItem, RefusedItem]]:
        """Stores any number of items, in batches. Each is answered by itself, with its `item`."""

        def send(part: List[SubmitData], start: int) -> Any:
            own = _core.options_of_part(options, start, len(part))
            return self._call.send("POST /data/submit/batch", {"items": part}, own)

        # By what is left in this minute the places of items differ from one run of the program to the next, and so would their keys.
        is_elastic = options is None or options.idempotency_key is None
        for item, result in _answers(items, send, is_elastic):
            yield cast("Union[SubmittedItem, RefusedItem]", {**result, "item": item})

    def export(
        self,
        *,
        user_id: Id,
        guild_id: Id,
        format: Optional[Literal["full"]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> ExportView:
        """Everything about a user in one guild (GDPR Art. 15 and 20)."""
        given = {"user_id": user_id, "guild_id": guild_id, "format": format}
        answer: ExportView = self._call.send("GET /data/export/{user_id}", given, options)
        return answer

    def export_everywhere(
        self, *, user_id: Id, format: Optional[Literal["full"]] = OMITTED, options: Optional[CallOptions] = None
    ) -> ExportAllGuildsView:
        """Everything about a user in every guild of the bot."""
        given = {"user_id": user_id, "scope": "all_guilds", "format": format}
        answer: ExportAllGuildsView = self._call.send("GET /data/export/{user_id}", given, options)
        return answer

    def export_stream(
        self,
        *,
        user_id: Id,
        guild_id: Optional[Id] = None,
        format: Optional[Literal["full"]] = OMITTED,
        options: Optional[CallOptions] = None,
    ) -> Iterator[bytes]:
        """The same JSON as it arrives, for a file: without `guild_id` of every guild."""
        route = "GET /data/export/{user_id}"
        given: Dict[str, Any] = {"user_id": user_id, "format": format}
        given["scope" if guild_id is None else "guild_id"] = "all_guilds" if guild_id is None else guild_id
        inner = _core.WithoutEnvelope()
        for chunk in self._call.stream(route, given, options):
            yield inner.feed(chunk)
        inner.end(route)


class Privacy(calls.Privacy):
    def forget(self, *, user_id: Id, guild_id: Id, options: Optional[CallOptions] = None) -> ForgottenView:
        """Erases a user in one guild. Keep `certificate_salt`: it ties the certificate to the user."""
        given = {"user_id": user_id, "guild_id": guild_id}
        answer: ForgottenView = self._call.send("POST /gdpr/forget-user", given, options)
        return answer

    def forget_everywhere(
        self, *, user_id: Id, options: Optional[CallOptions] = None
    ) -> ForgottenEverywhereView:
        """Erases a user in every guild of the bot."""
        given = {"user_id": user_id, "scope": "all_guilds"}
        answer: ForgottenEverywhereView = self._call.send("POST /gdpr/forget-user", given, options)
        return answer

    def wait_for(self, id: str, *, timeout: float = 300.0) -> DeletionRequestView:
        """The erasure once it is completed or failed. Raises LetheTimeoutError after `timeout` seconds."""
        _core.require_number("timeout", timeout, 0, _core.TIMEOUT_MAX)
        end, pause = time.monotonic() + timeout, _LOOK_SECONDS
        while True:
            left = min(timeout, max(0.0, end - time.monotonic()))
            found = self.status(id, options=CallOptions(timeout=left))
            if found["status"] != "processing":
                return found
            if time.monotonic() + pause >= end:
                raise LetheTimeoutError(f"The erasure took longer than {timeout:g} s.", code="timeout")
            time.sleep(pause)
            pause = min(_LOOK_MAX_SECONDS, pause + _LOOK_SECONDS)


class Audit(calls.Audit):
    def export(
        self, *, after: Optional[int] = OMITTED, options: Optional[CallOptions] = None
    ) -> Iterator[str]:
        """The sealed log line by line."""
        for line in _lines(self._call.stream("GET /audit/export", {"after": after}, options)):
            yield line


class Operator(calls.Operator):
    """For the operator: `key` of the client is the token of `OPERATOR_TOKEN`."""

    def ledger(self, *, options: Optional[CallOptions] = None) -> Iterator[str]:
        """The ledger of all erasures line by line, for a file."""
        for line in _lines(self._call.stream("GET /operator/ledger", {}, options)):
            yield line


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.decode()
    if rest:
        yield rest.decode()


class Lethe(calls.Unnamed):
    """The client of a bot. Fields of requests and answers are named as in the interface.

    `timeout` is the seconds of a call with all its attempts and pauses. Headers that arrive byte by byte can take
    longer. `client` is an httpx client of your own.
    """

    def __init__(
        self,
        url: str,
        key: Optional[str] = None,
        *,
        timeout: float = 30.0,
        retries: int = 3,
        consent_cache: float = 5.0,
        client: Optional[httpx.Client] = None,
        on_retry: Optional[_core.OnRetry] = None,
    ) -> None:
        _core.require_number("consent_cache", consent_cache, 0, _core.TIMEOUT_MAX)
        call = Caller(url, key, timeout, retries, client, on_retry)
        super().__init__(call)
        self._cache = call.cache = _core.ConsentCache(consent_cache)
        self.bots = Bots(call)
        self.keys = calls.Keys(call)
        self.servers = calls.Servers(call)
        self.users = calls.Users(call)
        self.categories = calls.Categories(call)
        self.consents = Consents(call)
        self.data = Data(call)
        self.privacy = Privacy(call)
        self.holders = calls.Holders(call)
        self.audit = Audit(call)
        self.webhooks = calls.Webhooks(call)
        self.operator = Operator(call)

    @staticmethod
    def register(
        *,
        url: str,
        platform_bot_id: Id,
        name: str,
        privacy_contact: Optional[str] = OMITTED,
        webhook_url: Optional[str] = OMITTED,
        notice: Optional[ChangeNoticeSettings] = OMITTED,
        registration_token: Optional[str] = None,
        client: Optional[httpx.Client] = None,
    ) -> BotRegisteredView:
        """Registers a bot, before there is a key. It is not repeated once the request was sent."""
        headers = {} if registration_token is None else {"x-registration-token": registration_token}
        with Lethe(url, client=client) as lethe:
            return lethe.bots.register(
                platform_bot_id=platform_bot_id,
                name=name,
                privacy_contact=privacy_contact,
                webhook_url=webhook_url,
                notice=notice,
                options=CallOptions(headers=headers),
            )

    def __enter__(self) -> "Lethe":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, but those of a client of your own."""
        self._call.close()

    def request(self, route: str, given: Mapping[str, Any], *, options: Optional[CallOptions] = None) -> Any:
        """Any operation of the interface by its route, for what has no method: `POST /consents/request`."""
        return self._call.send(route, given, options)

    def with_consent(
        self, act: Callable[[], T], *, user_id: Id, guild_id: Id, category: str
    ) -> T:
        """Runs `act` only under a consent to the category, which is trusted for `consent_cache` seconds.

        Without one it runs where the category needs none (`requires_consent: false`). Raises ConsentRequiredError, and
        ProcessingRefusedError where the user has objected to the category or restricted it; UnavailableError where consents of the
        user have changed during each of five readings.
        """
        for _ in range(_core.ROUNDS_MAX):
            with self._cache.watched(user_id) as watch:
                self._require_consent(user_id, guild_id, category)
                # What was read first may have ended while the rest was awaited.
                if not watch.has_ended:
                    break
        else:
            raise _core.consents_change()
        return act()

    def _require_consent(self, user_id: Id, guild_id: Id, category: str) -> None:
        who = (str(user_id), str(guild_id))
        cache = self._cache
        basis = cache.bases.get(category)
        if basis is None or basis.needs_consent:
            status: Optional[Mapping[str, Any]] = cache.statuses.get(who)
            if status is None:
                changes = cache.changes
                status = self.consents.status(user_id=user_id, guild_id=guild_id)
                cache.keep(cache.statuses, who, status, changes, status["status"] == "accepted")
            if not _core.covers(status, category) and (self._basis(category)).needs_consent:
                raise _core.consent_missing(status, category)
        refusals: Optional[Mapping[str, Any]] = cache.refusals.get(who)
        if refusals is None:
            changes = cache.changes
            refusals = self.data.refusals(user_id=user_id, guild_id=guild_id)
            cache.keep(cache.refusals, who, refusals, changes, not refusals["objections"] and not refusals["restrictions"])
        is_objectable = _core.refuses_all(refusals, "objections") and (self._basis(category)).is_objectable
        reason = _core.refused_by(refusals, category, is_objectable)
        if reason is not None:
            raise _core.processing_refused(reason, category)

    def _basis(self, category: str) -> _core.Basis:
        known = self._cache.bases.get(category)
        if known is not None:
            return known
        changes = self._cache.changes
        try:
            basis = _core.basis_of(self.categories.get(category))
        except NotFoundError:
            # What is not declared can have no consent either.
            basis = _core.Basis(True, False)
        self._cache.keep(self._cache.bases, category, basis, changes)
        return basis

    def empty_consent_cache(self, user_id: Optional[Id] = None) -> None:
        """After a consent has ended elsewhere, of one user or of any. `WebhookHandler(lethe=...)` does it for the calls of the service."""
        self._cache.clear(user_id)

    def public_keys(self) -> Any:
        """The keys that verify certificates, receipts and the audit log. Keep them apart from what they verify."""
        return self._call.document("/.well-known/lethe-keys.json")

    def webhook_keys(self, bot_id: str) -> Any:
        """The keys that verify the webhook calls to a bot, without an API key: `public_keys` of `verify_webhook`."""
        return self._call.document(f"/.well-known/lethe-webhook-keys/{_core.in_path('bot_id', bot_id)}")


def _answers(
    items: Many[T], send: Callable[[List[T], int], Any], is_elastic: bool
) -> Iterator[Tuple[T, Any]]:
    """Each item with its answer. Batches are smaller where the limit of the bot is lower, or a body would be too large, and with
    `is_elastic` as large as what the bot may still send when it has no time to wait."""
    start, most = 0, [_core.ITEMS_MAX]
    for batch in _batches(items, most):
        waiting = [batch]
        while waiting:
            part = waiting.pop(0)
            try:
                answer = send(part, start)
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


def _batches(items: Many[T], most: List[int]) -> Iterator[List[T]]:
    """`most` may become less between two batches."""
    batch: List[T] = []
    for item in items:
        batch.append(item)
        if len(batch) >= most[0]:
            yield batch
            batch = []
    if batch:
        yield batch
