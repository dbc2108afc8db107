"""The bot's own database. What Lethe erases is erased here too."""

import os
import sqlite3
from datetime import datetime, timezone

_database = sqlite3.connect(os.environ.get("DATABASE", "bot.db"), isolation_level=None)
_database.execute("PRAGMA secure_delete = ON")  # or deleted text stays in the file
_database.execute(
    "CREATE TABLE IF NOT EXISTS warnings"
    " (user_id TEXT NOT NULL, guild_id TEXT NOT NULL, reason TEXT NOT NULL, warned_at TEXT NOT NULL)"
)
_OF_MEMBER = "FROM warnings WHERE user_id = ? AND guild_id = ?"


def warn(user_id: int, guild_id: int, reason: str) -> int:
    """Notes a warning, and answers how many the member has on this server."""
    who = (str(user_id), str(guild_id))
    now = datetime.now(timezone.utc).isoformat()
    _database.execute("INSERT INTO warnings VALUES (?, ?, ?, ?)", (*who, reason, now))
    return int(_database.execute(f"SELECT count(*) {_OF_MEMBER}", who).fetchone()[0])


def erase(user_id: str, guild_id: str) -> None:
    _database.execute(f"DELETE {_OF_MEMBER}", (user_id, guild_id))
