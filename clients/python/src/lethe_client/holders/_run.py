"""The loop of a holder, for either client."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextvars import ContextVar
from datetime import date, datetime, timezone
from typing import Any, Callable, Iterable, List, Mapping, Optional, Sequence, Set, Type, Union, overload

from .. import _core
from .._async import AsyncLethe
from .._sync import Lethe
from ..errors import LetheError
from ._answer import Place, Stopped
from ._journal import Journal
from ._limited import eventual, limited
from ._rounds import HolderRounds, Round, RoundOptions
from ._service import HolderClient, HolderService
from ._statement import Signer
from ._store import HolderError, Store, moment

#: The longest pause after rounds that failed as a whole.
_PAUSE_MAX_SECONDS = 900.0
_SECONDS_MAX = 2_147_483.0
_LOST = (
    "was not known to the service, as after a restore, and is declared again. Erasures meanwhile may have no task: "
    "compare your users with GET /users."
)
_UNDECLARED = "A dry run declares no holder: run lethe holders push before, which erases nothing."
_LOG = logging.getLogger("lethe_client.holders")

#: For code that a call of `on_task` or `on_error` runs: its holder and its task. Empty once the call has ended.
_CALLERS: "ContextVar[Sequence[Any]]" = ContextVar("lethe_holder_callers", default=())

OnError = Callable[[Exception], Any]
OnTask = Callable[[Mapping[str, Any]], Any]


class _Rounds:
    """What both loops do."""

    #: Why the declaration was refused, which is reported once.
    _reported = ""
    #: Whether the service did not know it, which is reported once it is declared again: here, or by `lethe holders push`.
    _is_lost = False

    def __init__(
        self,
        lethe: HolderClient,
        key: str,
        label_de: Optional[str],
        label_en: Optional[str],
        stores: Iterable[Union[Store, Iterable[Store]]],
        private_key: Any,
        every_seconds: float,
        store_timeout_seconds: float,
        on_error: Optional[OnError],
        on_task: Optional[OnTask],
        dry_run: bool,
    ) -> None:
        _core.require_number("every_seconds", every_seconds, 1, _SECONDS_MAX)
        _core.require_number("store_timeout_seconds", store_timeout_seconds, 1, _SECONDS_MAX)
        given = _required([one for each in stores for one in ([each] if isinstance(each, Store) else each)])
        signer = None if private_key is None else Signer(private_key)
        self._wanted: Mapping[str, Any] = {
            "key": key,
            **({"label_de": label_de} if label_de else {}),
            **({"label_en": label_en} if label_en else {}),
            "covers": [store.name for store in given],
            "public_key": None if signer is None else signer.public_key,
        }
        self._is_dry_run, self._is_declared = dry_run, False
        self._every, self._failures = every_seconds, 0
        self._on_error, self._on_task = on_error, on_task
        self._service = HolderService(lethe, key, signer)
        places = [_place(limited(store, store_timeout_seconds), key) for store in given]
        self._rounds = HolderRounds(self._service, places, RoundOptions(dry_run, self._report, self._tell))

    async def _round(self) -> Round:
        self._service.check()
        was_declared = self._is_declared
        if not was_declared and not self._is_dry_run:
            await self._declare()
        try:
            done = await self._rounds.run()
        except LetheError as error:
            if self._is_dry_run and error.status == 404:
                raise HolderError(f"{_UNDECLARED} Lethe answered: {error}") from error
            # The service has lost it, as by a backup from before the declaration.
            if not was_declared or error.status != 404:
                raise
        else:
            await self._report_loss()
            return done
        self._is_lost = True
        await self._declare()
        await self._report_loss()
        return await self._rounds.run()

    async def _report_loss(self) -> None:
        if self._is_lost:
            self._is_lost = False
            await self._report(HolderError(f"The holder {self._wanted['key']} {_LOST}"))

    async def _declare(self) -> None:
        """A holder that is declared otherwise still has tasks: a table that the key may not add keeps no erasure of the others."""
        refused = await self._service.declare(self._wanted)
        self._is_declared = refused is None
        if refused is not None and str(refused) != self._reported:
            self._reported = str(refused)
            await self._report(refused)

    def _pause(self, has_failed: bool) -> float:
        self._failures = self._failures + 1 if has_failed else 0
        if not has_failed:
            return self._every
        return max(self._every, min(_PAUSE_MAX_SECONDS, self._every * 2.0 ** min(self._failures, 20)))

    async def _tell(self, task: Mapping[str, Any]) -> None:
        if self._on_task is None:
            return
        try:
            await self._call(self._on_task, {**task, "dry_run": True} if self._is_dry_run else task)
        except Exception as error:
            await self._report(error)

    async def _report(self, error: Exception) -> None:
        if self._on_error is None:
            _LOG.warning("%s", error)
            return
        try:
            await self._call(self._on_error, error)
        except Exception:
            _LOG.warning("on_error itself has failed.")

    async def _call(self, function: Callable[[Any], Any], given: Any) -> None:
        callers: List[Any] = [self, asyncio.current_task()]
        before = _CALLERS.set(callers)
        try:
            await eventual(function(given))
        finally:
            _CALLERS.reset(before)
            callers.clear()


class AsyncHolder(_Rounds):
    """A holder in the event loop of a bot."""

    _running: Optional["asyncio.Task[Round]"] = None
    _loop: Optional["asyncio.Task[None]"] = None
    #: Whether a round is to begin that has not begun.
    _is_woken = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._wakes: Set["asyncio.Task[None]"] = set()

    async def once(self) -> Round:
        """Does a round now, or waits for the one that runs. Raises LetheError where the service does not answer."""
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._round())
        # Who waits no more ends no round for the others.
        return await asyncio.shield(self._running)

    def wake(self) -> None:
        """Begins a round as soon as none runs, in the running event loop: what to do for the events `user_forgotten` and
        `holder_task`, whose task a round that runs may not have seen. What fails is reported."""
        if self._is_woken:
            return
        loop = asyncio.get_running_loop()
        self._is_woken = True
        wake = loop.create_task(self._woken())
        self._wakes.add(wake)
        wake.add_done_callback(self._wakes.discard)

    async def _woken(self) -> None:
        try:
            if self._running is not None and not self._running.done():
                await asyncio.wait([self._running])
        finally:
            self._is_woken = False
        try:
            await self.once()
        except Stopped:
            pass
        except Exception as error:
            await self._report(error)

    def start(self) -> None:
        """Does a round now and every `every_seconds` from now on, as a task of the running event loop."""
        self._service.check()
        if self._loop is None:
            self._loop = asyncio.get_running_loop().create_task(self._turns())

    async def stop(self) -> None:
        """Ends the loop, and returns once the store that is being erased has answered or has no time left. Within `on_task` and
        `on_error`, which the round waits for, it returns at once: no store is called after them."""
        self._service.end()
        callers = _CALLERS.get()
        if self._loop is not None and self._loop not in callers:
            self._loop.cancel()
        waiting: List["asyncio.Task[Any]"] = [task for task in (self._loop, self._running, *self._wakes) if task is not None]
        if self not in callers:
            # Who waits no more ends no round.
            await asyncio.shield(asyncio.gather(*waiting, return_exceptions=True))

    async def _turns(self) -> None:
        while True:
            has_failed = False
            try:
                await self.once()
            except Exception as error:
                has_failed = True
                await self._report(error)
            if self._service.has_ended:
                return
            await asyncio.sleep(self._pause(has_failed))


class Holder(_Rounds):
    """A holder of a program without an event loop."""

    _thread: Optional[threading.Thread] = None
    #: The one that does a round.
    _at_turn: Optional[threading.Thread] = None

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._turn, self._has_ended = threading.Lock(), threading.Event()

    def once(self) -> Round:
        """Does a round now, after the one that runs. Raises LetheError where the service does not answer."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            with self._turn:
                self._at_turn = threading.current_thread()
                try:
                    return asyncio.run(self._round())
                finally:
                    self._at_turn = None
        raise RuntimeError("once() of Lethe would hold the event loop: use AsyncLethe.")

    def start(self) -> None:
        """Does a round now and every `every_seconds` from now on, in a thread that does not keep the process."""
        self._service.check()
        if self._thread is None:
            self._thread = threading.Thread(target=self._turns, name="lethe-holder", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the loop, and returns once the call that runs has answered or has no time left. Within `on_task` and
        `on_error`, and in the thread of a round, it returns at once: the loop, which may wait for this round, ends after it."""
        self._service.end()
        self._has_ended.set()
        is_called_by_round = self in _CALLERS.get() or threading.current_thread() in (self._thread, self._at_turn)
        if self._thread is not None and not is_called_by_round:
            self._thread.join()

    def _turns(self) -> None:
        while not self._has_ended.is_set():
            has_failed = False
            try:
                self.once()
            except Exception as error:
                if self._has_ended.is_set():
                    return
                has_failed = True
                asyncio.run(self._report(error))
            self._has_ended.wait(self._pause(has_failed))


@overload
def run_holder(
    lethe: AsyncLethe,
    *,
    key: str,
    stores: Iterable[Union[Store, Iterable[Store]]],
    label_de: Optional[str] = None,
    label_en: Optional[str] = None,
    private_key: Any = None,
    every_seconds: float = 60,
    store_timeout_seconds: float = 120,
    on_error: Optional[OnError] = None,
    on_task: Optional[OnTask] = None,
    dry_run: bool = False,
) -> AsyncHolder: ...


@overload
def run_holder(
    lethe: Lethe,
    *,
    key: str,
    stores: Iterable[Union[Store, Iterable[Store]]],
    label_de: Optional[str] = None,
    label_en: Optional[str] = None,
    private_key: Any = None,
    every_seconds: float = 60,
    store_timeout_seconds: float = 120,
    on_error: Optional[OnError] = None,
    on_task: Optional[OnTask] = None,
    dry_run: bool = False,
) -> Holder: ...


def run_holder(
    lethe: HolderClient,
    *,
    key: str,
    stores: Iterable[Union[Store, Iterable[Store]]],
    label_de: Optional[str] = None,
    label_en: Optional[str] = None,
    private_key: Any = None,
    every_seconds: float = 60,
    store_timeout_seconds: float = 120,
    on_error: Optional[OnError] = None,
    on_task: Optional[OnTask] = None,
    dry_run: bool = False,
) -> Union[AsyncHolder, Holder]:
    """A holder of the bot: every erasure in Lethe is done in the stores too, in their order.

    `await once()` does one round, `start()` one a minute, until `await stop()`; with `Lethe` the three are plain methods. The
    process may end at any moment, and several processes may run the same holder. `key` is a slug, `label_de` and `label_en` are
    what users read in the evidence of their erasure (by default as they are declared already, or else `key`). `private_key`, an Ed25519 key in PEM or an
    `Ed25519PrivateKey`, signs each answer. One call of a store fails after `store_timeout_seconds`. `on_error` gets what failed,
    in words without ids; without it the log `lethe_client.holders` does. `on_task` gets each task that was answered. With `dry_run` the
    rows are counted and reported to `on_task`, and nothing changes, here or in Lethe: `result` and `answered` are what a real run
    would answer, and each task has `dry_run`.

    Raises TypeError and ValueError for options that cannot work, and ImportError for `private_key` without `cryptography`.
    """
    if not isinstance(lethe, (AsyncLethe, Lethe)):
        raise TypeError("The first argument must be an AsyncLethe or a Lethe.")
    made: Type[Union[AsyncHolder, Holder]] = AsyncHolder if isinstance(lethe, AsyncLethe) else Holder
    return made(
        lethe, key, label_de, label_en, stores, private_key, every_seconds, store_timeout_seconds, on_error, on_task, dry_run
    )


def _place(store: Store, key: str) -> Place:
    return Place(store, None if store.marks is None else Journal(store.marks, f"{key}/{store.name}"))


def _required(stores: List[Store]) -> List[Store]:
    """Raises TypeError for what is no store, and ValueError for stores that cannot be told apart."""
    if not 1 <= len(stores) <= 50:
        raise ValueError("A holder has 1 to 50 stores.")
    names: List[str] = []
    for store in stores:
        if not isinstance(store, Store):
            raise TypeError("stores must be a list of Store.")
        if not 1 <= len(store.name) <= 64:
            raise ValueError(f"The name of a store has 1 to 64 characters: {store.name}")
        if store.name in names:
            raise ValueError(f"Two stores are called {store.name}: give one of them another name.")
        names.append(store.name)
        if store.keeps is not None and not (1 <= len(store.keeps.basis) <= 200 and _is_time(store.keeps.until)):
            raise ValueError(f"keeps of {store.name} needs a basis of 1 to 200 characters, and a day or a time with its zone as until.")
    return stores


def _is_time(at: Union[str, date]) -> bool:
    """A text with a time has its zone, and the service has no time from the year 10000 on."""
    try:
        moment(at).astimezone(timezone.utc)
        is_zoned = not isinstance(at, str) or len(at) == 10 or datetime.fromisoformat(at.replace("Z", "+00:00")).tzinfo is not None
    except (ValueError, AttributeError, OverflowError):
        return False
    return is_zoned
