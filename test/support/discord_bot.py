"""A bot with discord.py that has `/privacy`, and asks for consent in each command of its own."""

import asyncio
import json
import os
import sys

import discord
from discord.ext import commands

from lethe_client import AsyncLethe
from lethe_discord import PrivacyCog, Reconciled, cog, guilds


def say(**given: object) -> None:
    # In one write: what a thread says about a busy machine comes before it or after it.
    sys.stdout.write(json.dumps(given) + "\n")
    sys.stdout.flush()


class Cog(PrivacyCog):
    async def reconcile_guilds(self) -> Reconciled:
        try:
            return await super().reconcile_guilds()
        finally:
            say(ready=True)


class Bot(commands.Bot):
    async def setup_hook(self) -> None:
        options = json.loads(os.environ.get("OPTIONS", "{}"))
        self.lethe = AsyncLethe(os.environ["LETHE_URL"], os.environ["LETHE_KEY"], retries=options.pop("retries", 3))
        guilds.GUILDS_A_MINUTE = options.pop("guilds_a_minute", guilds.GUILDS_A_MINUTE)
        cog.FILE_MAX_BYTES = options.pop("file_max_bytes", cog.FILE_MAX_BYTES)
        on_error = lambda error: say(message=str(error), status=getattr(error, "status", None))
        self.privacy = Cog(self, self.lethe, on_error=on_error, **options)
        await self.add_cog(self.privacy)
        await self.tree.sync()


bot = Bot("!", intents=discord.Intents(guilds=True), guild_ready_timeout=0.01)


async def saved() -> str:
    return "Saved."


async def fails() -> None:
    raise RuntimeError("no birthday")


@bot.tree.command(description="Asks for consent, and continues")
async def birthday(interaction: discord.Interaction) -> None:
    await bot.privacy.ask(interaction, saved)


async def needs() -> None:
    await bot.lethe.data.submit(user_id="9" * 18, guild_id="9" * 18, category="birthday", data={"value": "x"})


@bot.tree.command(description="Asks for consent, and needs another one")
async def needing(interaction: discord.Interaction) -> None:
    await bot.privacy.ask(interaction, needs)


@bot.tree.command(description="Asks for consent, and fails")
async def failing(interaction: discord.Interaction) -> None:
    await bot.privacy.ask(interaction, fails)


@bot.tree.command(description="Asks for consent after a public deferral")
async def public(interaction: discord.Interaction) -> None:
    await interaction.response.defer()
    await bot.privacy.ask(interaction)


@bot.tree.command(description="Asks for consent after a public answer")
async def answered(interaction: discord.Interaction) -> None:
    await interaction.response.defer()
    await interaction.edit_original_response(content="Hello")
    await bot.privacy.ask(interaction)


@bot.tree.command(description="Asks for consent after a deferral for one user")
async def private(interaction: discord.Interaction) -> None:
    await interaction.response.defer(ephemeral=True)
    await bot.privacy.ask(interaction)


@bot.listen()
async def on_interaction(interaction: discord.Interaction) -> None:
    button = str((interaction.data or {}).get("custom_id", ""))
    if not button.startswith("own"):
        return
    if button.startswith("own-deferred"):
        await interaction.response.defer()
    if button.endswith("ask"):
        await bot.privacy.ask(interaction)
    else:
        await bot.privacy.failed(interaction, RuntimeError("no birthday"))


async def main() -> None:
    async with bot:
        await bot.start("token-of-the-bot")


asyncio.run(main())
