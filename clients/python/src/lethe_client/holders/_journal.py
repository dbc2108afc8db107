"""What was erased in one store, kept in the store itself."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Mapping, Optional

from ._store import Marks, digest_of_list, moment, written

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
        """Reads it as it is in the store now. Raises ValueError for a time that is more than an hour ahead."""
        notes = dict(await self._marks.all(self._of))
        notes.pop(_SINCE, None)
        # After the notes: another process moves it before it removes those that are behind it.
        since = await self._marks.get(self._of, _SINCE)
        # Clocks of two machines differ a little. One that is far behind is right again soon: until then the store is not taken for a new
        # one, in which the rows of all erased users without a consent would be erased again.
        if since is not None and moment(since) > datetime.now(timezone.utc) + _LATE:
            raise ValueError(
                f"Its notes say that all is done up to {since}, a time to come: no erasure is repeated until an hour before. "
                f"If the clock is right, remove the note {_SINCE} of {self._of} (as the name of a folder: {digest_of_list(self._of)}). "
                "The store then counts as new: every erasure that Lethe knows of is repeated, but for users with a reason to keep data."
            )
        self._since = since
        self._notes = {name: json.loads(note) for name, note in notes.items()}
        return True

    def _is_done(self, task_id: str) -> bool:
        return bool(self._notes.get(task_id, {}).get("done"))

    async def is_done_anywhere(self, task_id: str) -> bool:
        """Whether it is done by now, also by another process."""
        return self._is_done(task_id) or bool((await self._noted(task_id)).get("done"))

    async def erased_by(self, task_id: str) -> Optional[int]:
        """What was found where it is erased by now, as the store says: it may have been restored since."""
        note = await self._noted(task_id)
        return int(note["found"]) if note.get("done") and not note.get("left") else None

    async def begin(self, task: Mapping[str, Any], found: int) -> int:
        """Notes what is about to be erased, and answers what the first attempt found, also that of another process."""
        first = max(found, int((await self._noted(task["task_id"])).get("found", 0)))
        if found > 0:
            await self._note(task, {"found": first, "done": False})
        return first

    async def end(self, task: Mapping[str, Any], found: int) -> None:
        id = task["task_id"]
        if not self._is_done(id) or self._notes[id].get("left"):
            await self._note(task, {"found": found, "done": True})

    async def leave(self, task: Mapping[str, Any]) -> None:
        """Notes that the store has nothing to erase for this task."""
        if not self._is_done(task["task_id"]):
            await self._note(task, {"found": 0, "done": True, "left": True})

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
        text = await self._marks.get(self._of, task_id)
        if text is None:
            self._notes.pop(task_id, None)
            return {}
        self._notes[task_id] = dict(json.loads(text))
        return self._notes[task_id]

    async def _note(self, task: Mapping[str, Any], rest: Mapping[str, Any]) -> None:
        # As @lethe/sdk writes it: a bot may change its language.
        note = {"at": task["created_at"], **rest}
        await self._marks.put(self._of, task["task_id"], json.dumps(note, separators=(",", ":")))
        self._notes[task["task_id"]] = note
