"""Tables about users. Drivers are given by the bot and known by their shape."""

from __future__ import annotations

import os
import re
import sqlite3
from typing import Any, Mapping, Optional, Sequence, Union

from ._drivers import Asyncpg, Database, Sqlalchemy, SqliteConnection, SqliteFile
from ._store import BOT_WIDE, ROWS_MAX, Exported, Keeps, Marks, Store, Who, digest_of_list

_TABLE = "lethe_holder"
_LIST_MAX = 150
_ID = re.compile(r"[0-9]{1,20}")
_NAME = re.compile(r"[^\W\d][\w$]{0,62}(\.[^\W\d][\w$]{0,62})?")


def sqlite(
    database: Union[str, "os.PathLike[str]", sqlite3.Connection],
    table: str,
    *,
    user: str,
    guild: Optional[str] = None,
    name: Optional[str] = None,
    columns: Optional[Sequence[str]] = None,
    without: Optional[Sequence[str]] = None,
    keeps: Optional[Keeps] = None,
    foreign_keys: bool = True,
) -> Store:
    """A table of SQLite. `user` and `guild` are the columns with the ids; a table without `guild` belongs to the user everywhere.
    NULL as the id of a guild is the bot-wide scope.

    With the path of the file each call has a connection of its own, beside the event loop: this serves with aiosqlite too. Its
    foreign keys are on, so that ON DELETE CASCADE erases what refers to an erased row, and another reference to it fails the task.
    `foreign_keys=False` says that the bot itself runs without foreign keys: what refers to an erased row stays. A `sqlite3.Connection` is used in the thread
    of the loop, with its own setting of foreign keys, and fails while the bot is in a transaction on it. An export has all columns,
    or `columns` alone, or all but `without`: secrets of the bot, and what is about other people.
    """
    if isinstance(database, sqlite3.Connection):
        if not foreign_keys:
            raise TypeError("foreign_keys is for the path of a file: a sqlite3.Connection has its own setting.")
        return _table(SqliteConnection(database), table, user, guild, name, columns, without, keeps)
    if database == ":memory:" or not isinstance(database, (str, os.PathLike)):
        raise TypeError("The database must be the path of a SQLite file, or a sqlite3.Connection.")
    return _table(SqliteFile(os.fspath(database), foreign_keys), table, user, guild, name, columns, without, keeps)


def asyncpg(
    pool: Any,
    table: str,
    *,
    user: str,
    guild: Optional[str] = None,
    name: Optional[str] = None,
    columns: Optional[Sequence[str]] = None,
    without: Optional[Sequence[str]] = None,
    keeps: Optional[Keeps] = None,
) -> Store:
    """A table of PostgreSQL, with a `Pool` of asyncpg. The rest is as with `sqlite`."""
    if not callable(getattr(pool, "fetch", None)):
        raise TypeError("The database must be a Pool of asyncpg.")
    return _table(Asyncpg(pool), table, user, guild, name, columns, without, keeps)


def sqlalchemy(
    engine: Any,
    table: str,
    *,
    user: str,
    guild: Optional[str] = None,
    name: Optional[str] = None,
    columns: Optional[Sequence[str]] = None,
    without: Optional[Sequence[str]] = None,
    keeps: Optional[Keeps] = None,
) -> Store:
    """A table of PostgreSQL or SQLite, with an `Engine` or `AsyncEngine` of SQLAlchemy. The rest is as with `sqlite`."""
    if not callable(getattr(engine, "begin", None)) or not hasattr(engine, "dialect"):
        raise TypeError("The database must be an Engine or AsyncEngine of SQLAlchemy.")
    if engine.dialect.name not in ("postgresql", "sqlite"):
        raise TypeError(
            f"SQLAlchemy speaks {engine.dialect.name} here, and ids are compared exactly in PostgreSQL and SQLite only: "
            "write the two functions of a Store."
        )
    return _table(Sqlalchemy(engine), table, user, guild, name, columns, without, keeps)


def _table(
    database: Database,
    table: str,
    user: str,
    guild: Optional[str],
    name: Optional[str],
    columns: Optional[Sequence[str]],
    without: Optional[Sequence[str]],
    keeps: Optional[Keeps],
) -> Store:
    """Raises ValueError for a name that is no plain identifier."""
    rows, user_column = _quoted(database, table), _quoted(database, user)
    guild_column = None if guild is None else _quoted(database, guild)
    for names in (columns, without):
        if names is not None and (isinstance(names, str) or not names or (columns and without)):
            raise ValueError("columns or without is a list of at least one name, and not both are given.")
    selected = ", ".join(_quoted(database, column) for column in columns or ()) or "*"
    hidden = {column.lower() for column in without or ()}

    def where(who: Who) -> str:
        of_user = _is(database, user_column, who.user_id)
        if guild_column is None or who.every_guild:
            return of_user
        in_guild = _is(database, guild_column, who.guild_id)
        if who.guild_id == BOT_WIDE:
            in_guild = f"({in_guild} OR {_is_zero(database, guild_column)} OR {guild_column} IS NULL)"
        return f"{of_user} AND {in_guild}"

    async def count(who: Who) -> int:
        [found] = await database.run(f"SELECT count(*) AS found FROM {rows} WHERE {where(who)}")
        return int(found["found"])

    async def erase(who: Who) -> None:
        await database.run(f"DELETE FROM {rows} WHERE {where(who)}")

    async def export(who: Who) -> Exported:
        found = await database.run(f"SELECT {selected} FROM {rows} WHERE {where(who)} LIMIT {ROWS_MAX}")
        for column in without or ():
            # The column that is meant would be exported.
            if found and column.lower() not in map(str.lower, found[0]):
                raise ValueError(f"without names {column}, which is no column of the table.")
        kept = [{name: one for name, one in row.items() if name.lower() not in hidden} for row in found]
        return Exported(kept, 0 if len(kept) < ROWS_MAX else max(0, await count(who) - len(kept)))

    return Store(
        name=name or table,
        count=count,
        erase=erase,
        everywhere=guild is None,
        keeps=keeps,
        marks=SqlMarks(database),
        export=export,
    )


def _quoted(database: Database, name: str) -> str:
    """The parts of a name, `schema.table`, each in the quotes of the engine."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a table or column: letters, digits and _ only.")
    # SQLite takes an unknown name in double quotes for a text: no row, and no error.
    quote = "`" if database.engine == "sqlite" else '"'
    return ".".join(f"{quote}{part}{quote}" for part in name.split("."))


def _is(database: Database, column: str, id: str) -> str:
    """The condition that a column holds an id.

    The id is a literal, which takes the type of the column: drivers of PostgreSQL refuse a text as the value of a number. Digits
    need no quoting.
    """
    if not _ID.fullmatch(id):
        raise ValueError("An id has digits only.")
    # A column of floating-point numbers holds the same number for several ids: the text is compared too.
    if database.engine == "postgresql":
        return f"({column} = '{id}' AND CAST({column} AS TEXT) = '{id}')"
    # A column without a type holds a number that equals no text. The plus takes from CAST its affinity, by which a column of
    # texts would be read as numbers, past its index.
    return f"(({column} = '{id}' OR {column} = +CAST('{id}' AS INTEGER)) AND CAST({column} AS TEXT) = '{id}')"


def _is_zero(database: Database, column: str) -> str:
    """The condition that a column of numbers holds the bot-wide scope, whose zeros are 0 there."""
    if database.engine == "postgresql":
        return f"({column} = '{BOT_WIDE}' AND CAST({column} AS TEXT) = '0')"
    return f"({column} = 0 AND typeof({column}) <> 'text')"


class SqlMarks(Marks):
    """Notes in a table of their own, beside the data."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_table = False

    async def all(self, of: str) -> Mapping[str, str]:
        """Changes nothing: a dry run reads them too."""
        if not await self._is_there():
            return {}
        rows = await self._database.run(f"SELECT name, note FROM {_TABLE} WHERE list = ?", self._fitting(of))
        return {str(row["name"]): str(row["note"]) for row in rows}

    async def get(self, of: str, name: str) -> Optional[str]:
        if not await self._is_there():
            return None
        rows = await self._database.run(f"SELECT note FROM {_TABLE} WHERE list = ? AND name = ?", self._fitting(of), name)
        return str(rows[0]["note"]) if rows else None

    async def put(self, of: str, name: str, note: str) -> None:
        if not self._has_table:
            await self._make()
        try:
            await self._database.run(
                f"INSERT INTO {_TABLE} (list, name, note) VALUES (?, ?, ?) "
                "ON CONFLICT (list, name) DO UPDATE SET note = excluded.note",
                self._fitting(of),
                name,
                note,
            )
        except Exception:
            # A restore may have removed it.
            self._has_table = False
            raise

    async def remove(self, of: str, names: Sequence[str]) -> None:
        for name in names:
            await self._database.run(f"DELETE FROM {_TABLE} WHERE list = ? AND name = ?", self._fitting(of), name)

    def _fitting(self, of: str) -> str:
        """A key and the name of a store together may be longer than the column. SQLite takes texts of any length."""
        return digest_of_list(of) if len(of) > _LIST_MAX and self._database.engine != "sqlite" else of

    async def _is_there(self) -> bool:
        if self._database.engine == "sqlite":
            asked = f"SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = '{_TABLE}'"
        else:
            asked = f"SELECT 1 AS found WHERE to_regclass('{_TABLE}') IS NOT NULL"
        return len(await self._database.run(asked)) > 0

    async def _make(self) -> None:
        """Makes the table. Two processes may do so at once, of which the second fails and finds it."""
        if not await self._is_there():
            try:
                await self._database.run(
                    f"CREATE TABLE IF NOT EXISTS {_TABLE} (list VARCHAR({_LIST_MAX}) NOT NULL, name VARCHAR(64) NOT NULL, "
                    "note VARCHAR(200) NOT NULL, PRIMARY KEY (list, name))"
                )
            except Exception:
                if not await self._is_there():
                    raise
        self._has_table = True
