"""The bot's own database, and its holder: what Lethe erases or exports is erased and exported here too."""

import logging
import os
import sqlite3

from lethe_client import AsyncLethe, LetheError, holders

FILE = os.environ.get("DATABASE", "bot.db")
_database = sqlite3.connect(FILE, isolation_level=None)
_database.execute("PRAGMA secure_delete = ON")  # or deleted text stays in the file
_COLUMNS = "user_id TEXT NOT NULL, guild_id TEXT NOT NULL, reason TEXT NOT NULL, warned_at TEXT NOT NULL"
_database.execute(f"CREATE TABLE IF NOT EXISTS warnings ({_COLUMNS})")


async def warn(user_id: int, guild_id: int, reason: str) -> int:
    """Notes a warning, and answers how many the member has on this server."""
    who = (str(user_id), str(guild_id))
    _database.execute("INSERT INTO warnings VALUES (?, ?, ?, datetime('now'))", (*who, reason))
    counted = "SELECT count(*) FROM warnings WHERE user_id = ? AND guild_id = ?"
    return int(_database.execute(counted, who).fetchone()[0])


async def hold(lethe: AsyncLethe) -> holders.AsyncHolder:
    """Does what waits in Lethe now, and asks again every minute."""
    stores = [holders.sqlite(FILE, "warnings", user="user_id", guild="guild_id")]
    holder = holders.run_holder(
        lethe, key="database", label_de="Datenbank des Bots", label_en="Database of the bot", stores=stores
    )
    try:
        await holder.once()
    except (LetheError, holders.HolderError) as error:  # Lethe is away, or refuses the holder: the loop tries again
        logging.error("The holder waits for Lethe", exc_info=error)
    holder.start()
    return holder
