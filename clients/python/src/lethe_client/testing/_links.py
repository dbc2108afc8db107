"""Links to privacy pages. The fake answers them and ends them; it serves no page."""

from __future__ import annotations

import datetime
import uuid
from typing import Callable, Dict, Optional, Tuple

from ._keys import FakeKey
from ._refusal import Ids, Json, id_of, invalid, lacking

#: The scope that a key needs for what a link allows.
_SCOPES = {"view": "read", "consent": "write", "export": "read", "forget": "erase", "correct": "write"}


class FakeLinks:
    """The links of a bot."""

    def __init__(self, now: Callable[[], str]) -> None:
        self._now = now
        #: The user, the guild where it is of one, and the key that made it.
        self._links: Dict[str, Tuple[str, Optional[str], FakeKey]] = {}

    def create(self, given: Json, key: FakeKey) -> Json:
        if given.get("scope", "all_guilds") != "all_guilds":
            raise invalid("scope", "must be all_guilds")
        user, everywhere = id_of(given, "user_id"), "scope" in given
        guild = None if everywhere else id_of(given, "guild_id")
        if everywhere and "guild_id" in given:
            raise invalid("guild_id", "must be left out with scope")
        allow = given.get("allow", [act for act, scope in _SCOPES.items() if scope in key.scopes])
        is_list = isinstance(allow, list) and allow and all(isinstance(act, str) and act in _SCOPES for act in allow)
        if not is_list or len({*allow}) < len(allow):
            raise invalid("allow", f"must be a list of at least one of {', '.join(_SCOPES)}, each once")
        for act in allow:
            if _SCOPES[act] not in key.scopes:
                raise lacking(_SCOPES[act])
        seconds = given.get("expires_in", 900)
        if not isinstance(seconds, int) or isinstance(seconds, bool) or not 60 <= seconds <= 604_800:
            raise invalid("expires_in", "must be from 60 to 604800")
        id, now = str(uuid.uuid4()), datetime.datetime.fromisoformat(self._now().replace("Z", "+00:00"))
        self._links[id] = (user, guild, key)
        end = (now + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return {"id": id, "url": f"http://lethe.test/p/{uuid.uuid4()}", "expires_at": end}

    def remove(self, id: str, key: FakeKey) -> Optional[Json]:
        """None for a link that is not in force."""
        if id not in self._links:
            return None
        if self._links[id][2] is not key and "admin" not in key.scopes:
            raise lacking("admin")
        del self._links[id]
        return {"id": id, "deleted": True}

    def erase(self, ids: Ids, is_held_elsewhere: bool) -> None:
        """Ends the links of an erased user; one for all guilds only where nothing is held elsewhere."""
        for id, (user, guild, _) in list(self._links.items()):
            if user == ids[0] and (not is_held_elsewhere if guild is None else guild == ids[1]):
                del self._links[id]
