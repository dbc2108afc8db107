"""Messages as discord.py sends them."""

from __future__ import annotations

import io
from contextlib import suppress
from dataclasses import replace
from typing import Any, Awaitable, Callable, Dict, List, Optional

import discord
from discord.utils import MISSING

from ._reply import Reply

# What Discord answers to a message that it does not take, at no attempt.
_REFUSED = (400, 413)
# What it answers where it takes no message any more: the token is over, or the interaction is not known.
_CLOSED = (401, 403, 404)
Failed = Callable[[Exception], Reply]


async def go_on(interaction: discord.Interaction, following: Callable[[], Awaitable[Optional[Reply]]]) -> None:
    """Sends what follows an answer, if anything does."""
    reply = await following()
    if reply is not None:
        await _send(interaction, reply)


async def add(interaction: discord.Interaction, reply: Reply, failed: Failed) -> None:
    """Answers an interaction that the bot has answered itself."""
    given, pressed = await interaction.original_response(), interaction.message
    # The message of a button, menu or form of the bot is left as it is.
    if pressed is None or given.id != pressed.id:
        if given.flags.ephemeral:
            await edit(interaction, reply, failed)
            return
        # Discord puts the first message after a public deferral in its place, for everybody to see.
        if given.flags.loading:
            await interaction.delete_original_response()
    await _sent(reply, failed, lambda message: _send(interaction, message))


async def _send(interaction: discord.Interaction, reply: Reply) -> None:
    await interaction.followup.send(
        reply.content,
        embeds=_embeds(reply),
        files=_files(reply),
        view=_view(reply),
        allowed_mentions=discord.AllowedMentions.none(),
        ephemeral=True,
    )


async def edit(interaction: discord.Interaction, reply: Reply, failed: Failed) -> None:
    await _sent(reply, failed, lambda message: _edit(interaction, message))


async def _sent(reply: Reply, failed: Failed, send: Callable[[Reply], Awaitable[None]]) -> None:
    """A message that Discord does not take is a failure that the user reads, in place of a deferral that never ends."""
    try:
        await send(reply)
    except Exception as error:
        status = getattr(error, "status", None)
        # Files may have taken longer than the client waits.
        if status not in _REFUSED and (not reply.files or status in _CLOSED):
            raise
        said = replace(failed(error), is_note=True)
        # It is reported already.
        with suppress(Exception):
            await send(said)


async def _edit(interaction: discord.Interaction, reply: Reply) -> None:
    """Puts an answer in the place of the one before. Files of an earlier answer are removed, unless the reply leaves them."""
    await interaction.edit_original_response(
        content=reply.content,
        embeds=MISSING if reply.is_note else _embeds(reply),
        attachments=MISSING if reply.is_note or reply.keeps_files else _files(reply),
        view=MISSING if reply.is_note else _view(reply),
        allowed_mentions=discord.AllowedMentions.none(),
    )


def _embeds(reply: Reply) -> List[discord.Embed]:
    return [discord.Embed.from_dict(embed) for embed in reply.embeds]


def _files(reply: Reply) -> List[discord.File]:
    return [discord.File(io.BytesIO(data), name) for name, data in reply.files]


def _view(reply: Reply) -> discord.ui.View:
    """The components as discord.py sends them. It keeps no state of them: presses arrive at `on_interaction`."""
    view = discord.ui.View(timeout=None)
    for at, each in enumerate(reply.components):
        for one in each["components"]:
            view.add_item(_button(one, at) if one["type"] == 2 else _select(one, at))
    view.stop()
    return view


def _button(given: Dict[str, Any], row: int) -> discord.ui.Button[discord.ui.View]:
    return discord.ui.Button(
        style=discord.ButtonStyle(given["style"]),
        label=given["label"],
        custom_id=given.get("custom_id"),
        url=given.get("url"),
        disabled=given.get("disabled", False),
        row=row,
    )


def _select(given: Dict[str, Any], row: int) -> discord.ui.Select[discord.ui.View]:
    return discord.ui.Select(
        custom_id=given["custom_id"],
        placeholder=given["placeholder"],
        min_values=given["min_values"],
        max_values=given["max_values"],
        options=[discord.SelectOption(**option) for option in given["options"]],
        row=row,
    )
