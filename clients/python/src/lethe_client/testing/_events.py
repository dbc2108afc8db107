"""The audit log of a bot."""

from __future__ import annotations

import uuid
from typing import Any, Callable, List, Set

from ._refusal import Ids, Json, Refusal, named, number_faults_in, require_all
from ._values import TYPES

_ERASED_ID = "0" * 20


class FakeEvents:
    """Newest first."""

    def __init__(self, now: Callable[[], str]) -> None:
        self._now = now
        self.all: List[Json] = []
        self._erased: Set[str] = set()

    def add(self, type: str, ids: Ids, details: Any, source: str) -> Json:
        event = {"id": str(uuid.uuid4()), **named(ids), "event_type": type, "source": source, "details": details}
        event["created_at"] = self._now()
        self.all.insert(0, event)
        return event

    def erase(self, ids: Ids) -> None:
        """The events of a user stay without what they say of the user."""
        self._erased.update(event["id"] for event in self.all if (event["user_id"], event["guild_id"]) == ids)

    def found(self, given: Json) -> List[Json]:
        """As `GET /audit/events` answers them: the ids of an erased user are shown to a call that names them."""
        names = ("user_id", "guild_id", "event_type")
        found = [event for event in self.all if all(given.get(name, event[name]) == event[name] for name in names)]
        asked = {name: given.get(name, _ERASED_ID) for name in ("user_id", "guild_id")}
        return [self._hidden(event, asked) if event["id"] in self._erased else event for event in found]

    def _hidden(self, event: Json, asked: Json) -> Json:
        # The end of an erasure is said without a key of the user.
        is_end = event["source"] == "service" and event["event_type"] == "deletion_completed"
        return {**event, **asked, "details": event["details"] if is_end else None, "erased": True}


def require_event(given: Json) -> None:
    """400 for an event that a bot cannot write."""
    require_all(
        ("event_type", given.get("event_type") in TYPES, f"must be one of {', '.join(TYPES)}"),
        ("details", isinstance(given.get("details", {}), dict), "must be a JSON object"),
    )
    fields = number_faults_in(given.get("details"), "details")
    if fields:
        raise Refusal("invalid_request", "The request is malformed", {"fields": fields})
