"""Discord's webhook events, and what happens when a user removes the bot from their account."""

from __future__ import annotations

import inspect
import json
import logging
import re
import time
from datetime import datetime, timedelta, timezone
from importlib import import_module
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

from lethe_client import AsyncLethe, CallOptions, Lethe, NotFoundError
from lethe_client._core import require_number
from lethe_client._receiver import BODY_MAX_BYTES, Receiver

from ._turn import DIRECT_MESSAGES

#: Where the consent was withdrawn, in its history.
_SOURCE = "discord_deauthorized"
#: As for guilds: the limiter of the service begins anew each minute.
_PATIENT_SECONDS = 150.0
#: Of each of two calls: Discord waits three seconds in all.
_CALL_SECONDS = 1.25
_TOLERANCE_MAX = 86_400
#: How far the clock of the service may be ahead of this one, as a receiver of signed events allows.
_AHEAD_MAX = timedelta(seconds=300)
_PING = 0
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?")
_log = logging.getLogger("lethe_discord")


async def user_deauthorized(
    lethe: Union[AsyncLethe, Lethe], user_id: str, *, at: Optional[str] = None, timeout: float = _PATIENT_SECONDS
) -> bool:
    """Withdraws the consent in the bot-wide scope of a user who has removed the bot from their account.

    From then on nothing is stored under it, and the service erases what was after its days of grace. Servers are not touched.
    `at` is when it happened (ISO 8601; UTC without a zone): a consent that is newer stays; none does without a time that can
    be read: a user who has come back is asked again, but a lost withdrawal is never made. The time of a consent that is more
    than five minutes ahead of this clock cannot be read either. `timeout` is of each of two calls, in seconds. A repeat changes
    nothing. Answers whether a consent was withdrawn. Raises LetheError where the service did not do it: call it again.
    """
    consents: Any = lethe.consents
    who = {"user_id": user_id, "guild_id": DIRECT_MESSAGES, "options": CallOptions(timeout=timeout)}
    status = await _eventual(consents.status(**who))
    if status["status"] != "accepted" or _is_later(status.get("accepted_at"), at):
        return False
    try:
        await _eventual(consents.revoke(**who, source=_SOURCE))
    except NotFoundError:
        # Another delivery of the event was there first.
        return False
    return True


def deauthorized(body: Mapping[str, Any]) -> Optional[Tuple[str, Optional[str]]]:
    """The user who has removed the bot from their account, and when, by the body of a verified call; None for another event.

    Raises ValueError for such an event that names no user.
    """
    event = body.get("event")
    if not isinstance(event, dict) or event.get("type") != "APPLICATION_DEAUTHORIZED":
        return None
    try:
        user_id = event["data"]["user"]["id"]
    except (KeyError, TypeError):
        user_id = None
    if not isinstance(user_id, str):
        raise ValueError("APPLICATION_DEAUTHORIZED names no user.")
    return user_id, event.get("timestamp")


class DiscordEvents(Receiver):
    """Receives Discord's webhook events, and calls `user_deauthorized` for each user who removes the bot from their account.

    `public_key` is that of the application, of Discord's developer portal. `others` is a function, plain or async, for every
    other event (`type`, `timestamp`, `data`). A 204 says that all is done. What Discord has not signed, or what is older than
    `tolerance` seconds, is answered with 401, a body above 64 KiB with 413, and a failure with 500, after which Discord sends
    the event again. `on_error` is called for every failure, which is logged by default. Raises ImportError without the package
    `cryptography`, and ValueError for what is no key.
    """

    def __init__(
        self,
        lethe: Union[AsyncLethe, Lethe],
        public_key: str,
        *,
        others: Optional[Callable[[Dict[str, Any]], Any]] = None,
        on_error: Optional[Callable[[BaseException], None]] = None,
        tolerance: int = 300,
        now: Callable[[], float] = time.time,
    ) -> None:
        require_number("tolerance", tolerance, 0, _TOLERANCE_MAX)
        self._lethe, self._key = lethe, _key_of(public_key)
        self._others, self._on_error = others, on_error or _logged
        self._tolerance, self._now = tolerance, now

    def handle(self, raw_body: bytes, headers: Mapping[str, str]) -> Tuple[int, str]:
        """The status and the text to answer, for a program that is not async: with `Lethe`, and with plain functions."""
        if not isinstance(self._lethe, AsyncLethe):
            answering = self.handle_async(raw_body, headers)
            try:
                answering.send(None)
            except StopIteration as answer:
                found: Tuple[int, str] = answer.value
                return found
            answering.close()
        self._report(TypeError("AsyncLethe and functions that are async need handle_async."))
        return 500, _FAILED

    async def handle_async(self, raw_body: bytes, headers: Mapping[str, str]) -> Tuple[int, str]:
        """The status and the text to answer."""
        try:
            if len(raw_body) > BODY_MAX_BYTES:
                return 413, "The body is larger than any event of Discord."
            if not self._is_signed(raw_body, {name.lower(): value for name, value in headers.items()}):
                return 401, "The event is not signed for this application, or too old."
            await self._received(json.loads(raw_body))
            return 204, ""
        except Exception as error:
            self._report(error)
            return 500, _FAILED

    def _report(self, error: BaseException) -> None:
        try:
            self._on_error(error)
        except Exception as second:
            # A log that fails leaves the answer as it is.
            _logged(second)

    async def _received(self, body: Dict[str, Any]) -> None:
        # Discord tries the address by such a call.
        if body.get("type") == _PING:
            return
        event = body.get("event")
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            raise ValueError(f"A webhook of type {body.get('type')} has no event.")
        found = deauthorized(body)
        if found is not None:
            await user_deauthorized(self._lethe, found[0], at=found[1], timeout=_CALL_SECONDS)
        elif self._others is not None:
            await _eventual(self._others(event))

    def _is_signed(self, raw_body: bytes, headers: Mapping[str, str]) -> bool:
        signature, timestamp = (headers.get(f"x-signature-{name}", "") for name in ("ed25519", "timestamp"))
        if not re.fullmatch(r"[0-9a-fA-F]{128}", signature) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
            return False
        if abs(self._now() - int(timestamp)) > self._tolerance:
            return False
        try:
            self._key.verify(bytes.fromhex(signature), timestamp.encode() + bytes(raw_body))
        except import_module("cryptography.exceptions").InvalidSignature:
            return False
        return True


_FAILED = "The event could not be processed."


async def _eventual(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _is_later(accepted_at: Optional[str], at: Optional[str]) -> bool:
    """Whether the user has consented after the event, which arrives late or once more."""
    accepted, happened = _moment(accepted_at), _moment(at)
    # The clock of the service was ahead, or this one is behind: every event would be earlier.
    if accepted is None or accepted - datetime.now(timezone.utc) > _AHEAD_MAX:
        return False
    return happened is not None and accepted > happened


def _moment(text: Any) -> Optional[datetime]:
    found = _TIME.fullmatch(text.upper()) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        # Before Python 3.11 fromisoformat takes neither Z nor fractions of any length.
        moment = datetime.fromisoformat(found[1]).replace(microsecond=int((found[2] or "0").ljust(6, "0")[:6]))
        return moment.replace(tzinfo=datetime.strptime(found[3] or "Z", "%z").tzinfo)
    except ValueError:
        # There is no such day or hour.
        return None


def _logged(error: BaseException) -> None:
    _log.error("An event of Discord could not be processed", exc_info=error)


def _key_of(public_key: str) -> Any:
    try:
        ed25519 = import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ImportError:
        raise ImportError(
            "Events of Discord need the package cryptography, since Python has no Ed25519 of its own: "
            'pip install "lethe-client[sign]"'
        ) from None
    if not isinstance(public_key, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", public_key):
        raise ValueError("public_key must be the 64 hexadecimal digits of the developer portal.")
    return ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
