"""`/privacy` for bots with discord.py that use Lethe: pip install "lethe-client[discord]"."""

from ._scope import scope_of
from ._turn import DIRECT_MESSAGES
from ._waiting import Then
from ._words import TextTable
from .cog import PrivacyCog
from .events import DiscordEvents, deauthorized, user_deauthorized
from .guilds import Reconciled, reconcile_guilds

__all__ = [
    "DIRECT_MESSAGES",
    "DiscordEvents",
    "PrivacyCog",
    "Reconciled",
    "TextTable",
    "Then",
    "deauthorized",
    "reconcile_guilds",
    "scope_of",
    "user_deauthorized",
]
