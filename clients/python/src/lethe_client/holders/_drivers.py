"""How each driver runs a statement."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, List, Mapping, Protocol, Sequence

from ._limited import in_thread

Row = Mapping[str, Any]
_REFERRED = (
    "another row still refers to an erased one. List the table of that row first if it is of the same user, declare ON DELETE SET NULL "
    "or CASCADE, or give sqlite foreign_keys=False if the bot itself runs without foreign keys."
)


class Database(Protocol):
    """A driver. Every call is a transaction of its own, committed when it returns."""

    #: "sqlite" or "postgresql".
    @property
    def engine(self) -> str: ...

    async def run(self, statement: str, *values: str) -> List[Row]:
        """`?` in the statement is a value."""
        ...


class SqliteConnection:
    engine = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def run(self, statement: str, *values: str) -> List[Row]:
        return _sqlite_run(self._connection, statement, values)


class SqliteFile:
    engine = "sqlite"

    def __init__(self, path: str, foreign_keys: bool) -> None:
        self._foreign_keys = "ON" if foreign_keys else "OFF"
        # A file that is not there is a disk that is not mounted, and no empty database.
        self._uri = f"{Path(path).absolute().as_uri()}?mode=rw"

    async def run(self, statement: str, *values: str) -> List[Row]:
        def act() -> List[Row]:
            with closing(sqlite3.connect(self._uri, uri=True)) as connection:
                # Or deleted text stays in the file.
                connection.execute("PRAGMA secure_delete = ON")
                # SQLite has it off on each new connection: rows that ON DELETE CASCADE erases would stay.
                connection.execute(f"PRAGMA foreign_keys = {self._foreign_keys}")
                try:
                    return _sqlite_run(connection, statement, values)
                except sqlite3.IntegrityError as error:
                    if "FOREIGN KEY" in str(error):
                        error.args = (f"{error}: {_REFERRED}",)
                    raise

        return await in_thread(act)


def _sqlite_run(connection: sqlite3.Connection, statement: str, values: Sequence[str]) -> List[Row]:
    # What the bot rolls back would be there again, after the answer that it is erased.
    if connection.in_transaction:
        raise RuntimeError("The bot is in a transaction on this connection: give the holder the path of the file.")
    cursor = connection.cursor()
    cursor.row_factory = None
    try:
        cursor.execute(statement, values)
        names = [column[0] for column in cursor.description or ()]
        found: List[Row] = [dict(zip(names, row)) for row in cursor.fetchall()]
        connection.commit()
        return found
    except BaseException:
        connection.rollback()
        raise
    finally:
        cursor.close()


class Asyncpg:
    engine = "postgresql"

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    async def run(self, statement: str, *values: str) -> List[Row]:
        is_in_transaction = getattr(self._pool, "is_in_transaction", None)
        if is_in_transaction is not None and is_in_transaction():
            raise RuntimeError("The bot is in a transaction on this connection: give the holder a pool.")
        parts = statement.split("?")
        numbered = "".join(f"{part}${at}" for at, part in enumerate(parts[:-1], 1)) + parts[-1]
        return [dict(row) for row in await self._pool.fetch(numbered, *values)]


class Sqlalchemy:
    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._is_async = hasattr(engine, "sync_engine")
        self._text = import_module("sqlalchemy").text

    @property
    def engine(self) -> str:
        return str(self._engine.dialect.name)

    async def run(self, statement: str, *values: str) -> List[Row]:
        parts = statement.split("?")
        named = self._text("".join(f"{part}:v{at}" for at, part in enumerate(parts[:-1])) + parts[-1])
        given = {f"v{at}": value for at, value in enumerate(values)}
        if self._is_async:
            async with self._engine.begin() as connection:
                return _rows(await connection.execute(named, given))

        def act() -> List[Row]:
            with self._engine.begin() as connection:
                return _rows(connection.execute(named, given))

        return await in_thread(act)


def _rows(result: Any) -> List[Row]:
    return [dict(row) for row in result.mappings().all()] if result.returns_rows else []
