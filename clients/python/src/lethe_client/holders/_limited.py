"""The time of one call of a store."""

from __future__ import annotations

import asyncio
import inspect
import threading
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Callable, List, Mapping, Optional, Sequence, TypeVar, cast

from ._store import Eventual, Marks, Store, Who

T = TypeVar("T")
#: How many threads of a store may wait whose time is over.
_LATE_MAX = 8
#: The threads of the call of a store that runs.
_THREADS: "ContextVar[Optional[List[threading.Thread]]]" = ContextVar("lethe_holder_threads", default=None)


async def eventual(value: Eventual[T]) -> T:
    """The answer of a function that may be asynchronous."""
    return cast(T, await value if inspect.isawaitable(value) else value)


async def in_thread(act: Callable[[], T]) -> T:
    """Runs what waits for a disk or a server beside the event loop.

    A thread that never answers holds neither the loop nor the end of the process.
    """
    loop = asyncio.get_running_loop()
    answer: "asyncio.Future[T]" = loop.create_future()

    def settle(value: Optional[T], error: Optional[BaseException]) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(value)  # type: ignore[arg-type]
        else:
            answer.set_exception(error)

    def run() -> None:
        value: Optional[T] = None
        error: Optional[BaseException] = None
        try:
            value = act()
        except BaseException as cause:
            error = cause
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # The loop has ended: its caller waits no more.

    thread = threading.Thread(target=run, daemon=True, name="lethe-holder-store")
    thread.start()
    threads = _THREADS.get()
    if threads is not None:
        threads[:] = [thread, *filter(threading.Thread.is_alive, threads)]
    return await answer


class _Calls:
    """The calls of one store. Nothing ends a thread: while many wait whose time is over, there is no further call."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        #: Those of each call whose time was over. Such a call may add to its own.
        self._late: List[List[threading.Thread]] = []

    async def within(self, act: Callable[[], Any]) -> Any:
        """The answer of a call. Raises TimeoutError where it has no time left, or too many earlier ones have not ended."""
        self._late = [threads for threads in self._late if any(map(threading.Thread.is_alive, threads))]
        if len(self._late) >= _LATE_MAX:
            raise TimeoutError(
                f"{len(self._late)} earlier calls still wait for the store, so that there is no further one: give its client a "
                "socket timeout, as socket_timeout of redis.Redis."
            )
        threads: List[threading.Thread] = []
        before = _THREADS.set(threads)
        try:
            call = asyncio.ensure_future(eventual(act()))
        finally:
            _THREADS.reset(before)
        try:
            # wait_for would wait for the end of a call that does not let itself be cancelled.
            done, _ = await asyncio.wait({call}, timeout=self._seconds)
        except asyncio.CancelledError:
            self._leave(call, threads)
            raise
        if not done:
            self._leave(call, threads)
            raise TimeoutError(f"The store has not answered within {self._seconds:g} seconds.")
        return call.result()

    def _leave(self, call: "asyncio.Future[Any]", threads: List[threading.Thread]) -> None:
        self._late.append(threads)
        call.cancel()
        call.add_done_callback(_forgotten)


class _LimitedMarks:
    def __init__(self, marks: Marks, calls: _Calls) -> None:
        self._marks, self._calls = marks, calls

    async def all(self, of: str) -> Mapping[str, str]:
        notes: Mapping[str, str] = await self._calls.within(lambda: self._marks.all(of))
        return notes

    async def get(self, of: str, name: str) -> Optional[str]:
        note: Optional[str] = await self._calls.within(lambda: self._marks.get(of, name))
        return note

    async def put(self, of: str, name: str, note: str) -> None:
        await self._calls.within(lambda: self._marks.put(of, name, note))

    async def remove(self, of: str, names: Sequence[str]) -> None:
        await self._calls.within(lambda: self._marks.remove(of, names))


def limited(store: Store, seconds: float) -> Store:
    """A store each of whose calls fails after `seconds`.

    One that never answers holds neither the other tasks nor the end of the loop. A call that answers later has erased what
    the next attempt finds erased. A store that hangs has eight threads at most: with as many every call fails at once.
    """
    calls = _Calls(seconds)

    async def count(who: Who) -> int:
        found: int = await calls.within(lambda: store.count(who))
        return found

    async def erase(who: Who) -> None:
        await calls.within(lambda: store.erase(who))

    def limited_export(export: Callable[[Who], Any]) -> Callable[[Who], Any]:
        return lambda who: calls.within(lambda: export(who))

    return replace(
        store,
        count=count,
        erase=erase,
        marks=None if store.marks is None else _LimitedMarks(store.marks, calls),
        export=None if store.export is None else limited_export(store.export),
    )


def _forgotten(call: "asyncio.Future[T]") -> None:
    # An error that is not asked for is written to the log, with the words of the driver.
    if not call.cancelled():
        call.exception()
