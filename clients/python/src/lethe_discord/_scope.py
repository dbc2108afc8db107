"""Where a person is filed: under the server of an interaction, or in the bot-wide scope."""

from __future__ import annotations

from typing import Any, Callable, Optional

import discord

from ._turn import DIRECT_MESSAGES


def scope_of(interaction: discord.Interaction) -> str:
    """The `guild_id` under which everything about the user of an interaction is filed. Take it in every command of your own.

    It is the server if the bot is installed in it, else the bot-wide scope: that of direct messages and private channels, and of
    users who have installed the bot on their account and use it in any server. Nothing that such a server says of its members
    is believed.
    """
    return guild_of(interaction) or DIRECT_MESSAGES


def guild_of(interaction: discord.Interaction) -> Optional[str]:
    """The server of an interaction, if the bot is installed in it."""
    guild_id = interaction.guild_id
    return None if guild_id is None or not _is_installed_in(interaction) else str(guild_id)


def _is_installed_in(interaction: discord.Interaction) -> bool:
    """Whether the server of an interaction has installed the bot."""
    # Since 2.4 of discord.py.
    asks: Optional[Callable[[], bool]] = getattr(interaction, "is_guild_integration", None)
    if asks is not None:
        return asks() or _is_of_older_interface(interaction)
    # Before it an interaction does not say so. The bot knows the servers that it is in, but without the intent for them
    # not those that it joins later.
    client: Any = interaction.client
    return interaction.guild is not None or not client.intents.guilds


def _is_of_older_interface(interaction: Any) -> bool:
    """Whether it is said neither who has installed the bot nor in which context, as before there were such users."""
    context = getattr(interaction, "context", None)
    places = ("guild", "dm_channel", "private_channel")
    # No interface of discord.py tells who else has installed it.
    return not getattr(interaction, "_integration_owners", {}) and not any(getattr(context, place, False) for place in places)
