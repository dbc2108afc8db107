"""The time of one call of a store."""

from __future__ import annotations

import asyncio
import inspect
import threading
from dataclasses import replace
from typing import Any, Callable, Mapping, Optional, Sequence, TypeVar, cast

from ._store import Eventual, Marks, Store, Who

T = TypeVar("T")


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

    threading.Thread(target=run, daemon=True, name="lethe-holder-store").start()
    return await answer


class _LimitedMarks:
    def __init__(self, marks: Marks, seconds: float) -> None:
        self._marks, self._seconds = marks, seconds

    async def all(self, of: str) -> Mapping[str, str]:
        notes: Mapping[str, str] = await _within(self._seconds, lambda: self._marks.all(of))
        return notes

    async def get(self, of: str, name: str) -> Optional[str]:
        note: Optional[str] = await _within(self._seconds, lambda: self._marks.get(of, name))
        return note

    async def put(self, of: str, name: str, note: str) -> None:
        await _within(self._seconds, lambda: self._marks.put(of, name, note))

    async def remove(self, of: str, names: Sequence[str]) -> None:
        await _within(self._seconds, lambda: self._marks.remove(of, names))


def limited(store: Store, seconds: float) -> Store:
    """A store each of whose calls fails after `seconds`.

    One that never answers holds neither the other tasks nor the end of the loop. A call that answers later has erased what
    the next attempt finds erased.
    """
    async def count(who: Who) -> int:
        found: int = await _within(seconds, lambda: store.count(who))
        return found

    async def erase(who: Who) -> None:
        await _within(seconds, lambda: store.erase(who))

    def limited_export(export: Callable[[Who], Any]) -> Callable[[Who], Any]:
        return lambda who: _within(seconds, lambda: export(who))

    return replace(
        store,
        count=count,
        erase=erase,
        marks=None if store.marks is None else _LimitedMarks(store.marks, seconds),
        export=None if store.export is None else limited_export(store.export),
    )


async def _within(seconds: float, act: Callable[[], Any]) -> Any:
    call = asyncio.ensure_future(eventual(act()))
    # wait_for would wait for the end of a call that does not let itself be cancelled.
    done, _ = await _waited(call, seconds)
    if not done:
        call.cancel()
        call.add_done_callback(_forgotten)
        raise TimeoutError(f"The store has not answered within {seconds:g} seconds.")
    return call.result()


async def _waited(call: "asyncio.Future[T]", seconds: float) -> Any:
    try:
        return await asyncio.wait({call}, timeout=seconds)
    except asyncio.CancelledError:
        call.cancel()
        call.add_done_callback(_forgotten)
        raise


def _forgotten(call: "asyncio.Future[T]") -> None:
    # An error that is not asked for is written to the log, with the words of the driver.
    if not call.cancelled():
        call.exception()
