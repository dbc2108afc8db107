"""The part of the service that one holder speaks to."""

from __future__ import annotations

import asyncio
import inspect
from datetime import datetime, timezone
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Mapping, Optional, Set, Union

from .._async import AsyncLethe
from .._core import CallOptions
from .._sync import Lethe
from ..errors import LetheError
from ._answer import Stopped, Task
from ._export import digest_of
from ._statement import Signer
from ._store import HolderError, written

HolderClient = Union[AsyncLethe, Lethe]
#: What Lethe answers where it takes no declaration. All else is about the service.
_REFUSALS = (400, 403, 409)
#: A call waits for the limiter of the service, which begins anew each minute.
_PATIENT_SECONDS = 150.0
_RETRIES = 3
#: Twelve requests a minute: less than half of the smallest limit, 30. The rest is for the users of the bot.
_PAUSE_SECONDS = 5.0


class Elsewhere:
    """Where else the user of a task is known. The service is asked once for all stores."""

    def __init__(self, task: Task, ask: Callable[[str], Awaitable[List[Mapping[str, Any]]]]) -> None:
        self._task, self._ask = task, ask
        self._known: Optional[List[Mapping[str, Any]]] = None

    async def _held(self) -> List[Mapping[str, Any]]:
        if self._known is None:
            self._known = await self._ask(self._task["user_id"])
        return self._known

    async def _guilds(self) -> Set[str]:
        """Those with a reason to keep data: a consent is in force, or something is held of a user who was not asked."""
        return {str(one["guild_id"]) for one in await self._held() if _has_reason(one)}

    async def is_back(self) -> bool:
        """Whether the guild of the task itself has a reason to keep data: the user is back."""
        return self._task["guild_id"] in await self._guilds()

    async def is_last(self) -> bool:
        """Whether no other guild has a reason to keep data."""
        return await self._guilds() <= {self._task["guild_id"]}

    async def is_alone(self) -> bool:
        """Whether Lethe holds nothing at all in another guild."""
        return all(one["guild_id"] == self._task["guild_id"] for one in await self._held())


class HolderService:
    """Of either client. Every call of the asynchronous one ends with `end`. Once the service has limited a call, there is a pause
    before each one about a task, until the round ends."""

    def __init__(self, lethe: HolderClient, key: str, signer: Optional[Signer]) -> None:
        self._lethe, self._key, self._signer = lethe, key, signer
        self._bot_id: Optional[str] = None
        self._call: Optional["asyncio.Future[Any]"] = None
        self.has_ended = self._is_limited = False
        # Also with a client that repeats nothing: there is no user who waits.
        self._options = CallOptions(timeout=_PATIENT_SECONDS, retries=_RETRIES, on_retry=self._note)
        #: What the questions about other consents failed with, since the round began.
        self._faults: List[Exception] = []

    def begin(self) -> None:
        """A new round knows of no limit."""
        self._is_limited = False
        self._faults.clear()

    def _note(self, route: str, error: LetheError, seconds: float) -> None:
        self._is_limited = self._is_limited or error.status == 429

    def end(self) -> None:
        self.has_ended = True
        if self._call is not None:
            self._call.cancel()

    def check(self) -> None:
        if self.has_ended:
            raise Stopped("The holder was stopped.")

    async def declare(self, wanted: Mapping[str, Any]) -> Optional[HolderError]:
        """Declares the holder, or changes what differs. Answers why a holder that is there may not be changed, if its tasks can
        be done. Raises HolderError where the API key may not declare it, or change its public key."""
        there = await self._declared()
        try:
            if there is None:
                made: Dict[str, Any] = {"kind": "pull", "label_de": self._key, "label_en": self._key, **wanted}
                await self._answer(lambda: self._lethe.holders.register(**made, options=self._options))
            elif _is_other(there, wanted):
                await self._answer(lambda: self._lethe.holders.change(**wanted, options=self._options))
            return None
        except LetheError as error:
            # By another public key no answer of a task could be verified.
            if there is not None and there["public_key"] == wanted["public_key"] and error.status in _REFUSALS:
                return self._refused("declared otherwise", error)
            # Another process of the bot was faster.
            if error.status == 409 and await self._declared() is not None:
                return None
            if error.status != 403:
                raise
            raise self._refused("not declared" if there is None else "declared with another public key", error) from None

    def _refused(self, state: str, error: LetheError) -> HolderError:
        why = f"Lethe refuses to declare it so: {error}"
        if error.code == "insufficient_scope":
            why = "the API key lacks the scope admin: start the bot once with a key that has it, or run lethe holders push."
        return HolderError(f"The holder {self._key} is {state}, and {why}")

    def open(self) -> AsyncIterator[Task]:
        """The tasks without a final answer, oldest first."""
        return self._each(self._lethe.holders.tasks(key=self._key, options=self._options))

    def since(self, time: str) -> AsyncIterator[Task]:
        """The open tasks, and those that were answered at or after a time: every task that was made from it on."""
        return self._each(self._lethe.holders.tasks(key=self._key, since=time, options=self._options))

    async def acknowledge(self, task: Task, answer: Mapping[str, Any]) -> None:
        """Of an export the statement has the digest of the data, and not the data."""
        await self._pause()
        given: Dict[str, Any] = {"key": self._key, "task_id": task["task_id"], **answer}
        if self._signer is not None:
            about = {"bot_id": await self._own_id(), "holder": self._key, "task_id": task["task_id"]}
            said = {"result": answer["result"], "counts": answer.get("counts"), "kept": answer.get("kept")}
            digest = {"data_digest": digest_of(answer["data"])} if "data" in answer else {}
            at = written(datetime.now(timezone.utc))
            given["statement"] = self._signer.statement({**about, **said, **digest, "at": at})
        try:
            await self._answer(
                lambda: self._lethe.request("POST /holders/{key}/tasks/{task_id}/acknowledge", given, options=self._options)
            )
        except LetheError as error:
            # Another process of the bot has answered, or the evidence of the erasure has ended.
            if error.status != 404 and error.reason != "task_answered":
                raise

    def elsewhere(self, task: Task) -> Elsewhere:
        return Elsewhere(task, self._held_of)

    def is_fault(self, error: Exception) -> bool:
        """Whether the service has failed with it, and no store."""
        return any(error is fault for fault in self._faults)

    async def _held_of(self, user_id: str) -> List[Mapping[str, Any]]:
        await self._pause()
        try:
            held = self._each(self._lethe.users.list(user_id=user_id, options=self._options))
            return [one async for one in held]
        except Exception as error:
            self._faults.append(error)
            raise

    async def _pause(self) -> None:
        if not self._is_limited:
            return
        if isinstance(self._lethe, AsyncLethe):
            await self._answer(lambda: asyncio.sleep(_PAUSE_SECONDS))
        else:
            # The end comes from another thread, which may cancel nothing here.
            await asyncio.sleep(_PAUSE_SECONDS)
        self.check()

    async def _declared(self) -> Optional[Mapping[str, Any]]:
        try:
            there: Mapping[str, Any] = await self._answer(lambda: self._lethe.holders.get(self._key, options=self._options))
            return there
        except LetheError as error:
            if error.status == 404:
                return None
            raise

    async def _own_id(self) -> str:
        if self._bot_id is None:
            self._bot_id = str((await self._answer(lambda: self._lethe.bots.me(options=self._options)))["id"])
        return self._bot_id

    async def _answer(self, act: Any) -> Any:
        self.check()
        value = act()
        if not inspect.isawaitable(value):
            return value
        self._call = asyncio.ensure_future(value)
        try:
            return await self._call
        except asyncio.CancelledError:
            self.check()
            raise
        finally:
            self._call = None

    async def _each(self, listed: Any) -> AsyncIterator[Any]:
        if not hasattr(listed, "__aiter__"):
            for item in listed:
                self.check()
                yield item
            return
        items = listed.__aiter__()
        while True:
            try:
                item = await self._answer(items.__anext__)
            except StopAsyncIteration:
                return
            yield item


def _has_reason(held: Mapping[str, Any]) -> bool:
    """A guild that has asked, and has no consent in force, gives no reason to keep data: the list does not tell of values without one."""
    return held["status"] == "accepted" or (held["status"] == "none" and held["declined_at"] is None)


def _is_other(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    same = [name for name in ("label_de", "label_en", "public_key") if name in wanted]
    return any(there[name] != wanted[name] for name in same) or sorted(there["covers"]) != sorted(wanted["covers"])
