"""Walks the tasks of one holder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Set, Tuple

from ..errors import LetheError
from ._answer import AnswerOptions, Place, Stopped, Task, answer_to, erased, has_lost_ids, holder_error, is_kept, leave, leave_kept, require_ids
from ._export import export_of
from ._journal import BEGINNING, Journal
from ._limited import eventual
from ._service import Elsewhere, HolderService
from ._store import BOT_WIDE, HolderError, Store, Who, written

#: A task that failed n times in a row waits for 2ⁿ − 1 rounds, and for this many at most.
_WAIT_MAX = 63
_FINAL = ("erased", "nothing", "kept", "abandoned")


@dataclass
class Round:
    """What a round did."""

    #: Tasks with a final answer.
    answered: int = 0
    #: Tasks that failed, and are tried again.
    failed: int = 0
    #: Erasures that were done again, in stores that were restored from a backup.
    repeated: int = 0
    #: What was found, by the name of the store.
    found: Dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RoundOptions:
    is_dry_run: bool
    on_error: Callable[[Exception], Awaitable[None]]
    on_task: Callable[[Mapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class _Failing:
    times: int = 0
    waits: int = 0

    def once_more(self) -> "_Failing":
        times = self.times + 1
        return _Failing(times, min(_WAIT_MAX, 2 ** min(times, 10) - 1))

    def later(self) -> "_Failing":
        return replace(self, waits=self.waits - 1)


def _act(task: Task) -> str:
    return str(task.get("act", "erase"))


class HolderRounds:
    """Rounds of one object do not overlap."""

    def __init__(self, service: HolderService, places: List[Place], options: RoundOptions) -> None:
        self._service, self._places, self._options = service, places, options
        self._failing: Dict[str, _Failing] = {}
        self._catching_up: Optional[_Failing] = _Failing()
        #: The time of the newest task that every store has done.
        self._newest = BEGINNING
        #: Up to which time the journals were settled last.
        self._settled = ""
        #: Acts that were reported, since this version knows nothing of them.
        self._unknown_acts: Set[str] = set()

    async def run(self) -> Round:
        """Raises LetheError where the service does not answer; the rest is left for the next round."""
        done = Round()
        self._service.begin()
        is_first = self._catching_up is not None
        if self._catching_up is not None:
            await self._catch_up(done, self._catching_up)
        failing: Dict[str, _Failing] = {}
        oldest = ""
        async for task in self._service.open():
            self._service.check()
            if not await self._is_known(task):
                continue
            before = self._failing.get(task["task_id"], _Failing())
            if before.waits > 0:
                failing[task["task_id"]] = before.later()
                done.failed += 1
            elif await self._is_answered(task, done):
                done.answered += 1
                self._saw(task)
                continue
            else:
                failing[task["task_id"]] = before.once_more()
                done.failed += 1
            # A task without ids fails at each round, and no store can do it: the notes do not wait for it.
            if _act(task) == "erase" and not has_lost_ids(task):
                oldest = oldest or task["created_at"]
        self._failing = failing

        def time() -> str:
            """What failed is in the list, and may be older than all that was done."""
            return oldest if oldest and oldest < self._newest else self._newest

        is_moving = time() != self._settled and (not is_first or done.answered > 0)
        if is_moving and self._catching_up is None and not self._options.is_dry_run:
            # A process without one of the stores may have answered tasks, which no later list has.
            self._catching_up = _Failing()
            await self._catch_up(done, self._catching_up)
        await self._settle(time())
        return done

    def _saw(self, task: Task) -> None:
        if _act(task) == "erase":
            # The clock of the service may be ahead: nothing is known of a time to come.
            now = written(datetime.now(timezone.utc))
            self._newest = max(self._newest, min(task["created_at"], now))

    async def _is_known(self, task: Task) -> bool:
        """A task that asks for something else is no erasure: it is left alone, and reported once for each act."""
        act = _act(task)
        if act in ("erase", "export"):
            return True
        name = act if re.fullmatch("[a-z_]{1,30}", act) else "unknown"
        if name not in self._unknown_acts:
            self._unknown_acts.add(name)
            words = f"A task has the act {name}, which this version of lethe-client does not know. It is left alone: install a newer one."
            await self._options.on_error(HolderError(words, task_id=task["task_id"]))
        return False

    async def _is_answered(self, task: Task, done: Round) -> bool:
        options, check = self._options, self._service.check
        elsewhere = self._service.elsewhere(task)
        who = await self._scope(task, elsewhere)
        if _act(task) == "export":
            given = await export_of(task, who, self._places, options.on_error, check)
            told = {name: given[name] for name in ("result", "counts")}
            # The numbers stay in the bot: the data has its own.
            answer = {name: given[name] for name in ("result", "data") if name in given}
        else:
            how = AnswerOptions(elsewhere.is_last, elsewhere.is_back, self._service.is_fault, options.on_error, options.is_dry_run, check)
            told = answer = await answer_to(task, who, self._places, how)
            for name, count in answer["counts"].items():
                done.found[name] = done.found.get(name, 0) + count
        if not await self._is_taken(task, answer):
            return False
        await options.on_task({"task_id": task["task_id"], "act": _act(task), **told})
        return bool(answer["result"] != "failed")

    async def _is_taken(self, task: Task, answer: Mapping[str, Any]) -> bool:
        """Whether the service has taken an answer. A dry run sends none."""
        if self._options.is_dry_run:
            return True
        try:
            await self._service.acknowledge(task, answer)
        except LetheError as error:
            # A refusal is about this task. All else is about the service, and so about every task.
            if error.status not in (400, 409, 413):
                raise
            await self._options.on_error(error)
            return False
        return True

    async def _catch_up(self, done: Round, before: _Failing) -> None:
        """Repeats every erasure that Lethe has an answer for and a store knows nothing of: it was restored from a backup, or the
        process that answered has no such store."""
        if before.waits > 0:
            self._catching_up = before.later()
            return
        is_complete = True

        async def did(store: Store, task: Optional[Task], act: Callable[[], Awaitable[bool]]) -> bool:
            nonlocal is_complete
            self._service.check()
            try:
                return await act()
            except Stopped:
                raise
            except Exception as error:
                self._service.check()
                if self._service.is_fault(error):
                    raise
                is_complete = False
                await self._options.on_error(holder_error(error, store, task))
                return False

        known: List[Tuple[Place, Journal]] = []
        for place in self._places:
            if place.journal is not None and await did(place.store, None, place.journal.load):
                known.append((place, place.journal))
        if known:
            async for task in self._service.since(min(journal.begins for _, journal in known)):
                # The answer of an export is no reason to erase.
                if _act(task) != "erase":
                    continue
                # An erasure without its ids cannot be repeated, and was reported when its task was open.
                if task["result"] not in _FINAL or has_lost_ids(task):
                    continue
                elsewhere = self._service.elsewhere(task)
                for place, journal in known:
                    if await did(place.store, task, self._repeating(place, journal, task, elsewhere)):
                        done.repeated += 1
                self._saw(task)
        self._catching_up = None if is_complete else before.once_more()

    def _repeating(
        self, place: Place, journal: Journal, task: Task, elsewhere: Elsewhere
    ) -> Callable[[], Awaitable[bool]]:
        async def act() -> bool:
            store = place.store
            require_ids(task)
            if task["created_at"] < journal.begins or await journal.is_done_anywhere(task["task_id"]):
                return False
            is_dry_run = self._options.is_dry_run
            is_left = is_kept(store.keeps) or (store.everywhere is True and not await elsewhere.is_last())
            # A table that was declared just now can hold new rows of a user who is back. So can a kept store: an older version wrote no note for it.
            is_unsure = journal.is_new or (
                store.keeps is not None and task["result"] == "kept" and journal.has_passed(task["created_at"])
            )
            if is_left or (is_unsure and await elsewhere.is_back()):
                if is_kept(store.keeps) and not is_dry_run:
                    await leave_kept(task, place, self._options.on_error, self._service.check)
                elif not is_dry_run:
                    await leave(task, place)
                return False
            who = await self._scope(task, elsewhere)
            if store.everywhere == "partly":
                who = replace(who, is_last=await elsewhere.is_last())
            if is_dry_run:
                return await eventual(store.count(who)) > 0
            return await erased(task, who, place) > 0

        return act

    async def _scope(self, task: Task, elsewhere: Elsewhere) -> Who:
        """A user about whom Lethe holds nothing outside the bot-wide scope is erased in every guild. What Lethe keeps in a guild, the bot
        may keep too."""
        every_guild = task["guild_id"] == BOT_WIDE and await elsewhere.is_alone()
        return Who(task["user_id"], task["guild_id"], every_guild)

    async def _settle(self, time: str) -> None:
        if self._options.is_dry_run or self._catching_up is not None:
            return
        for place in self._places:
            try:
                if place.journal is not None:
                    await place.journal.settle(time)
            except Exception as error:
                await self._options.on_error(holder_error(error, place.store))
        self._settled = time
