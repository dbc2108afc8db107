"""Commands that wait for a consent."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, Optional, Tuple

#: Continues a command of the bot. A text that it answers is shown to the user.
Then = Callable[[], Awaitable[Any]]
#: A command that waits in no process: its user is asked to give it again.
NOWHERE = "-"
#: As long as Discord takes answers to the interaction of the command.
_WAIT_SECONDS = 15 * 60.0
_MOST = 1_000


@dataclass
class _Kept:
    user_id: str
    #: None once it was taken: a second press says nothing.
    then: Optional[Then]
    until: float


class Waiting:
    """The commands that wait in this process, for a time and in a number that are bounded."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._kept: Dict[str, _Kept] = {}

    def add(self, user_id: str, then: Optional[Then]) -> str:
        """Keeps a command, and answers its id for the buttons. The oldest one gives way where there are too many."""
        if then is None:
            return NOWHERE
        for id in [id for id, kept in self._kept.items() if kept.until <= self._now()]:
            del self._kept[id]
        if len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        id = secrets.token_hex(4)
        self._kept[id] = _Kept(user_id, then, self._now() + _WAIT_SECONDS)
        return id

    def take(self, id: str, user_id: str) -> Tuple[Optional[Then], bool]:
        """The command, once, and whether it is lost: after a restart, too late, or for another user than its own."""
        kept = self._kept.get(id)
        if kept is None or kept.until <= self._now() or kept.user_id != user_id:
            return None, True
        then, kept.then = kept.then, None
        return then, False
