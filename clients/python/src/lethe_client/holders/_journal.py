"""What was erased in one store, kept in the store itself."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Mapping, Optional

from ._store import Marks, moment, written

#: The name of the note that says up to when all is done.
_SINCE = "since"
BEGINNING = "1970-01-01T00:00:00.000Z"
#: How much later than its time a task may have appeared in the list.
_LATE = timedelta(hours=1)


class Journal:
    """A restored backup lacks exactly the notes of what was erased after it.

    A note is written before the erasure, so that an attempt after a crash still knows what was found.
    """

    def __init__(self, marks: Marks, of: str) -> None:
        self._marks, self._of = marks, of
        self._notes: Dict[str, Dict[str, Any]] = {}
        self._since: Optional[str] = None

    @property
    def is_new(self) -> bool:
        """Whether the store has not been in use: a new one knows of no erasure."""
        return self._since is None

    def has_passed(self, at: str) -> bool:
        """Whether the notes went past a task of this time: a restored store has not come so far."""
        return self._since is not None and moment(self._since) >= moment(at)

    @property
    def begins(self) -> str:
        """Every task that was made before is done."""
        return written(max(moment(BEGINNING), moment(self._since or BEGINNING) - _LATE))

    async def load(self) -> bool:
        """Reads it as it is in the store now. Raises ValueError for a time to come."""
        notes = dict(await self._marks.all(self._of))
        notes.pop(_SINCE, None)
        # After the notes: another process moves it before it removes those that are behind it.
        since = await self._marks.get(self._of, _SINCE)
        # A clock that is behind is right again soon. A store that counted as new until then would be erased of who has no consent.
        if since is not None and moment(since) > datetime.now(timezone.utc):
            raise ValueError(
                f"Its notes say that all is done up to {since}, a time to come: no erasure is repeated until the clock has reached it. "
                f"If the clock is right, remove the note {_SINCE} of {self._of}."
            )
        self._since = since
        self._notes = {name: json.loads(note) for name, note in notes.items()}
        return True

    def is_done(self, task_id: str) -> bool:
        return bool(self._notes.get(task_id, {}).get("done"))

    async def found_by(self, task_id: str) -> Optional[int]:
        """What was found where it is done by now, also by another process."""
        note = self._notes[task_id] if self.is_done(task_id) else await self._noted(task_id)
        return int(note["found"]) if note.get("done") else None

    async def begin(self, task: Mapping[str, Any], found: int) -> int:
        """Notes what is about to be erased, and answers what the first attempt found, also that of another process."""
        first = max(found, int((await self._noted(task["task_id"])).get("found", 0)))
        if found > 0:
            await self._note(task, first, False)
        return first

    async def end(self, task: Mapping[str, Any], found: int) -> None:
        if not self.is_done(task["task_id"]):
            await self._note(task, found, True)

    async def settle(self, time: str) -> None:
        """Every task that was made before `time` is done: their notes are no longer needed."""
        if self._since is not None and moment(self._since) >= moment(time):
            return
        await self._marks.put(self._of, _SINCE, time)
        self._since = time
        old = [name for name, note in self._notes.items() if moment(note["at"]) < moment(self.begins)]
        await self._marks.remove(self._of, old)
        for name in old:
            del self._notes[name]

    async def _noted(self, task_id: str) -> Dict[str, Any]:
        note = await self._marks.get(self._of, task_id)
        return {} if note is None else dict(json.loads(note))

    async def _note(self, task: Mapping[str, Any], found: int, done: bool) -> None:
        # As @lethe/sdk writes it: a bot may change its language.
        note = {"at": task["created_at"], "found": found, "done": done}
        await self._marks.put(self._of, task["task_id"], json.dumps(note, separators=(",", ":")))
        self._notes[task["task_id"]] = note
