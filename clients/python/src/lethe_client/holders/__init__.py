"""Erases what a bot keeps in its own stores, by the tasks of Lethe: docs/holders.md."""

from ._store import Exported, HolderError, Keeps, Marks, Store, Who
from ._files import files
from ._redis import redis
from ._rounds import Round
from ._run import AsyncHolder, Holder, run_holder
from ._sql import asyncpg, sqlalchemy, sqlite

__all__ = [
    "AsyncHolder",
    "Exported",
    "Holder",
    "HolderError",
    "Keeps",
    "Marks",
    "Round",
    "Store",
    "Who",
    "asyncpg",
    "files",
    "redis",
    "run_holder",
    "sqlalchemy",
    "sqlite",
]
