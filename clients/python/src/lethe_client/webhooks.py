"""Receives the webhook calls of the service (Standard Webhooks)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import inspect
import json
import logging
import re
import threading
import time
from collections import OrderedDict, deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Tuple, TypedDict, Union

from ._core import require_number
from ._public_keys import BadKeys, PublicKeys, is_signed_by, keys_of
from ._receiver import BODY_MAX_BYTES, Receiver
from .types import EVENTS, ConsentRevokedPayload, DataCorrectedPayload, HolderTaskPayload, UserForgottenPayload

_IDS_MAX = 10_000
_TOLERANCE_MAX = 86_400
_log = logging.getLogger("lethe_client.webhooks")


class WebhookActs(TypedDict, total=False):
    """A function, plain or async, for each event."""

    user_forgotten: Callable[[UserForgottenPayload], Any]
    consent_revoked: Callable[[ConsentRevokedPayload], Any]
    data_corrected: Callable[[DataCorrectedPayload], Any]
    holder_task: Callable[[HolderTaskPayload], Any]
    #: The answer to `POST /webhooks/test`.
    ping: Callable[[Dict[str, Any]], Any]


class WebhookVerificationError(Exception):
    """A call that is not one of the service. `fault` names the mistake; answer such a call with 400."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True)
class Webhook:
    """A verified call."""

    #: The same in all attempts of one delivery.
    id: str
    #: Unix time in seconds.
    sent_at: int
    event: Dict[str, Any]


class Store(Protocol):
    """Where the ids of processed calls are kept. Both may be async; such a store needs `handle_async`."""

    def has(self, id: str) -> Union[bool, Awaitable[bool]]: ...

    def add(self, id: str) -> Union[None, Awaitable[None]]: ...


class MemoryStore:
    """The last ten thousand ids, of this process."""

    def __init__(self) -> None:
        self._ids: "OrderedDict[str, None]" = OrderedDict()

    def has(self, id: str) -> bool:
        return id in self._ids

    def add(self, id: str) -> None:
        self._ids[id] = None
        if len(self._ids) > _IDS_MAX:
            self._ids.popitem(last=False)


class _HasCache(Protocol):
    def empty_consent_cache(self, user_id: Optional[str] = None) -> None: ...


def verify_webhook(
    raw_body: bytes,
    headers: Mapping[str, str],
    secrets: Union[str, Sequence[str], None] = None,
    *,
    public_keys: Optional[PublicKeys] = None,
    tolerance: int = 300,
    now: Callable[[], float] = time.time,
) -> Webhook:
    """Verifies that the service has sent a call, that it is unchanged and that it is not old.

    `raw_body` is the body as it arrived, byte for byte. `secrets` is the webhook secret, or the old and the new one during
    a rotation. `public_keys` in its place verify without a secret: the answer of `/.well-known/lethe-webhook-keys/{bot_id}`,
    or a key of it, `whpk_…`; they need the package `cryptography`. `tolerance` is in seconds. Raises
    WebhookVerificationError, and TypeError for a function of keys that is async.
    """
    # With infinity every captured call could be replayed, and not-a-number would refuse none.
    require_number("tolerance", tolerance, 0, _TOLERANCE_MAX)
    if not isinstance(raw_body, (bytes, bytearray)):
        raise WebhookVerificationError("parsed_body", "raw_body is not bytes: verify the body as it arrived.")
    trusted = _trust_of(secrets, public_keys)
    lowered = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (_header(lowered, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    # A stranger's header can be any text, also one that no UTF-8 has.
    signed = f"{id}.{timestamp}.".encode("utf-8", "surrogatepass") + bytes(raw_body)
    if not trusted(signed, signatures.split(" "), timestamp):
        what, hint = (
            ("secret", "After a rotation give the old and the new secret.")
            if public_keys is None
            else ("public key", "After a rotation fetch the keys again; a retired key signs no new call.")
        )
        raise WebhookVerificationError(
            "wrong_signature",
            f"No signature fits body and {what}. Is it this bot's {what}, and the present one, and was the body not parsed "
            f"and written again? {hint}",
        )
    # The time is checked last, since an unsigned time proves nothing.
    # A captured call that is cut at other dots has the same signature, and another text as its time.
    if not re.fullmatch(r"[0-9]{1,15}", timestamp):
        raise WebhookVerificationError("clock", "webhook-timestamp is no time in seconds: this is not a call of the service.")
    off = now() - int(timestamp)
    if abs(int(off)) > tolerance:
        raise WebhookVerificationError(
            "clock",
            f"The call was signed {abs(int(off))} seconds {'ago' if off > 0 else 'in the future'}, more than the {tolerance} "
            "that are tolerated: it was replayed, or a clock is wrong (check NTP).",
        )
    return Webhook(id, int(timestamp), _event_of(raw_body))


#: Whether the content is signed: the content, the entries of `webhook-signature`, the time of the call.
_Trust = Callable[[bytes, Sequence[str], str], bool]


def _trust_of(secrets: Union[str, Sequence[str], None], public_keys: Any) -> _Trust:
    if public_keys is None:
        keys = _keys_of(secrets)
        return lambda signed, entries, _: _is_signed_with(keys, signed, entries)
    # Who has the secret could make a call for a receiver that means to trust the keys alone.
    if secrets is not None:
        raise WebhookVerificationError("bad_keys", "Give secrets or public_keys, and not both.")
    try:
        trusted = keys_of(_at_once(public_keys(), "function of public_keys") if callable(public_keys) else public_keys)
    except BadKeys:
        raise WebhookVerificationError(
            "bad_keys",
            "public_keys must be the answer of /.well-known/lethe-webhook-keys/{bot_id} of the service, or a key of it as text, "
            "beginning with whpk_. The keys of /.well-known/lethe-keys.json verify statements, and no calls.",
        ) from None
    return lambda signed, entries, timestamp: is_signed_by(trusted, signed, entries, timestamp)


def _is_signed_with(keys: Sequence[bytes], signed: bytes, entries: Sequence[str]) -> bool:
    expected = [b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    given = [one.encode("utf-8", "surrogatepass") for one in entries]
    return any(hmac.compare_digest(one, other) for one in expected for other in given)


def _keys_of(secrets: Union[str, Sequence[str], None]) -> List[bytes]:
    keys = [_key_of(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets or [])]
    return keys or [_refused()]


def _key_of(secret: str) -> bytes:
    found = re.fullmatch(r"whsec_([A-Za-z0-9+/]+={0,2})", secret) if isinstance(secret, str) else None
    try:
        return base64.b64decode(found.group(1), validate=True) if found else _refused()
    except ValueError:
        raise _bad_secret() from None


def _refused() -> bytes:
    raise _bad_secret()


def _bad_secret() -> WebhookVerificationError:
    return WebhookVerificationError(
        "bad_secret",
        "secrets must hold the webhook_secret of the registration as it was shown, beginning with whsec_ (it is not the API "
        "key, sk_live_…). Is the environment variable set?",
    )


def _header(lowered: Mapping[str, str], name: str) -> str:
    value = lowered.get(name)
    if value:
        return value
    raise WebhookVerificationError(
        "missing_header", f"The header {name} is missing: this is not a call of the service, or a proxy has removed it."
    )


def _event_of(raw_body: bytes) -> Dict[str, Any]:
    try:
        event = json.loads(raw_body)
    except ValueError:
        event = None
    if isinstance(event, dict):
        return event
    raise WebhookVerificationError("not_json", "The body is signed but is no JSON object.")


class _Turns:
    """Attempts of one delivery take turns, whichever threads and event loops they are in; others do not wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Of each delivery that is being processed, the attempts that wait, the first of which is next.
        self._waiting: Dict[str, "deque[Future[None]]"] = {}

    def claim(self, id: str) -> "Future[None]":
        """Done once it is the turn of this attempt."""
        turn: "Future[None]" = Future()
        with self._lock:
            if id in self._waiting:
                self._waiting[id].append(turn)
                return turn
            self._waiting[id] = deque()
        turn.set_result(None)
        return turn

    def wait(self, id: str) -> None:
        """Returns once it is the turn of this attempt. Raises where the wait would stop the event loop of this thread."""
        turn = self.claim(id)
        try:
            # The attempt before this one may need that event loop in order to end.
            if not turn.done() and _is_in_event_loop():
                raise RuntimeError("another attempt of this delivery is being processed: in an event loop use handle_async")
            turn.result()
        except BaseException:
            self._give_up(id, turn)
            raise

    async def claimed(self, id: str) -> None:
        turn = self.claim(id)
        try:
            if not turn.done():
                await asyncio.wrap_future(turn)
        except BaseException:
            self._give_up(id, turn)
            raise

    def _give_up(self, id: str, turn: "Future[None]") -> None:
        # Its turn may have come in the same moment.
        if not turn.cancel() and not turn.cancelled():
            self.give_back(id)

    def give_back(self, id: str) -> None:
        """The turn of the next attempt. It acts only where this one has failed."""
        with self._lock:
            waiting = self._waiting[id]
            while waiting:
                if waiting[0].set_running_or_notify_cancel():
                    waiting.popleft().set_result(None)
                    return
                waiting.popleft()
            del self._waiting[id]


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _eventual(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _known(public_keys: Any) -> Any:
    """A function that has its keys already: what it answers is never taken for no keys."""
    if not callable(public_keys):
        return public_keys
    found = await _eventual(public_keys())
    return lambda: found


def _at_once(value: Any, what: str) -> Any:
    """Raises TypeError for what must be awaited: it is true as a value, and nothing of it is done."""
    if not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()
    raise TypeError(f"the {what} is async: use handle_async")


class WebhookHandler(Receiver):
    """Verifies a call, processes each id once, and says what to answer: 204, 400 for a call that is not one of the service, 413
    for a body that is larger than any call of it, 500 where a function has failed, and the service sends the call again.

    `on` holds a function, plain or async, for each event: `{"user_forgotten": delete_user}`. `secrets` is the webhook secret,
    or the old and the new one during a rotation; None where `public_keys` verify the calls, as of `verify_webhook`.
    """

    def __init__(
        self,
        secrets: Union[str, Sequence[str], None],
        on: WebhookActs,
        *,
        public_keys: Optional[PublicKeys] = None,
        tolerance: int = 300,
        store: Optional[Store] = None,
        lethe: Optional[_HasCache] = None,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> None:
        require_number("tolerance", tolerance, 0, _TOLERANCE_MAX)
        # A bot without its secret would learn of it by the first call that it refuses. What a function fetches is not known yet.
        if not callable(public_keys) or secrets is not None:
            _trust_of(secrets, public_keys)
        # A function that is never called would be missed at the first erasure.
        unknown = [name for name in on if name not in EVENTS]
        if unknown:
            raise ValueError(f"on names {', '.join(map(repr, unknown))}, which is no event. Events are: {', '.join(EVENTS)}.")
        self._secrets, self._public_keys, self._tolerance = secrets, public_keys, tolerance
        self._on: Mapping[str, Any] = {**on}
        self._store: Store = store or MemoryStore()
        self._lethe, self._on_error = lethe, on_error
        self._turns = _Turns()

    def handle(self, raw_body: bytes, headers: Mapping[str, str]) -> Tuple[int, str]:
        """The status and the text to answer, for a function that is not async."""
        try:
            webhook = self._verified(raw_body, headers, self._public_keys)
            self._turns.wait(webhook.id)
            try:
                if not _at_once(self._store.has(webhook.id), "store"):
                    _at_once(self._act(webhook), "function of the event")
                    _at_once(self._store.add(webhook.id), "store")
            finally:
                self._turns.give_back(webhook.id)
            return 204, ""
        except Exception as error:
            return self._answer(error)

    async def handle_async(self, raw_body: bytes, headers: Mapping[str, str]) -> Tuple[int, str]:
        """The status and the text to answer."""
        try:
            webhook = self._verified(raw_body, headers, await _known(self._public_keys))
            await self._turns.claimed(webhook.id)
            try:
                if not await _eventual(self._store.has(webhook.id)):
                    await _eventual(self._act(webhook))
                    await _eventual(self._store.add(webhook.id))
            finally:
                self._turns.give_back(webhook.id)
            return 204, ""
        except Exception as error:
            return self._answer(error)

    def _verified(self, raw_body: bytes, headers: Mapping[str, str], public_keys: Optional[PublicKeys]) -> Webhook:
        if len(raw_body) > BODY_MAX_BYTES:
            raise WebhookVerificationError("too_large", "The body is larger than any call of the service.")
        return verify_webhook(raw_body, headers, self._secrets, public_keys=public_keys, tolerance=self._tolerance)

    def _act(self, webhook: Webhook) -> Any:
        name = str(webhook.event.get("event"))
        if self._lethe is not None and name != "ping":
            self._lethe.empty_consent_cache(webhook.event.get("user_id"))
        act = self._on.get(name)
        return None if act is None else act(webhook.event)

    def _answer(self, error: Exception) -> Tuple[int, str]:
        try:
            if self._on_error is not None:
                self._on_error(error)
        except Exception:
            # A log that fails leaves the answer as it is.
            _log.warning("on_error itself has failed.")
        if isinstance(error, WebhookVerificationError):
            return 413 if error.fault == "too_large" else 400, str(error)
        return 500, "The event could not be processed"
