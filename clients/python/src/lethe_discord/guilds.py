"""What happens to the data of a guild that the bot leaves. The service keeps the schedule."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any, Awaitable, Callable, Dict, List, Optional, Set
from weakref import WeakValueDictionary

import discord

from lethe_client import AsyncLethe, CallOptions, LetheError, NotFoundError

from ._turn import DIRECT_MESSAGES

#: A bot in many guilds waits for the limiter of the service, which begins anew each minute.
_PATIENT = CallOptions(timeout=150.0)
#: Less than half of the smallest limit, 30 requests a minute: the rest is for the members who use the bot meanwhile.
GUILDS_A_MINUTE = 12
_MINUTE, _DAY = 60.0, 86_400.0
#: No id of Discord is greater: it refuses to be asked about one.
_ID_MAX = 2**63 - 1
_PAUSE, _PAUSE_MAX = 5.0, 600.0
#: Of the guilds whose event waits for the service. One that is dropped is found by the next comparison.
WAITING_GUILDS_MAX = 1_000
#: What refuses the same request again, however often: a fault of it, of the key, or of what the key may do.
_FINAL = (400, 401, 403)

Sleep = Callable[[float], Awaitable[Any]]
Act = Callable[[], Awaitable[None]]
#: Acts for a guild, or answers False where that is no longer right.
UnlessChanged = Callable[[str, Act], Awaitable[bool]]


async def guild_joined(lethe: AsyncLethe, guild_id: str) -> None:
    """The bot is in a guild: a deletion that was scheduled for it is cancelled."""
    await lethe.servers.register(guild_id=guild_id, options=_PATIENT)


async def guild_left(lethe: AsyncLethe, guild_id: str, grace_days: int) -> None:
    """The bot has left a guild: the service erases its users after the days of grace, also if the bot does not run then."""
    try:
        await lethe.servers.delete(guild_id=guild_id, grace_days=grace_days, options=_PATIENT)
    except NotFoundError:
        # Neither registered nor with users: nothing is left to erase.
        pass


@dataclass(frozen=True)
class Reconciled:
    joined: List[str]
    left: List[str]


async def reconcile_guilds(lethe: AsyncLethe, client: discord.Client, grace_days: int = 7) -> Reconciled:
    """Finds what happened while the bot did not run. Discord is asked for the guilds of all shards, and again before each act.

    Twelve guilds a minute are scheduled or registered, so that members can use the bot meanwhile. Raises ValueError where the
    token is that of another bot; nothing is scheduled then.
    """

    async def always(_: str, act: Act) -> bool:
        await act()
        return True

    return await _compared(lethe, client, grace_days, always, asyncio.sleep)


async def _compared(
    lethe: AsyncLethe, client: discord.Client, grace_days: int, unless_changed: UnlessChanged, sleep: Sleep
) -> Reconciled:
    found, count = await _differences(lethe, client), 0
    done = Reconciled([], [])
    acts = [(guild, done.left, False, partial(guild_left, lethe, guild, grace_days)) for guild in found.left]
    acts += [(guild, done.joined, True, partial(guild_joined, lethe, guild)) for guild in found.joined]
    for guild, guilds, is_in, act in acts:
        if count > 0 and count % GUILDS_A_MINUTE == 0:
            await sleep(_MINUTE)
        count += 1
        # The lists are minutes old, and another process of the bot can have carried out an event since.
        if await _is_listed(client, guild) is not is_in:
            continue
        if await unless_changed(guild, act):
            guilds.append(guild)
    return done


class _OtherBotError(ValueError): ...


async def _require_same_bot(lethe: AsyncLethe, client: discord.Client) -> None:
    me, own = await lethe.bots.me(options=_PATIENT), client.user
    # The application of a bot of 2016 or before has another id than its user.
    if own is None or me["platform_bot_id"] not in (str(own.id), str(client.application_id)):
        raise _OtherBotError("The key of Lethe and the token of Discord are of different bots.")


async def _differences(lethe: AsyncLethe, client: discord.Client) -> Reconciled:
    await _require_same_bot(lethe, client)
    # Before the guilds: one that the bot joins meanwhile is not known as registered, and so not taken for one it has left.
    known = {
        server["guild_id"]: server["deletion_scheduled_for"] is not None
        async for server in lethe.servers.list(options=_PATIENT)
    }
    guilds: Set[str] = {str(guild.id) async for guild in client.fetch_guilds(limit=None)}
    joined = [guild for guild in guilds if known.get(guild) is not False]
    left = [
        guild
        for guild, is_scheduled in known.items()
        if not is_scheduled and guild not in guilds and guild != DIRECT_MESSAGES
    ]
    return Reconciled(joined, left)


async def _is_listed(client: discord.Client, guild_id: str) -> bool:
    """Whether the bot is in a guild now. Discord lists the guilds by their ids."""
    given = int(guild_id)
    if not 1 <= given <= _ID_MAX:
        return False
    return given in [guild.id async for guild in client.fetch_guilds(limit=1, after=discord.Object(given - 1))]


class GuildWatch:
    """Follows the guilds of a bot.

    The last event of a guild is carried out: one that fails is tried again, with growing pauses, until it succeeds, is
    refused for good or a newer one replaces it. The guilds are compared when the bot is ready and each day, and never against
    an event that came meanwhile. Every failure is reported. Nothing is done where the key of Lethe is that of another bot.
    """

    def __init__(
        self,
        lethe: AsyncLethe,
        client: discord.Client,
        grace_days: int,
        report: Callable[[BaseException], None],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._lethe, self._client, self._grace_days = lethe, client, grace_days
        self._report, self._sleep = report, sleep
        #: The last event of each guild for which it is not carried out, the oldest first.
        self._wishes: Dict[str, object] = {}
        #: An act for a guild begins after the one before.
        self._locks: "WeakValueDictionary[str, asyncio.Lock]" = WeakValueDictionary()
        #: For each comparison under way the guilds that had an event.
        self._changed: List[Set[str]] = []
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._daily: Optional["asyncio.Task[None]"] = None
        self._same: Optional["asyncio.Task[None]"] = None

    def joined(self, guild_id: str) -> None:
        self._wish(guild_id, lambda: guild_joined(self._lethe, guild_id))

    def left(self, guild_id: str) -> None:
        self._wish(guild_id, lambda: guild_left(self._lethe, guild_id, self._grace_days))

    async def reconcile(self) -> Reconciled:
        """Compares once. A guild with an event that waits, or that comes meanwhile, is left to it."""
        changed = set(self._wishes)
        self._changed.append(changed)

        async def unless_changed(guild_id: str, act: Act) -> bool:
            async with self._turn(guild_id):
                if guild_id in changed:
                    return False
                await act()
                return True

        try:
            return await _compared(self._lethe, self._client, self._grace_days, unless_changed, self._sleep)
        finally:
            self._changed = [one for one in self._changed if one is not changed]

    def start(self, compare: Callable[[], Awaitable[Any]]) -> None:
        """Compares now and each day, and after a failure again as events are tried again."""
        if self._daily is not None:
            self._daily.cancel()
        self._daily = self._task(self._compare(compare))

    def stop(self) -> None:
        """Ends all pauses. What waits is found by the comparison of the next start."""
        self._wishes.clear()
        for task in list(self._tasks):
            task.cancel()

    async def _compare(self, compare: Callable[[], Awaitable[Any]]) -> None:
        failures = 0
        while True:
            try:
                await compare()
                failures, pause = 0, _DAY
            except Exception as error:
                self._report(error)
                failures, pause = failures + 1, _pause_after(failures)
            await self._sleep(pause)

    def _wish(self, guild_id: str, act: Act) -> None:
        for guilds in self._changed:
            guilds.add(guild_id)
        self._wishes.pop(guild_id, None)
        if len(self._wishes) >= WAITING_GUILDS_MAX:
            del self._wishes[next(iter(self._wishes))]
        wish = self._wishes[guild_id] = object()
        self._task(self._carried_out(guild_id, wish, act))

    async def _carried_out(self, guild_id: str, wish: object, act: Act) -> None:
        failures = 0
        while True:
            try:
                await self._same_bot()
                async with self._turn(guild_id):
                    if self._wishes.get(guild_id) is not wish:
                        return
                    await act()
                if self._wishes.get(guild_id) is wish:
                    del self._wishes[guild_id]
                return
            except Exception as error:
                self._report(error)
                if isinstance(error, _OtherBotError) or (isinstance(error, LetheError) and error.status in _FINAL):
                    # The next comparison finds it.
                    if self._wishes.get(guild_id) is wish:
                        del self._wishes[guild_id]
                    return
            await self._sleep(_pause_after(failures))
            failures += 1

    async def _same_bot(self) -> None:
        """Returns if key and token are of one bot: asked until an answer says so, once for all that wait."""
        if self._same is None or (self._same.done() and (self._same.cancelled() or self._same.exception())):
            self._same = self._task(_require_same_bot(self._lethe, self._client))
        await asyncio.shield(self._same)

    def _turn(self, guild_id: str) -> asyncio.Lock:
        lock = self._locks.get(guild_id)
        if lock is None:
            lock = self._locks[guild_id] = asyncio.Lock()
        return lock

    def _task(self, run: Any) -> "asyncio.Task[None]":
        task: "asyncio.Task[None]" = asyncio.ensure_future(run)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _pause_after(failures: int) -> float:
    """5 seconds, then twice as long after each further failure, up to 10 minutes."""
    return min(_PAUSE_MAX, _PAUSE * 2.0 ** min(failures, 10))
