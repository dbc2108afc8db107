"""What happens to the data of a guild that the bot leaves. The service keeps the schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Set

import discord

from lethe_client import AsyncLethe, CallOptions, NotFoundError

from ._turn import DIRECT_MESSAGES

#: A bot in many guilds waits for the limiter of the service, which begins anew each minute.
_PATIENT = CallOptions(timeout=150.0)


async def guild_joined(lethe: AsyncLethe, guild_id: str) -> None:
    """The bot is in a guild: a deletion that was scheduled for it is cancelled."""
    await lethe.servers.register(guild_id=guild_id, options=_PATIENT)


async def guild_left(lethe: AsyncLethe, guild_id: str, grace_days: int) -> None:
    """The bot has left a guild: the service erases its users after the days of grace, also if the bot does not run then."""
    try:
        await lethe.servers.delete(guild_id=guild_id, grace_days=grace_days, options=_PATIENT)
    except NotFoundError:
        # Only a registered guild can be deleted, and users can have data in one that is not.
        await guild_joined(lethe, guild_id)
        await lethe.servers.delete(guild_id=guild_id, grace_days=grace_days, options=_PATIENT)


@dataclass(frozen=True)
class Reconciled:
    joined: List[str]
    left: List[str]


async def reconcile_guilds(lethe: AsyncLethe, client: discord.Client, grace_days: int = 7) -> Reconciled:
    """Finds what happened while the bot did not run. Discord is asked for the guilds of all shards.

    Raises ValueError where the token is that of another bot; nothing is scheduled then.
    """
    me, own = await lethe.bots.me(), client.user
    if own is None or me["platform_bot_id"] != str(own.id):
        raise ValueError("The key of Lethe and the token of Discord are of different bots.")
    # Before the guilds: one that the bot joins meanwhile is not known as registered, and so not taken for one it has left.
    known = {server["guild_id"]: server["deletion_scheduled_for"] is not None async for server in lethe.servers.list()}
    guilds: Set[str] = {str(guild.id) async for guild in client.fetch_guilds(limit=None)}
    joined = [guild for guild in guilds if known.get(guild) is not False]
    left = [
        guild
        for guild, is_scheduled in known.items()
        if not is_scheduled and guild not in guilds and guild != DIRECT_MESSAGES
    ]
    for guild in left:
        await guild_left(lethe, guild, grace_days)
    for guild in joined:
        await guild_joined(lethe, guild)
    return Reconciled(joined, left)
