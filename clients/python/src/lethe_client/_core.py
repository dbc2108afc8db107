"""What the synchronous and the asynchronous client share: requests, answers, repetitions. Nothing here sends, and only `within` waits."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
import re
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Any, Awaitable, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Set, Tuple, TypeVar, Union
from urllib.parse import quote, urlencode

from .errors import ConflictError, LetheError, LetheTimeoutError, NetworkError, RateLimitedError, UnavailableError, error_of
from .types import Id

K = TypeVar("K")
V = TypeVar("V")

Json = Dict[str, Any]
#: Called with the route, the error and the seconds to wait. What it raises does not end the call.
OnRetry = Callable[[str, LetheError, float], None]
_log = logging.getLogger("lethe_client")


class _Omitted:
    def __repr__(self) -> str:
        return "OMITTED"


#: The default of what can be left out. None is something else where it clears a value.
OMITTED: Any = _Omitted()

#: The most items that one request takes.
ITEMS_MAX = 100
PAGE_SIZE = 100

_IDS = ("user_id", "guild_id", "platform_bot_id")
#: POSTs that take no `Idempotency-Key`.
_WITHOUT_KEY = (
    "POST /bots/register",
    "POST /consents/status/batch",
    "POST /operator/bots/{id}/suspend",
    "POST /operator/bots/{id}/resume",
)
#: What may happen twice though no key makes it one.
_HARMLESS_TWICE = _WITHOUT_KEY[1:]
#: What may change a consent, of one user or of many.
CHANGING = (
    "POST /consents/accept",
    "POST /consents/revoke",
    "POST /data/object",
    "POST /data/restrict",
    "POST /gdpr/forget-user",
    "DELETE /servers/{guild_id}",
    "POST /data/register",
    "PUT /data/categories/{key}",
    "DELETE /data/categories/{key}",
)
_ENTRIES_MAX = 10_000
_ENVELOPE = b'{"success":true,"data":'
_BACKOFF_SECONDS, _BACKOFF_MAX_SECONDS, _RESET_SPREAD_SECONDS = 0.25, 8.0, 0.5


@dataclass(frozen=True)
class CallOptions:
    """How one call is made, in place of what the client does by default."""

    #: Seconds for the call with all its attempts and pauses. With `Lethe` headers that arrive byte by byte can take longer.
    timeout: Optional[float] = None
    retries: Optional[int] = None
    #: In place of a new one: the act is done once, also when your program repeats the call after a crash.
    idempotency_key: Optional[str] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Beside that of the client, before each further attempt.
    on_retry: Optional[OnRetry] = field(default=None, repr=False)


@dataclass(frozen=True)
class Request:
    """An HTTP request that is ready to be sent."""

    route: str
    method: str
    url: str
    headers: Dict[str, str]
    body: Optional[bytes]
    is_repeatable: bool


def id_text(name: str, value: Any) -> Any:
    """An id as the interface writes it. An int of Python is exact; a float has lost digits."""
    if isinstance(value, (bool, float)):
        raise TypeError(f"{name} is the {type(value).__name__} {value}: pass ids as a str or an int.")
    return str(value) if isinstance(value, int) else value


def on_the_wire(given: Mapping[str, Any]) -> Json:
    """The JSON of a request: ids as text, also those of the items of a batch."""
    wire: Json = {}
    for written, value in given.items():
        if value is OMITTED:
            continue
        # `from` is a word of Python: it is written `from_`.
        name = written.rstrip("_")
        if name in _IDS:
            wire[name] = id_text(name, value)
        elif name == "items":
            wire[name] = [on_the_wire(item) for item in value]
        else:
            wire[name] = value
    return wire


def ids_in(route: str) -> List[str]:
    """The names of the ids in the path of a route."""
    return re.findall(r"\{(\w+)\}", route)


def in_path(name: str, value: Any) -> str:
    """An id as a part of a path. Raises TypeError for what is none: without a part, or with one of dots, it is the path of something else."""
    one = id_text(name, value)
    if not isinstance(one, str):
        raise TypeError(f"{name} must be a str or an int, not {type(one).__name__}.")
    if one in ("", ".", ".."):
        raise TypeError(f"{name} is no id: {one!r}.")
    return quote(one, safe="")


def base_of(url: str) -> str:
    """The address without the path of the interface."""
    return re.sub(r"/api/v1$", "", url.rstrip("/"))


def request_of(base: str, key: Optional[str], route: str, given: Mapping[str, Any], options: CallOptions) -> Request:
    """The request of a route. `given` holds the ids of the path, and what is left for query or body."""
    method, path = route.split(" ", 1)
    wire = on_the_wire(given)
    for name in ids_in(route):
        path = path.replace("{" + name + "}", in_path(name, wire.pop(name, None)))
    has_body = method in ("POST", "PUT")
    is_keyed = method == "POST" and route not in _WITHOUT_KEY
    headers = dict(options.headers)
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    if has_body:
        headers["content-type"] = "application/json"
    if is_keyed:
        headers["idempotency-key"] = options.idempotency_key or str(uuid.uuid4())
    _require_sendable(headers)
    query = {name: value for name, value in wire.items() if value is not None}
    return Request(
        route=route,
        method=method,
        url=f"{base}/api/v1{path}" + (f"?{urlencode(query)}" if query and not has_body else ""),
        headers=headers,
        body=_body_of(wire) if has_body else None,
        is_repeatable=method in ("GET", "PUT") or is_keyed or route in _HARMLESS_TWICE,
    )


def _require_sendable(headers: Mapping[str, str]) -> None:
    """Raises TypeError that names a header which cannot be sent. The error of httpx has its value, and is one of the network."""
    for name, value in headers.items():
        if not re.fullmatch(r"[!#-'*+\-.^-z|~A-Z0-9]+", name) or not re.fullmatch(r"(?:[\x21-\x7e]+(?:[ \t]+[\x21-\x7e]+)*)?", value):
            raise TypeError(
                f"The header {name!r} cannot be sent: its name or value has a line break or a character that HTTP refuses."
            )


def _body_of(wire: Json) -> bytes:
    """Without spaces: the service limits the bytes of a body."""
    text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half a surrogate pair has no bytes: as an escape it is refused by the service as any other value.
    return text.encode(errors="backslashreplace")


def envelope_of(content: Union[bytes, str]) -> Json:
    """The JSON object of an answer; empty for anything else."""
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def data_of(status: int, headers: Mapping[str, str], content: bytes) -> Any:
    """`data` of a successful answer. Raises a LetheError for every other."""
    if not 200 <= status < 300:
        raise refusal_of(status, headers, content)
    envelope = envelope_of(content)
    if envelope.get("success") is not True:
        raise unexpected(status, headers)
    return envelope.get("data")


def keys_of(status: int, headers: Mapping[str, str], content: bytes) -> Json:
    """A set of public keys. Raises a LetheError for every other answer."""
    if status != 200:
        raise refusal_of(status, headers, content)
    found = envelope_of(content)
    if not isinstance(found.get("keys"), list):
        raise unexpected(status, headers)
    return found


def refusal_of(status: int, headers: Mapping[str, str], content: bytes) -> LetheError:
    """The error of an answer that is no success."""
    left = headers.get("x-ratelimit-remaining") or ""
    known: Dict[str, Any] = {
        "status": status,
        "remaining": int(left) if re.fullmatch(r"[0-9]{1,15}", left) else None,
        "request_id": headers.get("x-request-id"),
        "retry_after": _seconds_until_next(headers),
    }
    error = envelope_of(content).get("error")
    if isinstance(error, dict) and isinstance(error.get("code"), str) and isinstance(error.get("message"), str):
        # A proxy may have a list or a text there.
        details = error.get("details") if isinstance(error.get("details"), dict) else None
        return error_of(error["code"], error["message"], details=details, **known)
    if status == 429:
        return error_of("rate_limit_exceeded", "A proxy limits the requests.", **known)
    if status in (502, 503, 504):
        return error_of("service_unavailable", f"A proxy answered {status}.", **known)
    return unexpected(status, headers)


def page_of(answer: Json, name: str) -> Json:
    """One page of a list. Without `next` a walk would miss the rest."""
    pagination = answer.get("pagination")
    if not isinstance(answer.get(name), list) or not isinstance(pagination, dict) or "next" not in pagination:
        raise unexpected(200, {})
    return {"items": answer[name], "pagination": pagination}


def unexpected(status: int, headers: Mapping[str, str]) -> LetheError:
    """The error of an answer that the service does not send."""
    message = f"The answer with status {status} is not one of Lethe: is the URL that of the service?"
    return LetheError(message, code="unexpected_answer", status=status, request_id=headers.get("x-request-id"))


def network_error(route: str, cause: Exception, never_sent: bool) -> NetworkError:
    """The error of a call without a complete answer."""
    error = NetworkError(f"{route}: no complete answer came ({cause!r}).", code="network_error")
    error.never_sent = never_sent
    return error


def _seconds_until_next(headers: Mapping[str, str]) -> Optional[float]:
    after = headers.get("retry-after")
    if after is None:
        return None
    if re.fullmatch(r"\d+", after):
        return float(after)
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


# Seconds and attempts that no program waits for.
TIMEOUT_MAX = 86_400.0
RETRIES_MAX = 1_000


def require_number(name: str, value: float, low: float, high: float) -> None:
    """Raises ValueError that names a number among the options that is not finite, or out of its range."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}.")


class Attempts:
    """The time and the attempts of one call."""

    def __init__(
        self,
        request: Request,
        timeout: float,
        retries: int,
        *on_retry: Optional[OnRetry],
    ) -> None:
        self._request, self._retries, self._attempt, self._on_retry = request, retries, 0, on_retry
        self._failures = 0
        #: Whether an attempt may have been carried out.
        self._may_run = False
        self._timeout = timeout
        self._end = time.monotonic() + timeout
        #: The guilds that an erasure of all guilds has completed before it failed, with their salts.
        self._completed: Dict[Any, Any] = {}

    def begin(self) -> float:
        """Begins an attempt, and answers the seconds that are left. Raises LetheTimeoutError."""
        self._attempt += 1
        left = self._end - time.monotonic()
        if left <= 0:
            over = self.over()
            self._with_completed(over)
            raise over
        return left

    def check(self) -> None:
        """Raises LetheTimeoutError where no time is left."""
        if time.monotonic() >= self._end:
            raise self.over()

    async def within(self, act: Awaitable[V]) -> V:
        """Ends an act of the asynchronous client. The time limit of httpx begins anew with each byte. Raises LetheTimeoutError."""
        try:
            return await asyncio.wait_for(act, self._end - time.monotonic())
        except asyncio.TimeoutError:
            raise self.over() from None

    def over(self) -> LetheTimeoutError:
        """The error of a call whose time is over."""
        return LetheTimeoutError(f"{self._request.route} took longer than {self._timeout:g} s.", code="timeout")

    def pause_after(self, error: LetheError) -> float:
        """Seconds until the next attempt. Raises the error where there is none."""
        self._with_completed(error)
        pause = _pause(error, self._attempt, self._request, self._may_run)
        # While the own act runs, its repeats are limited by the time alone.
        if self._retries == 0 or not _is_running(error, self._request, self._may_run):
            self._failures += 1
        self._may_run = self._may_run or not (isinstance(error, RateLimitedError) or _was_never_sent(error))
        if pause is None or self._failures > self._retries or time.monotonic() + pause >= self._end:
            raise error
        for act in self._on_retry:
            try:
                if act is not None:
                    act(self._request.route, error, pause)
            except Exception:
                # Its own failure would end the call, and hide the salts of an erasure.
                _log.warning("on_retry itself has failed.")
        return pause

    def _with_completed(self, error: LetheError) -> None:
        """Adds those of the earlier attempts to the error, which may be the last one, and keeps those of the error."""
        requests = error.details.get("requests")
        if isinstance(requests, list):
            self._completed.update({one.get("request_id"): one for one in requests if isinstance(one, dict)})
        if self._completed:
            error.details["requests"] = list(self._completed.values())


def _pause(error: LetheError, attempt: int, request: Request, may_run: bool) -> Optional[float]:
    backoff: float = random.random() * min(_BACKOFF_MAX_SECONDS, _BACKOFF_SECONDS * 2**attempt)
    asked: float = backoff if error.retry_after is None else error.retry_after + random.random() * _RESET_SPREAD_SECONDS
    # A request that the limiter refuses was not carried out.
    if isinstance(error, RateLimitedError):
        return asked
    if _was_never_sent(error):
        return backoff
    if not request.is_repeatable:
        return None
    if isinstance(error, UnavailableError):
        return asked
    return backoff if _is_running(error, request, may_run) or isinstance(error, NetworkError) else None


def _was_never_sent(error: LetheError) -> bool:
    return isinstance(error, NetworkError) and error.never_sent


def _is_running(error: LetheError, request: Request, may_run: bool) -> bool:
    """Whether an earlier attempt of this call is still running, though its connection was lost. An erasure gets the answer of that
    attempt, with the salts that no other call answers."""
    is_own_erasure = request.route == "POST /gdpr/forget-user" and may_run and error.reason == "deletion_in_progress"
    return isinstance(error, ConflictError) and (error.reason == "idempotency_in_progress" or is_own_erasure)


def size_within(error: LetheError, size: int) -> Optional[int]:
    """The size of batches for a bot with a lower limit. It is half of the limit: the refusal and every other call of the bot count in
    the same minute, and a batch is refused as a whole unless so many are left."""
    limit = error.details.get("limit")
    if error.code != "invalid_request" or not isinstance(limit, int):
        return None
    half = max(1, limit // 2)
    return half if half < size else None


def smaller_size(error: LetheError, size: int, is_elastic: bool) -> Optional[int]:
    """The size of the parts of a batch that the service takes; None where size is not what it refuses. With `is_elastic` it is what
    the bot may still send in this minute."""
    if size == 1:
        return None
    if error.code == "payload_too_large":
        return (size + 1) // 2
    remaining = error.remaining or 0
    return remaining if is_elastic and error.code == "rate_limit_exceeded" and 0 < remaining < size else None


def options_of_part(options: Optional[CallOptions], start: int, count: int) -> Optional[CallOptions]:
    """The options of one request of several: of a given key it makes its own, the same one for the same items."""
    if options is None or options.idempotency_key is None:
        return options
    text = f"{options.idempotency_key}\n{start}\n{count}"
    return replace(options, idempotency_key=hashlib.sha256(text.encode()).hexdigest())


def client_key(key: Optional[str]) -> Optional[str]:
    """The key as it is sent. Raises TypeError for what is no key alone."""
    if key is not None and not re.fullmatch(r"[\x21-\x7e]+", key):
        raise TypeError('key must be the API key alone (sk_live_…): without "Bearer", blanks, line breaks or an ellipsis.')
    return key


@dataclass(frozen=True)
class Basis:
    """What a category says of its processing."""

    needs_consent: bool
    #: Whether an objection to everything is about it.
    is_objectable: bool


class Kept(Generic[K, V]):
    """The newest entries, each for a short time."""

    def __init__(self) -> None:
        self._found: Dict[K, Tuple[float, float, float, V]] = {}

    def get(self, key: K) -> Optional[V]:
        found = self._found.get(key)
        if found is None:
            return None
        began, began_monotonic, seconds, value = found
        # One clock does not count while a machine is suspended, and the other one may be set.
        is_kept = 0 <= time.time() - began < seconds and time.monotonic() - began_monotonic < seconds
        return value if is_kept else None

    def put(self, key: K, value: V, seconds: float) -> None:
        self._found.pop(key, None)
        while len(self._found) >= _ENTRIES_MAX:
            # Another thread may have removed it.
            self._found.pop(next(iter(self._found)), None)
        self._found[key] = (time.time(), time.monotonic(), seconds, value)

    def remove(self, key: K, value: V) -> None:
        """Removes this value of the key, and none that has replaced it."""
        found = self._found.get(key)
        if found is not None and found[3] is value:
            self._found.pop(key, None)

    def clear(self) -> None:
        self._found.clear()


#: How often an act is asked for at most, while what was read of its user may have ended again and again.
ROUNDS_MAX = 5


@dataclass(eq=False)
class Watch:
    """A user for whom an act waits."""

    user_id: str
    #: Whether what was read of the user may have ended since.
    has_ended: bool = False


class ConsentCache:
    """Keeps for a short time what lets an act run. Whatever may end a consent or a processing empties it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.statuses: "Kept[Tuple[str, str], Mapping[str, Any]]" = Kept()
        self.refusals: "Kept[Tuple[str, str], Mapping[str, Any]]" = Kept()
        self.bases: "Kept[str, Basis]" = Kept()
        #: How often it was emptied: what was asked for before is not kept.
        self.changes = 0
        self._watches: Set[Watch] = set()

    @contextmanager
    def watched(self, user_id: Id) -> Iterator[Watch]:
        watch = Watch(str(user_id))
        self._watches.add(watch)
        try:
            yield watch
        finally:
            self._watches.discard(watch)

    def keep(self, kept: "Kept[K, V]", key: K, value: V, changes: int, lasts: bool = True) -> None:
        if lasts and changes == self.changes:
            kept.put(key, value, self._seconds)

    def clear(self, user_id: Optional[Id] = None) -> None:
        """After a change of one user, or without one of any."""
        self.changes += 1
        # A copy: another thread may begin an act.
        for watch in list(self._watches):
            if user_id is None or watch.user_id == str(user_id):
                watch.has_ended = True
        self.statuses.clear()
        self.refusals.clear()
        self.bases.clear()


def basis_of(category: Mapping[str, Any]) -> Basis:
    is_objectable = category.get("legal_basis") in ("legitimate_interests", "public_task")
    return Basis(category.get("requires_consent") is not False, is_objectable)


def refuses_all(refusals: Mapping[str, Any], kind: str) -> bool:
    return any(one["category"] is None for one in refusals[kind])


def refused_by(refusals: Mapping[str, Any], category: str, is_objected: bool) -> Optional[str]:
    """Why the category may not be processed, if it may not."""
    if is_objected or any(one["category"] == category for one in refusals["objections"]):
        return "objection"
    is_restricted = any(one["category"] in (category, None) for one in refusals["restrictions"])
    return "restriction" if is_restricted else None


def covers(status: Mapping[str, Any], category: str) -> bool:
    """Whether a consent in force covers the category. One without categories covers all."""
    categories = status.get("categories")
    return status["status"] == "accepted" and (
        categories is None or any(one["key"] == category and one["status"] == "accepted" for one in categories)
    )


def refused_users(given: Mapping[str, Any], answer: Any) -> Set[Any]:
    """The users of the items of a batch that were refused as a single request is: without a consent, or since the user refuses the processing."""
    results = answer.get("results") if isinstance(answer, dict) else None
    return {
        item.get("user_id")
        for item, one in zip(given["items"], results if isinstance(results, list) else [])
        if one.get("error", {}).get("code") in ("consent_required", "processing_refused")
    }


def consent_missing(status: Mapping[str, Any], category: str) -> LetheError:
    """The ConsentRequiredError of a consent that does not cover the category."""
    message = f"The user has not consented to {category}."
    return error_of("consent_required", message, status=403, details={"current_status": status["status"]})


def consents_change() -> LetheError:
    """The UnavailableError of an act that was asked for too often."""
    return error_of("service_unavailable", "The consents change while they are read: try it again.", status=503)


def processing_refused(reason: str, category: str) -> LetheError:
    """The ProcessingRefusedError of a category that the user has objected to or restricted."""
    done = "objected to" if reason == "objection" else "restricted"
    message = f"The user has {done} the processing of {category}."
    return error_of("processing_refused", message, status=403, details={"reason": reason})


class WithoutEnvelope:
    """`data` of a streamed answer, byte for byte."""

    def __init__(self) -> None:
        self._skip = len(_ENVELOPE)
        self._last = b""

    def feed(self, chunk: bytes) -> bytes:
        """The bytes of `data` that are known to be no end of the envelope."""
        skipped = min(self._skip, len(chunk))
        self._skip -= skipped
        known = self._last + chunk[skipped:]
        self._last = known[-1:]
        return known[:-1]

    def end(self, route: str) -> None:
        """Raises NetworkError where the answer was cut."""
        if self._last != b"}":
            raise network_error(route, EOFError("the answer was cut"), False)
