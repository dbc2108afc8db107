"""The core routes of the service in memory."""

from __future__ import annotations

import base64
import datetime
import inspect
import json
import re
import secrets
import uuid
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import unquote

import httpx

from ._bot import FakeBot, new_id
from ._keys import FakeKey, further_key, new_key, require_scope
from ._processing import object_to, refusals, restrict, unrestrict
from ._refusal import Ids, Json, Refusal, id_of, invalid, is_text, items_of, not_found, number_of, present, require_clean_texts
from ._signed import SignedCall, signed_call
from ._users import page_of_users

_CREATED = re.compile("register|consents/request|audit/event|privacy-links|keys$")
_Act = Callable[["FakeLethe", FakeKey, Json], Any]


@dataclass(frozen=True)
class _Answer:
    """What a request with an `Idempotency-Key` was answered."""

    body: bytes
    status: int
    data: Any
    about: Sequence[Ids]
    #: The number of erasures before it.
    erasures: int

    def repeated(self, body: bytes, bot: FakeBot) -> Tuple[int, Any]:
        """409 for another body, and for what was erased since."""
        if self.body != body:
            raise Refusal("conflict", "This key was used", {"reason": "idempotency_key_reused"})
        if any(ids in self.about for ids in bot.erased[self.erasures :]):
            raise Refusal("conflict", "The answer was erased with its user", {"reason": "idempotency_answer_erased"})
        return self.status, self.data


def _subjects_in(given: Json, data: Any) -> List[Ids]:
    items = given.get("items")
    every = [given, data, *(items if isinstance(items, list) else [])]
    found = [(one.get("user_id"), one.get("guild_id")) for one in every if isinstance(one, dict)]
    return [(user, guild) for user, guild in found if isinstance(user, str) and isinstance(guild, str)]


class FakeLethe:
    """The core routes of the service in memory, for the tests of a bot. It has no limits, no consent texts and no signed
    evidence.

    Give `fake.url` and `client=fake.client()` to `Lethe`, `client=fake.async_client()` to `AsyncLethe`. `on_webhook` gets
    each webhook call before the act is answered; it can be async where the client is.
    """

    url = "http://lethe.test"

    def __init__(
        self,
        *,
        on_webhook: Optional[Callable[[SignedCall], Any]] = None,
        now: Optional[Callable[[], datetime.datetime]] = None,
    ) -> None:
        #: Every webhook call that was sent, oldest first.
        self.webhooks: List[SignedCall] = []
        self._on_webhook, self._clock = on_webhook, now
        self._keys: Dict[str, FakeKey] = {}
        self._secrets: Dict[str, str] = {}
        self._answers: Dict[Tuple[str, ...], _Answer] = {}
        self._planned: List[Refusal] = []
        self._cursors: Dict[str, List[str]] = {}
        self._pending: List[Awaitable[Any]] = []

    def client(self) -> httpx.Client:
        """What `Lethe` sends its requests with."""
        return httpx.Client(transport=_Transport(self))

    def async_client(self) -> httpx.AsyncClient:
        """What `AsyncLethe` sends its requests with."""
        return httpx.AsyncClient(transport=_Transport(self))

    def refuse_next(self, code: str, details: Optional[Mapping[str, Any]] = None) -> None:
        """Refuses the next request, to test what the bot then does."""
        self._planned.append(Refusal(code, f"The fake refuses: {code}", details))

    def answer(self, request: httpx.Request) -> Tuple[httpx.Response, List[Awaitable[Any]]]:
        """The answer to a request, and what it waits for."""
        try:
            if self._planned:
                raise self._planned.pop(0)
            status, data = self._answered(request)
            found = _response(status, {"success": True, "data": data})
        except Refusal as refusal:
            found = _response(refusal.status, {"success": False, "error": refusal.error})
        pending, self._pending = self._pending, []
        return found, pending

    def _answered(self, request: httpx.Request) -> Tuple[int, Any]:
        path = re.sub("^/api/v1", "", request.url.path)
        body = request.content
        given = {**dict(request.url.params), **(json.loads(body) if body else {})}
        given = present(given)
        require_clean_texts(given)
        if (request.method, path) == ("POST", "/bots/register"):
            return 201, self._register(given)
        key = self._keys.get(re.sub("^Bearer ", "", request.headers.get("authorization", ""), flags=re.I))
        if key is None:
            raise Refusal("unauthorized", "The API key is missing or unknown")
        key.bot.servers.end_due()
        once = request.headers.get("idempotency-key") if request.method == "POST" else None
        place = (str(key.bot.record["id"]), request.method, path, str(once))
        if once is not None and place in self._answers:
            return self._answers[place].repeated(body, key.bot)
        data = self._acted(key, request.method, path, given)
        status = 201 if request.method == "POST" and _CREATED.search(path) else 200
        if once is not None:
            # The answer of an erasure outlives it.
            about = [] if path == "/gdpr/forget-user" else _subjects_in(given, data)
            self._answers[place] = _Answer(body, status, data, about, len(key.bot.erased))
        return status, data

    def _acted(self, key: FakeKey, method: str, path: str, given: Json) -> Any:
        for route, act in _ACTS.items():
            pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", route)
            found = re.fullmatch(pattern, f"{method} {path}")
            if found is None:
                continue
            require_scope(key, route)
            ids = {name: unquote(value) for name, value in found.groupdict().items()}
            data = act(self, key, {**given, **ids})
            if data is None or ids.get("bot_id", key.bot.record["id"]) != key.bot.record["id"]:
                raise not_found("This")
            return data
        raise not_found(f"{method} {path} is no route of the fake; test it with the service. It was")

    def _register(self, given: Json) -> Json:
        platform_id, name = id_of(given, "platform_bot_id"), given.get("name")
        if not is_text(name, 100):
            raise invalid("name", "must be a text of 1 to 100 characters")
        if any(key.bot.record["platform_bot_id"] == platform_id for key in self._keys.values()):
            raise Refusal("conflict", "This bot is registered", {"reason": "bot_exists"})
        shared: Json = {"id": new_id(), "platform_bot_id": platform_id, "name": name}
        now = self._now()
        optional = {field: given.get(field) for field in ("privacy_contact", "webhook_url")}
        record = {**shared, **optional, "webhook_health": None, "created_at": now, "updated_at": now}
        key = new_key(FakeBot(record, self._now, self._send))
        self._keys[key.text] = key
        secret = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        self._secrets[str(record["id"])] = secret
        shown = {"api_key": key.text, "api_key_prefix": key.text[:16], "webhook_secret": secret}
        return {**shared, **shown, "notice": "Keep the key and the secret."}

    def further_key(self, key: FakeKey, given: Json) -> Json:
        made, shown = further_key(key, given, self._now())
        self._keys[made.text] = made
        return shown

    def _send(self, bot: FakeBot, event: Json) -> None:
        call = signed_call(event, self._secrets[str(bot.record["id"])])
        self.webhooks.append(call)
        found = None if self._on_webhook is None else self._on_webhook(call)
        if inspect.isawaitable(found):
            self._pending.append(found)
        bot.calls.append(self._now())

    def _now(self) -> str:
        now = self._clock() if self._clock else datetime.datetime.now(datetime.timezone.utc)
        return now.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def page(self, name: str, rows: Sequence[Json], given: Json) -> Json:
        """One page of a list. A cursor names the rows that are left."""
        number, size = number_of(given, "page", 1), number_of(given, "page_size", 20, 100)
        after = given.get("after")
        if after is not None and after not in self._cursors:
            raise invalid("after", "must be the next of a page")
        left = None if after is None else self._cursors[after]
        shown = rows[(number - 1) * size :] if left is None else [row for row in rows if _name_of(row) in left]
        cursor = str(uuid.uuid4()) if len(shown) > size else None
        if cursor is not None:
            self._cursors[cursor] = [_name_of(row) for row in shown[size:]]
        pagination = {
            "page": number if after is None else None,
            "page_size": size,
            "total_count": len(rows),
            "total_pages": -(-len(rows) // size),
            "next": cursor,
        }
        return {name: list(shown[:size]), "pagination": pagination}


class _Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    def __init__(self, fake: FakeLethe) -> None:
        self._fake = fake

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        response, pending = self._fake.answer(request)
        for one in pending:
            if inspect.iscoroutine(one):
                one.close()
            raise TypeError("on_webhook is async: use the asynchronous client, or handler.handle")
        return response

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        response, pending = self._fake.answer(request)
        for one in pending:
            await one
        return response


def _response(status: int, envelope: Json) -> httpx.Response:
    # As the service writes it: a streamed answer is read without its envelope.
    content = json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()
    headers = {"content-type": "application/json", "x-request-id": "fake"}
    return httpx.Response(status, headers=headers, content=content)


def _name_of(row: Json) -> str:
    return str(row.get("id") or (row.get("user_id"), row.get("guild_id")))


def _shown_to(key: FakeKey) -> Json:
    return {**key.bot.record, "api_key_prefix": key.text[:16]}


def _submitted(bot: FakeBot, item: Json) -> Json:
    try:
        return {"ok": True, "data": bot.submit(item)}
    except Refusal as refusal:
        return {"ok": False, "error": refusal.error}


#: The routes of the fake. A name in braces is part of what the act is given.
_ACTS: Dict[str, _Act] = {
    "GET /bots/me": lambda fake, key, given: _shown_to(key),
    "GET /bots/{bot_id}": lambda fake, key, given: _shown_to(key),
    "POST /bots/{bot_id}/keys": lambda fake, key, given: fake.further_key(key, given),
    "POST /servers/register": lambda fake, key, given: key.bot.servers.register(given),
    "GET /servers": lambda fake, key, given: fake.page("servers", list(key.bot.servers.all.values()), given),
    "DELETE /servers/{guild_id}": lambda fake, key, given: key.bot.servers.delete(given),
    "POST /servers/{guild_id}/cancel-deletion": lambda fake, key, given: key.bot.servers.cancel_deletion(given),
    "GET /users": lambda fake, key, given: page_of_users(fake.page, key.bot, given),
    "POST /data/register": lambda fake, key, given: key.bot.register_category(given),
    "GET /data/categories": lambda fake, key, given: fake.page("categories", list(key.bot.categories.values()), given),
    "GET /data/categories/{key}": lambda fake, key, given: key.bot.category(given["key"]),
    "POST /consents/request": lambda fake, key, given: key.bot.request_consent(given),
    "POST /consents/accept": lambda fake, key, given: key.bot.accept_consent(given),
    "POST /consents/decline": lambda fake, key, given: key.bot.decline_consent(given),
    "POST /consents/revoke": lambda fake, key, given: key.bot.revoke_consent(given),
    "GET /consents/status": lambda fake, key, given: key.bot.consent_status(given),
    "POST /consents/status/batch": lambda fake, key, given: {
        "results": [key.bot.consent_status(item) for item in items_of(given)]
    },
    "POST /data/submit": lambda fake, key, given: key.bot.submit(given),
    "POST /data/submit/batch": lambda fake, key, given: {
        "results": [_submitted(key.bot, item) for item in items_of(given)]
    },
    "POST /data/object": lambda fake, key, given: object_to(key.bot, given),
    "POST /data/restrict": lambda fake, key, given: restrict(key.bot, given),
    "POST /data/unrestrict": lambda fake, key, given: unrestrict(key.bot, given),
    "GET /data/refusals/{user_id}": lambda fake, key, given: refusals(key.bot, given),
    "GET /data/values": lambda fake, key, given: fake.page("values", key.bot.values_of_guild(given), given),
    "GET /data/values/{user_id}": lambda fake, key, given: key.bot.values_of(given),
    "DELETE /data/values/{user_id}": lambda fake, key, given: key.bot.erase_values(given),
    "GET /data/export/{user_id}": lambda fake, key, given: key.bot.export(given),
    "POST /gdpr/forget-user": lambda fake, key, given: key.bot.forget(given),
    "GET /gdpr/forget-status/{id}": lambda fake, key, given: key.bot.erasures.get(given["id"]),
    "POST /privacy-links": lambda fake, key, given: key.bot.links.create(given, key),
    "DELETE /privacy-links/{id}": lambda fake, key, given: key.bot.links.remove(given["id"], key),
    "POST /audit/event": lambda fake, key, given: key.bot.write_event(given),
    "GET /audit/events": lambda fake, key, given: fake.page("events", key.bot.events.found(given), given),
    "GET /stats": lambda fake, key, given: key.bot.stats(given),
}
