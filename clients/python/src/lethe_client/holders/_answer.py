"""The answer to one task."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional

from ._journal import Journal
from ._limited import eventual
from ._store import HolderError, Keeps, Store, Who, moment, written

Task = Mapping[str, Any]
_SNOWFLAKE = re.compile(r"[0-9]{1,20}")
_TASK = re.compile(r"[0-9a-fA-F-]{36}")
#: What Lethe shows as a user whose ids it has lost.
_LOST = "0" * 20
COUNT_MAX = 2**53 - 1
_CASCADE = "Another table that was erased has taken them along by ON DELETE CASCADE: remove it, or keep that table too."


class Stopped(HolderError):
    """The holder was stopped in the middle of a round."""


@dataclass(frozen=True)
class Place:
    """A store with its journal, where it can keep one."""

    store: Store
    journal: Optional[Journal]


@dataclass(frozen=True)
class _Kept:
    """Rows that are kept, as they were found before the others were erased."""

    keeps: Keeps
    store: Store
    who: Who
    found: int


@dataclass(frozen=True)
class AnswerOptions:
    #: Whether no other guild of the bot gives a reason to keep data.
    is_last: Callable[[], Awaitable[bool]]
    #: Whether the guild of the task has a reason to keep data: the user is back.
    is_back: Callable[[], Awaitable[bool]]
    #: Whether the service has failed with an error, and no store.
    is_fault: Callable[[Exception], bool]
    on_error: Callable[[Exception], Awaitable[None]]
    is_dry_run: bool
    #: Raises Stopped once the holder is stopped.
    check: Callable[[], None]


async def answer_to(task: Task, who: Who, places: List[Place], options: AnswerOptions) -> Dict[str, Any]:
    """Erases the subject of a task in every place, and looks again. An error of one store does not keep the others. What is
    kept is counted first, and again after all erasures: a foreign key may erase it too.

    Raises what is_last raises: a fault of the service is none of a store.
    """
    counts: Dict[str, int] = {}
    kept: List[_Kept] = []
    has_failed = False

    async def fail(error: Exception, store: Store) -> None:
        nonlocal has_failed
        options.check()
        if options.is_fault(error):
            raise error
        has_failed = True
        await options.on_error(holder_error(error, store, task))

    for place in sorted(places, key=lambda one: not is_kept(one.store.keeps)):
        store = place.store
        options.check()
        try:
            require_ids(task)
            about = who
            if store.everywhere == "partly":
                about = replace(who, is_last=await options.is_last())
            elif store.everywhere and not await options.is_last():
                if is_kept(store.keeps) and not options.is_dry_run:
                    await leave_kept(task, place, options.on_error, options.check)
                elif not options.is_dry_run:
                    await leave(task, place)
                continue
            is_in_force = is_kept(store.keeps)
            noted = None if is_in_force or place.journal is None else await place.journal.erased_by(task["task_id"])
            if noted is not None and await options.is_back():
                # Erased by an earlier attempt, while another store failed. What is there now was given since.
                counts[store.name] = noted
                continue
            if is_in_force or options.is_dry_run:
                counts[store.name] = require_count(await eventual(store.count(about)))
            else:
                counts[store.name] = await erased(task, about, place)
            if is_in_force and store.keeps is not None:
                if counts[store.name] > 0:
                    kept.append(_Kept(store.keeps, store, about, counts[store.name]))
                if not options.is_dry_run:
                    await leave_kept(task, place, options.on_error, options.check)
        except Stopped:
            raise
        except Exception as error:
            await fail(error, store)
    for one in [] if options.is_dry_run else kept:
        options.check()
        try:
            left = counts[one.store.name] = require_count(await eventual(one.store.count(one.who)))
            if left < one.found:
                raise RuntimeError(f"Only {left} of {one.found} kept rows are left. {_CASCADE}")
        except Stopped:
            raise
        except Exception as error:
            await fail(error, one.store)
    if has_failed:
        return {"result": "failed", "counts": counts}
    if kept:
        return {"result": "kept", "counts": counts, "kept": _together([one.keeps for one in kept])}
    return {"result": "erased" if any(counts.values()) else "nothing", "counts": counts}


def is_kept(keeps: Optional[Keeps]) -> bool:
    """Whether the rows of a store have to be kept now."""
    return keeps is not None and moment(keeps.until) > datetime.now(timezone.utc)


async def leave(task: Task, place: Place) -> None:
    """A store that is left or kept is done: a later start must not erase what the user gives who has come back."""
    if place.journal is not None:
        await place.journal.leave(task)


async def leave_kept(
    task: Task, place: Place, on_error: Callable[[Exception], Awaitable[None]], check: Callable[[], None]
) -> None:
    """What is kept is answered also where the bot may note nothing."""
    try:
        await leave(task, place)
    except Exception as error:
        check()
        await on_error(holder_error(error, place.store, task))


async def erased(task: Task, who: Who, place: Place) -> int:
    """Erases in one place, and answers what was found by the first attempt.

    Raises RuntimeError where the second look finds something.
    """
    store, journal = place.store, place.journal
    found = require_count(await eventual(store.count(who)))
    first = found if journal is None else await journal.begin(task, found)
    if found > 0:
        await eventual(store.erase(who))
        left = require_count(await eventual(store.count(who)))
        if left > 0:
            raise RuntimeError(f"The second look still finds {left} of {found}.")
    if journal is not None:
        await journal.end(task, first)
    return first


def holder_error(error: Exception, store: Store, task: Optional[Task] = None) -> HolderError:
    """The error of a store in words without the ids of the task. The words of a driver may quote them."""
    # SQLAlchemy adds the statement, and drivers of PostgreSQL a second line with the values.
    cause = getattr(error, "orig", None) or error
    words = (str(cause).splitlines() or [type(cause).__name__])[0]
    for name in ("user_id", "guild_id"):
        id = "" if task is None else str(task[name])
        words = words.replace(id, "…") if len(id) > 3 else words
    codes = (getattr(cause, name, None) for name in ("sqlstate", "pgcode", "sqlite_errorname", "code"))
    return HolderError(
        f"{store.name}: {words}",
        store=store.name,
        task_id=None if task is None else str(task["task_id"]),
        code=next((code for code in codes if isinstance(code, str)), None),
    )


def has_lost_ids(task: Task) -> bool:
    return bool(task["user_id"] == _LOST)


def require_ids(task: Task) -> None:
    """An id becomes part of a statement, of a key of Redis and of a path.

    Raises ValueError for ids of no user and of no task.
    """
    if has_lost_ids(task):
        raise ValueError("Lethe has lost the ids of this erasure in a restore: find the user elsewhere.")
    if not all(_SNOWFLAKE.fullmatch(str(task[name])) for name in ("user_id", "guild_id")):
        raise ValueError("The ids of the task are not digits: this is no answer of Lethe.")
    if not _TASK.fullmatch(str(task["task_id"])):
        raise ValueError("The id of the task is no UUID: this is no answer of Lethe.")


def require_count(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= COUNT_MAX:
        raise TypeError("count must answer a whole number of rows.")
    return count


def _together(kept: List[Keeps]) -> Dict[str, str]:
    """All bases, up to the last time."""
    basis = "; ".join(dict.fromkeys(keeps.basis for keeps in kept))[:200]
    return {"basis": basis, "until": written(max(moment(keeps.until) for keeps in kept))}
