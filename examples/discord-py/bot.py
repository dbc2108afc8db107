"""A birthday bot: /birthday set, /birthday today, and /privacy."""

import logging
import os
from datetime import datetime, timezone

import discord
from aiohttp import web
from discord import app_commands
from discord.ext import commands
from lethe_client import AsyncLethe, ConsentRequiredError, InvalidRequestError, ProcessingRefusedError, WebhookHandler
from lethe_discord import DIRECT_MESSAGES, PrivacyCog, Then, scope_of

import database

lethe = AsyncLethe(os.environ["LETHE_URL"], os.environ["LETHE_KEY"])


class BirthdayBot(commands.Bot):
    async def setup_hook(self) -> None:
        self.privacy = PrivacyCog(self, lethe)
        await self.add_cog(self.privacy)
        self.tree.error(self.privacy.failed)  # logs it; a user who has objected or restricted reads that
        await self.tree.sync()
        self.holder = await database.hold(lethe)
        runner = web.ServerRunner(web.Server(webhooks.aiohttp))
        await runner.setup()
        await web.TCPSite(runner, port=int(os.environ.get("PORT", "8080"))).start()

    async def on_ready(self) -> None:
        print(f"{self.user} is ready", flush=True)

    def erased(self, event: object) -> None:
        self.holder.wake()  # the bot's own database at once, and not only within a minute
        print("A user was erased", flush=True)


bot = BirthdayBot(commands.when_mentioned, intents=discord.Intents(guilds=True))
birthday = app_commands.Group(name="birthday", description="Birthdays on this server", guild_only=True)
bot.tree.add_command(birthday)
webhooks = WebhookHandler(
    os.environ["LETHE_WEBHOOK_SECRET"],
    on={"user_forgotten": bot.erased, "consent_revoked": lambda event: print("A consent was withdrawn", flush=True)},
    lethe=lethe,
    on_error=lambda error: logging.error("A call of Lethe has failed", exc_info=error),
)


async def answer(interaction: discord.Interaction, run: Then) -> None:
    await interaction.response.defer(ephemeral=True)
    is_foreign = scope_of(interaction) == DIRECT_MESSAGES  # of a user who has installed the bot on their account
    try:
        said = "Please have this bot added to the server first." if is_foreign else await run()
        await interaction.followup.send(said)
    except ConsentRequiredError:
        await bot.privacy.ask(interaction, run)  # continues after a yes


@birthday.command(name="set", description="Save your birthday")
@app_commands.describe(day="For example 2000-02-29")
async def save(interaction: discord.Interaction, day: str) -> None:
    async def run() -> str:
        given = {"user_id": interaction.user.id, "guild_id": interaction.guild_id, "data": {"day": day}}
        try:
            await lethe.data.submit(**given, category="birthday")
        except InvalidRequestError:
            return "Please write the day like this: 2000-02-29"
        return "Your birthday is saved."

    await answer(interaction, run)


@birthday.command(name="today", description="Whose birthday is today?")
async def today(interaction: discord.Interaction) -> None:
    async def run() -> str:
        now = datetime.now(timezone.utc).strftime("%m-%d")
        saved = lethe.data.values_of_guild(guild_id=interaction.guild_id, category="birthday")
        names = [f"<@{one['user_id']}>" async for one in saved if ((one["data"] or {}).get("day") or "")[5:10] == now]
        return f"Happy birthday, {', '.join(names)}!" if names else "No one today."

    await answer(interaction, run)


@bot.tree.command(name="warn", description="Warn a member")
@app_commands.guild_only()
@app_commands.default_permissions(moderate_members=True)
@app_commands.describe(member="Who is warned", reason="What for")
async def warn(interaction: discord.Interaction, member: discord.User, reason: str) -> None:
    async def run() -> str:
        # Without a consent: the owner of the server has a legitimate interest in it (Art. 6(1)(f)).
        who = {"user_id": member.id, "guild_id": interaction.guild_id or 0}
        try:
            count = await lethe.with_consent(lambda: database.warn(**who, reason=reason), **who, category="warnings")
        except ProcessingRefusedError:  # an objection or restriction; which, is not for the moderator
            return f"No warning can be stored about <@{member.id}>."
        return f"<@{member.id}> has {count} warnings."

    await answer(interaction, run)


bot.run(os.environ["DISCORD_TOKEN"])
