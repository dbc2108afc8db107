"""The stores of lethe_client.holders with real drivers: SQLite, PostgreSQL (TEST_POSTGRES_URL), Redis and files."""

import asyncio
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import threading
import uuid
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Awaitable, Callable, Iterator, List, Tuple
from urllib.parse import urlsplit

import pytest

from lethe_client import holders
from lethe_client.holders import Store, Who
from lethe_client.holders._json import json_safe
from lethe_client.holders._limited import limited
from lethe_client.holders._redis import _shaped

USER, GUILD = "123456789012345678", "223456789012345678"
WHO = Who(USER, GUILD)
NEAR = ["1234567890123456789", "12345678901234567", "123456789012345680"]
OF = "database/t"
POSTGRES = os.environ.get("TEST_POSTGRES_URL", "")
#: The columns of ids that bots have.
TYPES = {"sqlite": ["TEXT", "INTEGER", "BIGINT", "", "VARCHAR(20)"], "postgresql": ["text", "bigint", "varchar(20)", "numeric", "char(24)"]}


def run(act: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await act()

    return asyncio.run(main())


class SqliteSeat:
    """A SQLite file, and the stores over it."""

    engine = "sqlite"

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        sqlite3.connect(path).close()

    async def __aenter__(self) -> Callable[..., Store]:
        if self.kind == "path":
            return lambda table, **given: holders.sqlite(self.path, table, **given)
        if self.kind == "connection":
            self.connection = sqlite3.connect(self.path)
            return lambda table, **given: holders.sqlite(self.connection, table, **given)
        engine = import_module("sqlalchemy").create_engine(f"sqlite:///{self.path}")
        return lambda table, **given: holders.sqlalchemy(engine, table, **given)

    async def __aexit__(self, *_: Any) -> None:
        if self.kind == "connection":
            self.connection.close()

    async def run(self, statement: str) -> List[Tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            return connection.execute(statement).fetchall()


class PostgresSeat:
    """A database of its own in the PostgreSQL of the tests, and the stores over it."""

    engine = "postgresql"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = f"lethe_python_{uuid.uuid4().hex}"

    async def administer(self, statement: str) -> None:
        connection = await import_module("asyncpg").connect(POSTGRES)
        await connection.execute(f"{statement} {self.name}")
        await connection.close()

    async def __aenter__(self) -> Callable[..., Store]:
        await self.administer("CREATE DATABASE")
        url = urlsplit(POSTGRES)._replace(scheme="postgresql", path=f"/{self.name}")
        self.pool = await import_module("asyncpg").create_pool(url.geturl(), min_size=1, max_size=2)
        if self.kind == "asyncpg":
            return lambda table, **given: holders.asyncpg(self.pool, table, **given)
        given = url._replace(scheme="postgresql+asyncpg").geturl()
        self.alchemy = import_module("sqlalchemy.ext.asyncio").create_async_engine(given)
        return lambda table, **given: holders.sqlalchemy(self.alchemy, table, **given)

    async def __aexit__(self, *_: Any) -> None:
        if self.kind != "asyncpg":
            await self.alchemy.dispose()
        await self.pool.close()
        await self.administer("DROP DATABASE")

    async def run(self, statement: str) -> List[Tuple[Any, ...]]:
        return [tuple(row) for row in await self.pool.fetch(statement)]


def needs(*names: str) -> Any:
    missing = [name for name in names if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"No {', '.join(missing)} here.")


#: The suites of PostgreSQL name one.
SEATS = ["path", "connection", pytest.param("engine", marks=needs("sqlalchemy"))]
if POSTGRES:
    SEATS += ["asyncpg", pytest.param("asyncengine", marks=needs("sqlalchemy"))]


@pytest.fixture(params=SEATS)
def seat(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return PostgresSeat(request.param) if "async" in request.param else SqliteSeat(tmp_path / "bot.db", request.param)


# Tables.


def test_an_id_is_found_in_a_column_of_any_type_and_only_this_id(seat: Any) -> None:
    async def main() -> None:
        async with seat as store_of:
            for at, type in enumerate(TYPES[seat.engine]):
                await seat.run(f"CREATE TABLE t{at} (user_id {type}, guild_id {type})")
                quote = "" if type in ("", "INTEGER", "BIGINT", "bigint", "numeric") else "'"

                async def insert(id: str, guild: str) -> None:
                    await seat.run(f"INSERT INTO t{at} VALUES ({quote}{id}{quote}, {quote}{guild}{quote})")

                for id, guild in [*((id, GUILD) for id in [USER, *NEAR]), (USER, NEAR[0])]:
                    await insert(id, guild)
                in_guild = store_of(f"t{at}", user="user_id", guild="guild_id")
                everywhere = store_of(f"t{at}", user="user_id")
                assert [await in_guild.count(WHO), await in_guild.count(Who(USER, GUILD, True))] == [1, 2]
                assert [in_guild.everywhere, everywhere.everywhere] == [False, True]
                exported = await in_guild.export(WHO)
                assert [str(row["guild_id"]).strip() for row in exported.rows] == [GUILD]
                for store in (in_guild, everywhere):
                    assert await store.count(WHO) == 1
                    await store.erase(WHO)
                    assert await store.count(WHO) == 0
                rows = await seat.run(f"SELECT user_id FROM t{at}")
                assert sorted(str(id).strip() for [id] in rows) == sorted(NEAR)
                # The bot-wide scope, which a column of numbers holds as 0, and which a direct message has no guild for.
                bot_wide = Who(USER, "0" * 17)
                await insert(USER, bot_wide.guild_id)
                await insert(USER, GUILD)
                await seat.run(f"INSERT INTO t{at} VALUES ({quote}{USER}{quote}, NULL)")
                assert [await in_guild.count(bot_wide), await in_guild.count(WHO)] == [2, 1]
                exported = await in_guild.export(bot_wide)
                assert [row["guild_id"] is None for row in exported.rows] in ([True, False], [False, True])
                await in_guild.erase(bot_wide)
                assert [await in_guild.count(bot_wide), await in_guild.count(WHO)] == [0, 1]

    run(main)


@pytest.mark.parametrize("type", ["TEXT", "INTEGER", ""])
def test_an_id_is_found_by_the_index_of_its_column(tmp_path: Path, type: str) -> None:
    with closing(sqlite3.connect(tmp_path / "bot.db")) as connection:
        connection.execute(f"CREATE TABLE t (user_id {type})")
        connection.execute("CREATE INDEX of_user ON t (user_id)")
        said: List[str] = []
        connection.set_trace_callback(said.append)
        assert run(lambda: holders.sqlite(connection, "t", user="user_id").count(WHO)) == 0
        connection.set_trace_callback(None)
        [plan] = [row[3] for one in said for row in connection.execute(f"EXPLAIN QUERY PLAN {one}")]
    assert plan.startswith("SEARCH")


def test_the_text_0_is_no_bot_wide_scope_and_0_is_no_user(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "bot.db")) as connection, connection:
        connection.execute("CREATE TABLE t (user_id INTEGER, guild_id TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, '0')", [[0], [USER]])
    store = holders.sqlite(tmp_path / "bot.db", "t", user="user_id", guild="guild_id")
    for who in (Who(USER, "0" * 17), Who("0" * 17, "0" * 17, True)):
        assert run(lambda: store.count(who)) == 0


def test_a_table_or_column_that_is_not_there_fails(seat: Any) -> None:
    async def main() -> None:
        async with seat as store_of:
            await seat.run("CREATE TABLE t (user_id TEXT)")
            for store in (store_of("missing", user="user_id"), store_of("t", user="missing")):
                for act in (store.count, store.erase):
                    with pytest.raises(Exception, match="missing"):
                        await act(WHO)

    run(main)


def test_what_is_nested_deeper_than_a_request_may_be_is_json_text() -> None:
    deep: Any = {"one": 2**60, "set": {3}, "bytes": b"hi"}
    for _ in range(8):
        deep = [deep]
    text = json_safe(deep)
    for _ in range(8):
        [text] = text
    assert json.loads(text) == {"one": str(2**60), "set": [3], "bytes": "aGk="}


def test_notes_are_kept_beside_the_data_by_their_list(seat: Any) -> None:
    async def main() -> None:
        async with seat as store_of:
            marks = store_of("t", user="user_id").marks
            assert [await marks.all(OF), await marks.get(OF, "a")] == [{}, None]
            for of, note in [(OF, "one"), (OF, "two"), (OF + "2", "other")]:
                await marks.put(of, "a", note)
            await marks.put(OF, "b", "three")
            again = store_of("t", user="user_id").marks
            assert [await again.all(OF), await again.all(OF + "2")] == [{"a": "two", "b": "three"}, {"a": "other"}]
            assert [await marks.get(OF, "a"), await marks.get(OF, "c")] == ["two", None]
            await again.remove(OF, ["a", "c"])
            assert await marks.all(OF) == {"b": "three"}
            # As @lethe/sdk writes it.
            long = f"{'k' * 100}/{'s' * 64}"
            await marks.put(long, "a", "long")
            assert [await marks.get(long, "a"), await marks.all(long)] == ["long", {"a": "long"}]
            digest = hashlib.sha256(long.encode()).hexdigest()[:32]
            written = long if seat.engine == "sqlite" else digest
            assert len(await seat.run(f"SELECT list FROM lethe_holder WHERE list = '{written}'")) == 1
            await marks.remove(long, ["a"])
            # A restore to a time before the holder.
            await seat.run("DROP TABLE lethe_holder")
            with pytest.raises(Exception, match="lethe_holder"):
                await marks.put(OF, "a", "one")
            await marks.put(OF, "a", "one")
            assert await marks.all(OF) == {"a": "one"}

    run(main)


def test_what_the_bot_has_in_its_transaction_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "bot.db")) as connection:
        connection.execute("CREATE TABLE t (user_id TEXT)")
        store = holders.sqlite(connection, "t", user="user_id")
        connection.execute("INSERT INTO t VALUES ('1')")
        with pytest.raises(RuntimeError, match="in a transaction on this connection: give the holder the path"):
            run(lambda: store.erase(WHO))
        connection.rollback()
        assert run(lambda: store.count(WHO)) == 0


def test_erased_text_is_not_left_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "bot.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE t (user_id TEXT, text TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, 'secret words')", [[USER], [USER]])
    store = holders.sqlite(file, "t", user="user_id")
    assert b"secret words" in file.read_bytes()
    run(lambda: store.erase(WHO))
    assert b"secret words" not in file.read_bytes()


def test_a_file_of_sqlite_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    store = holders.sqlite(tmp_path / "missing.db", "t", user="user_id")
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        run(lambda: store.count(WHO))
    assert list(tmp_path.iterdir()) == []


def test_a_connection_of_asyncpg_in_a_transaction_of_the_bot_fails() -> None:
    class Connection:
        def is_in_transaction(self) -> bool:
            return True

        async def fetch(self, statement: str) -> None:
            raise AssertionError(statement)

    store = holders.asyncpg(Connection(), "t", user="user_id")
    for act in (store.count, store.erase):
        with pytest.raises(RuntimeError, match="give the holder a pool"):
            run(lambda: act(WHO))


@pytest.mark.parametrize("name", ["t; DROP TABLE t", 't"', "t`", "", "a.b.c", "1t", "t t"])
def test_a_name_that_is_no_plain_identifier_is_refused(name: str) -> None:
    for given in ({"table": name, "user": "u"}, {"table": "t", "user": name}, {"table": "t", "user": "u", "guild": name}):
        with pytest.raises(ValueError, match="no name of a table or column"):
            holders.sqlite("bot.db", **given)


@pytest.mark.parametrize("given", [{"columns": []}, {"without": "id"}, {"columns": ["a"], "without": ["b"]}])
def test_columns_of_an_export_are_one_list(given: Any) -> None:
    with pytest.raises(ValueError, match="a list of at least one name"):
        holders.sqlite("bot.db", "t", user="u", **given)


def test_a_secret_that_is_misspelt_fails_the_export(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "bot.db")) as connection, connection:
        connection.execute("CREATE TABLE t (user_id TEXT, token TEXT)")
        connection.execute("INSERT INTO t VALUES (?, 'secret')", [USER])
    store = holders.sqlite(tmp_path / "bot.db", "t", user="user_id", without=["tokn"])
    with pytest.raises(ValueError, match="without names tokn"):
        run(lambda: store.export(WHO))


@pytest.mark.parametrize("make", [holders.sqlite, holders.asyncpg, holders.sqlalchemy])
@pytest.mark.parametrize("database", [None, object(), ":memory:"])
def test_an_object_of_no_known_driver_is_refused(make: Any, database: Any) -> None:
    with pytest.raises(TypeError, match="The database must be"):
        make(database, "t", user="user_id")


@needs("sqlalchemy")
def test_a_database_whose_ids_are_not_compared_exactly_is_refused() -> None:
    class Engine:
        dialect = type("Dialect", (), {"name": "mysql"})
        begin = print

    with pytest.raises(TypeError, match="SQLAlchemy speaks mysql"):
        holders.sqlalchemy(Engine(), "t", user="user_id")


# Redis.


@pytest.fixture(scope="module")
def redis_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("redis")
    socket = str(folder / "s")
    command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert server.stdout is not None
    for line in server.stdout:
        if b"ready to accept connections" in line.lower() or b"now ready" in line.lower():
            break
    yield socket
    server.terminate()
    server.stdout.close()
    server.wait()


needs_redis = [needs("redis"), pytest.mark.skipif(shutil.which("redis-server") is None, reason="No redis-server here.")]


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=needs_redis) for kind in ("async", "sync", "text")])
def test_keys_are_found_by_their_pattern_and_only_those_of_the_user(kind: str, redis_socket: str) -> None:
    async def main() -> None:
        module = import_module("redis" if kind == "sync" else "redis.asyncio")
        client = module.Redis(unix_socket_path=redis_socket, decode_responses=kind == "text")

        async def send(*command: str) -> Any:
            answer = client.execute_command(*command)
            return await answer if hasattr(answer, "__await__") else answer

        await send("FLUSHALL")
        for key in (f"profile:{GUILD}:{USER}", f"cool:{GUILD}:{USER}:a?[b", f"cool:{GUILD}:{NEAR[0]}:a", f"cool:{NEAR[0]}:{USER}:a"):
            await send("SET", key, "v")
        # In the place of a guild, text with the id of another user.
        await send("SET", f"cool:{GUILD}:{NEAR[0]}:x:{USER}:a", "v")
        await send("HSET", f"cool:{GUILD}:{USER}:hash", "field", "value")
        keys = ["profile:{guild_id}:{user_id}", "cool:{guild_id}:{user_id}:*"]
        store = holders.redis(client, "cache", keys=keys)
        assert [store.everywhere, await store.count(WHO), await store.count(Who(USER, GUILD, True))] == [False, 3, 4]
        assert store.export is not None
        exported = await store.export(WHO)
        rows = {row["key"]: row["value"] for row in exported.rows}
        assert rows[f"cool:{GUILD}:{USER}:hash"] == {"field": "value"} and rows[f"profile:{GUILD}:{USER}"] == "v"
        both = holders.redis(client, "cache", keys=["profile:{guild_id}:{user_id}", "x:{user_id}"])
        await send("SET", f"x:{USER}", "v")
        counts = [await both.count(Who(USER, GUILD, is_last=is_last)) for is_last in (True, False, None)]
        assert [both.everywhere, *counts] == ["partly", 2, 1, 1]
        await send("DEL", f"x:{USER}")
        await send("RPUSH", f"cool:{GUILD}:{USER}:list", *(str(number) for number in range(1001)))
        await send("SET", f"cool:{GUILD}:{USER}:text", "x" * 225_001)
        large = {row["key"].split(":")[-1]: row for row in (await store.export(WHO)).rows if "left_out" in row}
        assert {name: (row["size"], row["left_out"]) for name, row in large.items()} == {
            "list": (1001, "value"),
            "text": (225_001, "value"),
        }
        await store.erase(WHO)
        assert [await store.count(WHO), await send("DBSIZE")] == [0, 3]
        assert store.marks is not None
        for of, name, note in [(OF, "a", "one"), (OF, "a", "two"), (OF + " x", "a", "other"), (OF, "b", "three")]:
            await store.marks.put(of, name, note)
        await store.marks.remove(OF, ["b"])
        assert [await store.marks.get(OF, "a"), await store.marks.get(OF, "b")] == ["two", None]
        assert [await store.marks.all(OF), await store.marks.all(OF + " x")] == [{"a": "two"}, {"a": "other"}]
        closed = client.close()
        if hasattr(closed, "__await__"):
            await closed

    run(main)


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=needs_redis) for kind in ("async", "sync", "text")])
def test_the_values_of_keys_are_exported_by_their_type_as_in_the_sdk(kind: str, redis_socket: str) -> None:
    async def main() -> None:
        module = import_module("redis" if kind == "sync" else "redis.asyncio")
        client = module.Redis(unix_socket_path=redis_socket, decode_responses=kind == "text")

        async def send(*command: str) -> Any:
            answer = client.execute_command(*command)
            return await answer if hasattr(answer, "__await__") else answer

        await send("FLUSHALL")
        await send("SET", f"a:{USER}:1string", "x")
        await send("HSET", f"a:{USER}:2hash", "name", "Robin", "7", "y")
        await send("RPUSH", f"a:{USER}:3list", "one", "two")
        await send("SADD", f"a:{USER}:4set", "only")
        await send("ZADD", f"a:{USER}:5zset", "1.5", "member", "3", "whole", "inf", "endless", "-inf", "below")
        await send("XADD", f"a:{USER}:6stream", "*", "field", "value")
        await send("RPUSH", f"a:{USER}:7long", *(str(number) for number in range(1001)))
        store = holders.redis(client, "cache", keys="a:{user_id}:*")
        assert store.export is not None
        rows = [{name: row[name] for name in row if name != "key"} for row in (await store.export(WHO)).rows]
        assert json_safe(rows) == [
            {"type": "string", "value": "x"},
            {"type": "hash", "value": {"7": "y", "name": "Robin"}},
            {"type": "list", "value": ["one", "two"]},
            {"type": "set", "value": ["only"]},
            {"type": "zset", "value": {"below": "-inf", "member": 1.5, "whole": 3, "endless": "inf"}},
            {"type": "stream", "left_out": "value"},
            {"type": "list", "size": 1001, "left_out": "value"},
        ]
        closed = client.close()
        if hasattr(closed, "__await__"):
            await closed

    run(main)


def test_a_whole_number_beyond_what_javascript_counts_is_text_in_an_export_of_each_type() -> None:
    exact = 2**53 - 1
    assert json_safe([float(exact), 0.5, -3.0]) == [exact, 0.5, -3]
    beyond = [exact + 1, float(exact + 1), -9500000000000000.0, 1e16, 123456789012345678.0, 1.5e300]
    assert json_safe(beyond) == [
        *("9007199254740992", "9007199254740992", "-9500000000000000", "10000000000000000"),
        *("123456789012345680", "1.5e+300"),
    ]


@pytest.mark.parametrize("answer", [[b"a", b"1.5", b"b", b"2"], [[b"a", 1.5], [b"b", 2.0]], [("a", 1.5), ("b", 2)], {"a": "1.5", "b": 2}])
def test_the_scores_of_a_sorted_set_are_read_in_each_form_that_a_client_has(answer: Any) -> None:
    assert _shaped("zset", answer) == {"a": 1.5, "b": 2}
    assert [_shaped(kind, type(answer)()) for kind in ("zset", "hash")] == [{}, {}]


def test_a_store_that_hangs_is_tried_again_until_eight_threads_wait() -> None:
    answers = threading.Event()
    sent: List[str] = []

    class Hung:
        def execute_command(self, *command: str) -> int:
            sent.append(command[0])
            answers.wait()
            return 0

    store = limited(holders.redis(Hung(), "cache", keys="cache:{user_id}"), 0.05)

    async def main() -> None:
        for _ in range(8):
            with pytest.raises(TimeoutError, match="has not answered within 0.05 seconds"):
                await store.count(WHO)
        assert store.export is not None and store.marks is not None
        for act in (store.count(WHO), store.erase(WHO), store.export(WHO), store.marks.get(OF, "a")):
            with pytest.raises(TimeoutError, match="8 earlier calls still wait .* socket timeout"):
                await act
        assert sent == ["EXISTS"] * 8

    try:
        run(main)
        # Each round of Lethe has an event loop of its own.
        with pytest.raises(TimeoutError, match="still wait"):
            run(lambda: store.count(WHO))
    finally:
        answers.set()

    async def answered() -> None:
        while True:
            try:
                assert await store.count(WHO) == 0
                return
            except TimeoutError:
                await asyncio.sleep(0.01)

    run(answered)


def test_a_store_one_of_whose_calls_never_ends_answers_the_next_one() -> None:
    ends = threading.Event()
    sent: List[str] = []

    class HalfOpen:
        def execute_command(self, *command: str) -> int:
            sent.append(command[0])
            if len(sent) == 1:
                ends.wait()
            return 0

    store = limited(holders.redis(HalfOpen(), "cache", keys="cache:{user_id}"), 0.2)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await store.count(WHO)
        assert await store.count(WHO) == 0

    try:
        run(main)
    finally:
        ends.set()


class Client:
    def execute_command(self, *command: str) -> None:
        raise AssertionError(command)


@pytest.mark.parametrize(
    "keys, words",
    [
        ("profile:*", "needs {user_id}"),
        ("profile:{user_id}*", "put a separator between"),
        ("{guild_id}{user_id}", "put a separator between"),
        ("a1{user_id}", "put a separator between"),
        ([], "needs a pattern"),
    ],
)
def test_a_pattern_that_could_match_the_keys_of_another_user_is_refused(keys: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        holders.redis(Client(), "cache", keys=keys)
    with pytest.raises(TypeError, match="a Redis of redis-py"):
        holders.redis(object(), "cache", keys=keys)


# Files.


def test_an_export_of_a_folder_names_its_links_follows_none_and_fails_where_a_folder_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "files"
    (top / USER / "inner").mkdir(parents=True)
    (top / USER / "inner" / "a.txt").write_text("a")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("secret")
    (top / USER / "folder").symlink_to(tmp_path / "secret")
    (top / USER / "link").symlink_to(tmp_path / "secret" / "key")
    export = holders.files(top, lambda who: who.user_id).export
    real = {name: getattr(os, name) for name in ("listdir", "scandir")}

    def refusing(name: str) -> Callable[[Any], Any]:
        def read(path: Any = ".") -> Any:
            if str(path).endswith("inner"):
                raise PermissionError(13, "Permission denied")
            return real[name](path)

        return read

    async def main() -> None:
        assert export is not None
        exported = await export(WHO)
        found = sorted((row["name"], row.get("content", row.get("left_out"))) for row in exported.rows if row)
        assert found == sorted([
            (f"{USER}/folder", "content"),
            (f"{USER}/inner/a.txt", b"a"),
            (f"{USER}/link", "content"),
        ])
        for name in real:
            monkeypatch.setattr(os, name, refusing(name))
        with pytest.raises(PermissionError):
            await export(WHO)

    run(main)


def test_files_and_folders_of_a_user_are_erased_and_no_name_leads_out(tmp_path: Path) -> None:
    top = tmp_path / "files"
    (top / GUILD / USER).mkdir(parents=True)
    (top / GUILD / USER / "a.txt").write_text("a")
    (top / GUILD / f"{USER}.png").write_bytes(b"\x89")
    (top / GUILD / f"{NEAR[0]}.png").write_bytes(b"\x89")
    store = holders.files(top, lambda who: [f"{who.guild_id}/{who.user_id}", f"{who.guild_id}/{who.user_id}.png"])

    async def main() -> None:
        assert [store.name, store.everywhere, await store.count(WHO)] == ["files", False, 2]
        assert store.export is not None
        exported = await store.export(WHO)
        assert [(row["name"], row["size"], row["content"]) for row in exported.rows] == [
            (f"{GUILD}/{USER}/a.txt", 1, b"a"),
            (f"{GUILD}/{USER}.png", 1, b"\x89"),
        ]
        await store.erase(WHO)
        assert [await store.count(WHO), [path.name for path in (top / GUILD).iterdir()]] == [0, [f"{NEAR[0]}.png"]]
        assert store.marks is not None and await store.marks.all(OF) == {}
        assert await store.marks.get(OF, "a") is None
        await store.marks.put(OF, "a", "one")
        await store.marks.put(OF, "a", "two")
        await store.marks.put(OF, "b", "three")
        await store.marks.remove(OF, ["b", "c"])
        assert [await store.marks.get(OF, "a"), await store.marks.get(OF, "b")] == ["two", None]
        assert [await store.marks.all(OF), await store.marks.all("other")] == [{"a": "two"}, {}]
        shutil.rmtree(top)
        marks = store.marks
        for act in (store.count(WHO), marks.all(OF), marks.get(OF, "a"), marks.put(OF, "a", "one")):
            with pytest.raises(FileNotFoundError):
                await act
        assert not top.exists()
        top.symlink_to(tmp_path / "unmounted")
        with pytest.raises(FileNotFoundError):
            await store.count(WHO)

    run(main)


def test_a_name_that_is_missing_by_then_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / USER).mkdir()
    for name in (f"{USER}/a.png", f"{USER}/b.png", f"{USER}.json"):
        (tmp_path / name).write_text("x")
    store = holders.files(tmp_path, lambda who: [who.user_id, f"{who.user_id}/a.png", f"{who.user_id}.json"])
    rmtree = shutil.rmtree

    def removed_by_the_bot(path: str) -> None:
        """As rmtree where the bot removes a file after the list of the folder was read."""
        monkeypatch.setattr(shutil, "rmtree", rmtree)
        os.remove(f"{path}/b.png")
        raise FileNotFoundError(f"{path}/b.png")

    monkeypatch.setattr(shutil, "rmtree", removed_by_the_bot)

    async def main() -> None:
        assert await store.count(WHO) == 3
        await store.erase(WHO)
        assert await store.count(WHO) == 0

    run(main)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_erased_is_found_by_the_second_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / USER).mkdir()

    def is_missing(path: str) -> None:
        raise FileNotFoundError(path)

    monkeypatch.setattr(shutil, "rmtree", is_missing)
    store = holders.files(tmp_path, lambda who: who.user_id)

    async def main() -> None:
        await store.erase(WHO)
        assert await store.count(WHO) == 1

    run(main)


def test_the_files_of_every_guild_are_found_and_those_of_no_other_user(tmp_path: Path) -> None:
    names = [f"1/{USER}.png", f"2/{USER}.png", f"3/b-3-{USER}/a.png", f"{USER}.png"]
    others = [f"1/{NEAR[0]}.png", f"x/{USER}.png", f"2/{USER}.gif", f"3/b-x-{USER}/a.png"]
    for name in names + others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    store = holders.files(
        tmp_path,
        lambda who: [f"./{who.guild_id}/{who.user_id}.png", f"{who.guild_id}/b-{who.guild_id}-{who.user_id}", f"{who.user_id}.png"],
    )
    bot_wide = Who(USER, "0" * 17, False, True)

    async def main() -> None:
        assert await store.count(bot_wide) == 1
        everywhere = replace(bot_wide, every_guild=True)
        assert store.export is not None
        assert [await store.count(everywhere), len((await store.export(everywhere)).rows)] == [4, 4]
        await store.erase(everywhere)
        assert await store.count(everywhere) == 0
        assert [name for name in others if not (tmp_path / name).exists()] == []

    run(main)


@pytest.mark.parametrize("end", [lambda who: f"-{int(who.guild_id) % 97}", lambda who: who.guild_id])
def test_names_that_hide_their_guild_fail_for_the_files_of_every_guild(tmp_path: Path, end: Callable[[Who], str]) -> None:
    everywhere = Who(USER, "0" * 17, True, True)

    def own(who: Who) -> List[str]:
        return [f"a-{USER}", f"b-{USER}"] if who.every_guild else [who.user_id + end(who)]

    (tmp_path / f"b-{USER}").write_text("x")

    async def main() -> None:
        with pytest.raises(ValueError, match="where every_guild is true"):
            await holders.files(tmp_path, lambda who: who.user_id + end(who)).count(everywhere)
        assert await holders.files(tmp_path, own).count(everywhere) == 1

    run(main)


def test_a_note_that_another_process_has_removed_is_passed_over(tmp_path: Path) -> None:
    marks = holders.files(tmp_path, lambda who: who.user_id).marks
    assert marks is not None

    async def main() -> None:
        await marks.put(OF, "a", "note")
        [folder] = (tmp_path / ".lethe-holder").iterdir()
        # It is in the list, and cannot be read.
        (folder / "b").symlink_to("nowhere")
        assert await marks.all(OF) == {"a": "note"}

    run(main)


def test_a_link_is_removed_and_not_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("stays")
    top = tmp_path / "files"
    top.mkdir()
    (top / USER).symlink_to(tmp_path / "other")
    store = holders.files(top, lambda who: who.user_id)
    through = holders.files(top, lambda who: f"{who.user_id}/file")

    async def main() -> None:
        with pytest.raises(ValueError, match="A link leads out"):
            await through.erase(WHO)
        assert await store.count(WHO) == 1
        await store.erase(WHO)
        assert await store.count(WHO) == 0

    run(main)
    assert (tmp_path / "other" / "file").read_text() == "stays"


@pytest.mark.parametrize("name", ["../{}", "/tmp/{}", "a/../../{}", ".lethe-holder/{}", "{}\0", ""])
def test_a_name_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    if not name:
        with pytest.raises(ValueError, match="must depend on the whole user_id"):
            holders.files(tmp_path, lambda who: who.user_id[:10] + ".png")
        return
    store = holders.files(tmp_path, lambda who: name.format(who.user_id))
    with pytest.raises(ValueError, match="leads out of its folder"):
        run(lambda: store.count(WHO))
