"""What the stores have about a user, for an export (GDPR Art. 15 and 20)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Awaitable, Callable, Dict, List, Optional, Sequence, cast

from ._answer import Place, Stopped, Task, holder_error, require_count, require_ids
from ._json import json_safe
from ._limited import eventual
from ._statement import base64url, compact
from ._store import Exported, HolderError, Store, Who

#: Of the data of one holder as JSON. Lethe takes 229,376 bytes.
DATA_MAX_BYTES = 225_000
#: The names of the fields and a number beside the entries of one store.
_FRAME_BYTES = 60


@dataclass(frozen=True)
class _Found:
    name: str
    count: int
    #: None for a store that exports nothing.
    entries: Optional[List[Any]]


async def export_of(
    task: Task,
    who: Who,
    places: Sequence[Place],
    on_error: Callable[[HolderError], Awaitable[None]],
    check: Callable[[], None],
) -> Dict[str, Any]:
    """Asks every place for what it has about the subject of a task, and changes nothing.

    `counts` has what was found, by the name of the store, also what has no room in `data`.
    """
    found: List[_Found] = []
    for place in places:
        check()
        try:
            require_ids(task)
            found.append(await _found_in(place.store, who))
        except Stopped:
            raise
        except Exception as error:
            check()
            await on_error(holder_error(error, place.store, task))
    counts = {one.name: one.count for one in found}
    if len(found) < len(places):
        return {"result": "failed", "counts": counts}
    if not any(counts.values()):
        return {"result": "nothing", "counts": counts}
    return {"result": "exported", "counts": counts, "data": json_safe(_data_of(found), -2)}


def digest_of(data: Any) -> str:
    """`data_digest` of a statement: base64url of the SHA-256 of the text that JSON.stringify makes of the data."""
    return base64url(hashlib.sha256(compact(data).encode()).digest())


async def _found_in(store: Store, who: Who) -> _Found:
    if store.export is None:
        # An export has also what belongs to no guild.
        about = replace(who, is_last=True) if store.everywhere == "partly" else who
        return _Found(store.name, require_count(await eventual(store.count(about))), None)
    given = await eventual(store.export(who))
    if not isinstance(given, Exported):
        given = Exported(cast("Sequence[Any]", given))
    if not isinstance(given.rows, (list, tuple)):
        raise TypeError("export must answer a list, or an Exported with a list as rows.")
    return _Found(store.name, len(given.rows) + require_count(given.left_out), [json_safe(row) for row in given.rows])


def _bytes_of(entry: Any) -> int:
    return len(compact(entry).encode()) + 1


def _data_of(found: List[_Found]) -> Dict[str, Any]:
    """What fits, in the order of the places."""
    room = DATA_MAX_BYTES - sum(_bytes_of(one.name) + _FRAME_BYTES for one in found)
    sizes = [sum(map(_bytes_of, one.entries or [])) for one in found]
    data: Dict[str, Any] = {}
    for one, share in zip(found, _divided(room, sizes)):
        if one.entries is None:
            # An empty store is empty, whether it could export or not.
            data[one.name] = [] if one.count == 0 else {"not_exported": True, "found": one.count}
            continue
        rows: List[Any] = []
        for entry in one.entries:
            size = _bytes_of(entry)
            if size <= share:
                rows.append(entry)
                share -= size
        is_whole = len(rows) == one.count
        data[one.name] = rows if is_whole else {"rows": rows, "left_out": one.count - len(rows)}
    return data


def _divided(room: int, sizes: List[int]) -> List[int]:
    """The same room for each, and what one does not need for the others."""
    shares = [0] * len(sizes)
    for done, at in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[at] = min(sizes[at], room // (len(sizes) - done))
        room -= shares[at]
    return shares
