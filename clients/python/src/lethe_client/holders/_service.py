"""The part of the service that one holder speaks to."""

from __future__ import annotations

import asyncio
import inspect
from datetime import datetime, timezone
from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Set, Union

from .._async import AsyncLethe
from .._sync import Lethe
from ..errors import LetheError
from ._answer import Stopped, Task
from ._export import digest_of
from ._statement import Signer
from ._store import HolderError, written

HolderClient = Union[AsyncLethe, Lethe]
#: What Lethe answers where it takes no declaration. All else is about the service.
_REFUSALS = (400, 403, 409)


class HolderService:
    """Of either client. Every call of the asynchronous one ends with `end`."""

    def __init__(self, lethe: HolderClient, key: str, signer: Optional[Signer]) -> None:
        self._lethe, self._key, self._signer = lethe, key, signer
        self._bot_id: Optional[str] = None
        self._call: Optional["asyncio.Future[Any]"] = None
        self._has_ended = False

    def end(self) -> None:
        self._has_ended = True
        if self._call is not None:
            self._call.cancel()

    def check(self) -> None:
        if self._has_ended:
            raise Stopped("The holder was stopped.")

    async def declare(self, wanted: Mapping[str, Any]) -> Optional[HolderError]:
        """Declares the holder, or changes what differs. Answers why a holder that is there may not be changed, if its tasks can
        be done. Raises HolderError where the API key may not declare it, or change its public key."""
        there = await self._declared()
        try:
            if there is None:
                await self._answer(lambda: self._lethe.holders.register(kind="pull", **wanted))
            elif _is_other(there, wanted):
                await self._answer(lambda: self._lethe.holders.change(**wanted))
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
        return self._each(self._lethe.holders.tasks(key=self._key))

    def since(self, time: str) -> AsyncIterator[Task]:
        """The open tasks, and those that were answered at or after a time: every task that was made from it on."""
        return self._each(self._lethe.holders.tasks(key=self._key, since=time))

    async def acknowledge(self, task: Task, answer: Mapping[str, Any]) -> None:
        """Of an export the statement has the digest of the data, and not the data."""
        given: Dict[str, Any] = {"key": self._key, "task_id": task["task_id"], **answer}
        if self._signer is not None:
            about = {"bot_id": await self._own_id(), "holder": self._key, "task_id": task["task_id"]}
            said = {"result": answer["result"], "counts": answer.get("counts"), "kept": answer.get("kept")}
            digest = {"data_digest": digest_of(answer["data"])} if "data" in answer else {}
            at = written(datetime.now(timezone.utc))
            given["statement"] = self._signer.statement({**about, **said, **digest, "at": at})
        try:
            await self._answer(
                lambda: self._lethe.request("POST /holders/{key}/tasks/{task_id}/acknowledge", given)
            )
        except LetheError as error:
            # Another process of the bot has answered, or the evidence of the erasure has ended.
            if error.status != 404 and error.reason != "task_answered":
                raise

    async def guilds_of(self, user_id: str) -> Set[str]:
        """The guilds in which a consent of the user is in force."""
        accepted = self._each(self._lethe.users.list(user_id=user_id, status="accepted"))
        return {str(one["guild_id"]) async for one in accepted}

    async def _declared(self) -> Optional[Mapping[str, Any]]:
        try:
            there: Mapping[str, Any] = await self._answer(lambda: self._lethe.holders.get(self._key))
            return there
        except LetheError as error:
            if error.status == 404:
                return None
            raise

    async def _own_id(self) -> str:
        if self._bot_id is None:
            self._bot_id = str((await self._answer(self._lethe.bots.me))["id"])
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


def _is_other(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    same: List[str] = ["label_de", "label_en", "public_key"]
    return any(there[name] != wanted[name] for name in same) or sorted(there["covers"]) != sorted(wanted["covers"])
