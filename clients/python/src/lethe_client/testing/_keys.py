"""API keys of the fake, and what they may do."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Sequence

from ._refusal import Json, invalid, lacking

SCOPES = ("read", "write", "erase", "admin")
_ERASING = ("POST /gdpr/forget-user", "DELETE /servers/{guild_id}", "DELETE /data/values/{user_id}", "POST /data/object")


@dataclass(frozen=True, eq=False)
class FakeKey:
    """A key of a bot."""

    bot: Any
    text: str
    scopes: Sequence[str]


def new_key(bot: Any, scopes: Sequence[str] = SCOPES) -> FakeKey:
    return FakeKey(bot, f"sk_test_{uuid.uuid4().hex}", scopes)


def further_key(key: FakeKey, given: Json, now: str) -> "tuple[FakeKey, Json]":
    """A key with at most the scopes of the calling one, and the answer that shows it."""
    scopes = given.get("scopes", list(SCOPES))
    if not isinstance(scopes, list) or not scopes or len({*scopes}) < len(scopes) or {*scopes} - {*SCOPES}:
        raise invalid("scopes", f"must be a list of at least one of {', '.join(SCOPES)}, each once")
    for scope in SCOPES:
        if scope in scopes and scope not in key.scopes:
            raise lacking(scope)
    made = new_key(key.bot, [scope for scope in SCOPES if scope in scopes])
    shown = {"id": str(uuid.uuid4()), "api_key": made.text, "api_key_prefix": made.text[:16], "scopes": list(made.scopes)}
    name = {} if given.get("name") is None else {"name": given["name"]}
    return made, {**shown, **name, "expires_at": given.get("expires_at"), "created_at": now}


def require_scope(key: FakeKey, route: str) -> None:
    """403 for a key without the scope of the route."""
    needed = _needed(route)
    if not any(scope in key.scopes for scope in needed):
        raise lacking(needed[0])


def _needed(route: str) -> Sequence[str]:
    """One of them is needed."""
    if route in ("GET /bots/me", "GET /bots/{bot_id}", "GET /stats"):
        return ("read", "admin")
    if route == "POST /privacy-links":
        return ("read", "write", "erase")
    if route == "DELETE /privacy-links/{id}":
        return SCOPES
    if route in _ERASING:
        return ("erase",)
    if route == "POST /bots/{bot_id}/keys":
        return ("admin",)
    is_reading = route.startswith("GET ") or route == "POST /consents/status/batch"
    return ("read",) if is_reading else ("write",)
