"""`/privacy` for a bot with discord.py."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Optional, Sequence

import discord
from discord import app_commands
from discord.ext import commands

from lethe_client import AsyncLethe

from ._custom_id import is_ours
from ._declaration import declaration
from ._privacy import OnError, Privacy
from ._reply import Json, Reply
from ._scope import guild_of
from ._sending import add, edit, go_on
from ._turn import FILE_MAX_BYTES, Asked
from ._waiting import Then
from ._words import TextTable
from .guilds import GuildWatch, Reconciled

#: Answers a subcommand, with its option.
Act = Callable[[discord.Interaction, str, str], Awaitable[None]]
Answer = Callable[[], Awaitable[Reply]]
_GRACE_DAYS_MAX = 90


class PrivacyCog(commands.Cog, name="Privacy"):
    """`/privacy`, its buttons and menus, and the guilds that the bot joins and leaves.

    `consent_version` is the version of your registered texts; without one the service makes the text. `categories` are
    those that consent is asked for, at most 50; all that are declared by default. `texts` has words of further languages:
    `{"fr": {"consent_agree": "J'accepte"}}`. `confirm_seconds` is how long the button of an erasure works, and
    `grace_days` how long the data of a guild is kept after the bot has left it, 0 to 90. With `public_url`, the `PUBLIC_URL` of the
    service, its page /verify is linked beside receipts and the certificate of one server. `user_install` declares `/privacy` also
    for users who have installed the bot on their account: on every server, and in private channels. `on_error` is called for
    every failure, which is logged by default; the user gets an answer in any case.
    """

    def __init__(
        self,
        bot: commands.Bot,
        lethe: AsyncLethe,
        *,
        consent_version: Optional[str] = None,
        categories: Optional[Sequence[str]] = None,
        texts: Optional[TextTable] = None,
        confirm_seconds: int = 300,
        grace_days: int = 7,
        public_url: Optional[str] = None,
        user_install: bool = False,
        on_error: Optional[OnError] = None,
    ) -> None:
        if not 0 <= grace_days <= _GRACE_DAYS_MAX:
            raise ValueError(f"grace_days must be 0 to {_GRACE_DAYS_MAX}, not {grace_days}.")
        self._bot = bot
        self._privacy = Privacy(lethe, consent_version, categories, texts, confirm_seconds, public_url, on_error)
        self._guilds = GuildWatch(lethe, bot, grace_days, self._privacy.report)
        self._group = _PrivacyGroup(self._privacy.texts, user_install, self._commanded)

    async def cog_load(self) -> None:
        self._bot.tree.add_command(self._group)
        # After a reload no further event says so.
        if self._bot.is_ready():
            await self.on_ready()

    async def cog_unload(self) -> None:
        self._guilds.stop()
        self._bot.tree.remove_command(self._group.name)

    async def ask(self, interaction: discord.Interaction, then: Optional[Then] = None) -> None:
        """Asks the user of an interaction of your own for consent, after `ConsentRequiredError`. Only this user sees it.

        `then` continues the command: it is called once, after the consent is recorded. A text that it answers is shown to
        the user alone. Without it, after a restart and after 15 minutes, the user is asked to give the command again.
        """
        asked = _asked_of(interaction, subcommand="consent")
        await self._answered(interaction, asked, lambda: self._privacy.ask(asked, then))

    async def failed(self, interaction: discord.Interaction, error: Exception) -> None:
        """Answers an interaction of your own that failed by `error`, which is reported. A user who has objected or restricted reads
        that."""
        asked = _asked_of(interaction)

        async def answer() -> Reply:
            # A tree of commands wraps what a command has raised.
            return self._privacy.failed(asked, getattr(error, "original", error))

        await self._answered(interaction, asked, answer)

    async def reconcile_guilds(self) -> Reconciled:
        """Compares the guilds of the bot with those of the service."""
        return await self._guilds.reconcile()

    async def _commanded(self, interaction: discord.Interaction, subcommand: str, where: str) -> None:
        asked = _asked_of(interaction, subcommand=subcommand, where=where)
        await self._answered(interaction, asked, lambda: self._privacy.reply(asked))

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        data: Any = interaction.data or {}
        custom_id = str(data.get("custom_id", ""))
        if interaction.type is discord.InteractionType.component and is_ours(custom_id):
            asked = _asked_of(interaction, custom_id=custom_id, values=data.get("values", ()))
            await self._answered(interaction, asked, lambda: self._privacy.reply(asked))

    @commands.Cog.listener()
    async def on_guild_join(self, guild: discord.Guild) -> None:
        self._guilds.joined(str(guild.id))

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        self._guilds.left(str(guild.id))

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Discord does not repeat events: what happened while the bot was not connected is found here, and once a day."""
        self._guilds.start(self.reconcile_guilds)

    async def _reported(self, act: Awaitable[Any]) -> None:
        try:
            await act
        except Exception as error:
            self._privacy.report(error)

    async def _answered(self, interaction: discord.Interaction, asked: Asked, answer: Answer) -> None:
        """Defers at once, since Discord waits three seconds, and answers when the service has answered."""
        reply: Optional[Reply] = None

        def failed(error: Exception) -> Reply:
            return self._privacy.failed(asked, error)

        try:
            if interaction.response.is_done():
                reply = await answer()
                await add(interaction, reply, failed)
            else:
                message = interaction.message
                is_private = is_ours(asked.custom_id) and message is not None and message.flags.ephemeral
                # A message of /privacy that only this user sees is changed into the answer; any other is left as it is.
                await interaction.response.defer(ephemeral=True, thinking=not is_private)
                reply = await answer()
                await edit(interaction, reply, failed)
        except Exception as error:
            self._privacy.report(error)
        # Also where Discord did not take the message: the consent is recorded.
        if reply is not None and reply.following is not None:
            await self._reported(go_on(interaction, reply.following))


class _PrivacyGroup(app_commands.Group):
    """The commands of `/privacy`, declared with the texts of all languages."""

    def __init__(self, texts: TextTable, user_install: bool, act: Act) -> None:
        self._declared = declaration(texts, user_install)
        super().__init__(name=self._declared["name"], description=self._declared["description"])
        for option in self._declared["options"]:
            self.add_command(_subcommand(option, act))

    # A translator of the bot, of which a tree has one, is not asked for these texts.
    def to_dict(self, *_: Any, **__: Any) -> Json:
        return self._declared

    async def get_translated_payload(self, *_: Any, **__: Any) -> Json:
        return self._declared


def _subcommand(declared: Json, act: Act) -> "app_commands.Command[Any, Any, Any]":
    name: str = declared["name"]

    async def alone(interaction: discord.Interaction) -> None:
        await act(interaction, name, "here")

    async def somewhere(interaction: discord.Interaction, where: str = "here") -> None:
        await act(interaction, name, where)

    callback: Any = somewhere if "options" in declared else alone
    return app_commands.Command(name=name, description=declared["description"], callback=callback)


def _asked_of(interaction: discord.Interaction, **act: Any) -> Asked:
    if act.get("where", "here") != "everywhere":
        act["where"] = "here"
    return Asked(
        id=str(interaction.id),
        user_id=str(interaction.user.id),
        guild_id=guild_of(interaction),
        locale=str(interaction.locale),
        # Since 2.6 of discord.py.
        file_max_bytes=getattr(interaction, "filesize_limit", None) or FILE_MAX_BYTES,
        **act,
    )
