"""`/privacy` for bots with discord.py that use Lethe: pip install "lethe-client[discord]"."""

from ._waiting import Then
from ._words import TextTable
from .cog import PrivacyCog
from .guilds import Reconciled, reconcile_guilds

__all__ = ["PrivacyCog", "Reconciled", "TextTable", "Then", "reconcile_guilds"]
