"""The servers of a bot, with their deletion."""

from __future__ import annotations

import datetime
import re
import uuid
from typing import Callable, Dict, Optional

from ._refusal import Json, Refusal, id_of, invalid, is_text, not_found


class FakeServers:
    """A scheduled deletion takes place at the first call after its time."""

    def __init__(self, now: Callable[[], str], has_users: Callable[[str], bool], erase: Callable[[str], int]) -> None:
        self._now, self._has_users, self._erase = now, has_users, erase
        self.all: Dict[str, Json] = {}

    def register(self, given: Json) -> Json:
        guild, name = id_of(given, "guild_id"), given.get("name")
        if name is not None and not is_text(name, 100):
            raise invalid("name", "must be a text of 1 to 100 characters")
        return self._put(guild, None, name)

    def delete(self, given: Json) -> Json:
        """At once, or after `grace_days`. 404 for a guild that is not registered and has no users."""
        guild, days = id_of(given, "guild_id"), str(given.get("grace_days", "0"))
        if not re.fullmatch("[0-9]{1,2}", days) or int(days) > 90:
            raise invalid("grace_days", "must be a whole number from 0 to 90")
        if guild not in self.all and not self._has_users(guild):
            raise not_found("Server")
        if int(days) == 0:
            return {"guild_id": guild, "deleted": True, "erased_users": self._end(guild)}
        now = datetime.datetime.fromisoformat(self._now().replace("Z", "+00:00"))
        end = now + datetime.timedelta(days=int(days))
        due = end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._put(guild, due)
        return {"guild_id": guild, "deleted": False, "erased_users": 0, "scheduled_for": due}

    def cancel_deletion(self, given: Json) -> Json:
        """404, and 409 without a scheduled deletion."""
        guild = id_of(given, "guild_id")
        if guild not in self.all:
            raise not_found("Server")
        if self.all[guild]["deletion_scheduled_for"] is None:
            raise Refusal("conflict", "No deletion is scheduled", {"reason": "nothing_scheduled"})
        return self._put(guild, None)

    def end_due(self) -> None:
        """Deletes the guilds whose time has come."""
        now = self._now()
        for guild, server in [*self.all.items()]:
            due = server["deletion_scheduled_for"]
            if due is not None and due <= now:
                self._end(guild)

    def _put(self, guild: str, due: Optional[str], name: Optional[str] = None) -> Json:
        made = {"id": str(uuid.uuid4()), "guild_id": guild, "name": None, "created_at": self._now()}
        server = {**self.all.get(guild, made), "deletion_scheduled_for": due}
        if name is not None:
            server["name"] = name
        self.all[guild] = server
        return server

    def _end(self, guild: str) -> int:
        erased = self._erase(guild)
        self.all.pop(guild, None)
        return erased
