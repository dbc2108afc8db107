"""Keys of users in Redis."""

from __future__ import annotations

import inspect
import re
from itertools import chain
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Union

from ._limited import in_thread
from ._store import ROWS_MAX, Everywhere, Exported, Keeps, Marks, Store, Who, is_last_of

_PLACE = re.compile(r"\{(user_id|guild_id)\}")
#: Beside a place nothing may match a further digit, by which the id of one user would begin that of another.
_LOOSE = re.compile(r"[0-9*}]\{(?:user_id|guild_id)\}|\{(?:user_id|guild_id)\}[0-9*]")
_SCAN_COUNT = "1000"
#: The commands that measure and read a value, by its type.
_READ = {
    "string": ("STRLEN", ("GET",)),
    "hash": ("HLEN", ("HGETALL",)),
    "list": ("LLEN", ("LRANGE", "0", "-1")),
    "set": ("SCARD", ("SMEMBERS",)),
    "zset": ("ZCARD", ("ZRANGE", "0", "-1", "WITHSCORES")),
}
#: The longest text that is read, in bytes; a collection has ROWS_MAX entries at most.
_TEXT_MAX_BYTES = 225_000


def redis(
    client: Any,
    name: str,
    *,
    keys: Union[str, Sequence[str]],
    marks: str = "lethe_holder",
    keeps: Optional[Keeps] = None,
) -> Store:
    """The keys about a user, with a client of redis-py, `redis.asyncio.Redis` or `redis.Redis`.

    `keys` is `profile:{guild_id}:{user_id}` or `cooldown:{user_id}:*`, or several of them. Only `*` has a meaning, and needs a walk
    through all keys. A pattern without `{guild_id}` belongs to the user everywhere. `marks` is the hash with what was erased.

    Raises ValueError for a pattern that could match the keys of another user.
    """
    server = _Server(client)
    patterns = [_with_user(pattern) for pattern in ([keys] if isinstance(keys, str) else keys)]
    if not patterns:
        raise ValueError(f"The store {name} needs a pattern.")

    of_guilds = [pattern for pattern in patterns if "{guild_id}" in pattern]

    everywhere: Everywhere = not of_guilds or ("partly" if len(of_guilds) < len(patterns) else False)

    async def found(who: Who, is_last: bool) -> Set[bytes]:
        meant = patterns if is_last else of_guilds
        return {key for pattern in meant for key in await server.matching(pattern, who)}

    async def count(who: Who) -> int:
        return len(await found(who, is_last_of(everywhere, who)))

    async def erase(who: Who) -> None:
        for key in await found(who, is_last_of(everywhere, who)):
            await server.send("DEL", key)

    async def export(who: Who) -> Exported:
        every = sorted(await found(who, who.is_last is not False))
        read = [(key, await server.value(key)) for key in every[:ROWS_MAX]]
        rows = [{"key": key.decode(errors="replace"), **value} for key, value in read if value is not None]
        return Exported(rows, len(every) - len(read))

    return Store(
        export=export,
        name=name,
        count=count,
        erase=erase,
        everywhere=everywhere,
        keeps=keeps,
        marks=_RedisMarks(server, marks),
    )


def _with_user(pattern: str) -> str:
    if "{user_id}" not in pattern:
        raise ValueError(f"The pattern {pattern} needs {{user_id}}, or it matches the keys of all users.")
    if _LOOSE.search(pattern):
        raise ValueError(
            f"In the pattern {pattern} an id is beside *, a digit or another id, so that it matches longer ids: put a "
            "separator between."
        )
    return pattern


def _meant_by(pattern: str, who: Who) -> "re.Pattern[bytes]":
    """`*` of SCAN in the place of a guild matches any text, also one with the id of another user."""
    every = "[0-9]+" if who.every_guild else who.guild_id
    texts = {"*": ".*", "{guild_id}": every, "{user_id}": who.user_id}
    parts = re.split(r"(\*|\{user_id\}|\{guild_id\})", pattern)
    return re.compile("".join(texts.get(part, re.escape(part)) for part in parts).encode(), re.DOTALL)


class _Server:
    """The commands of either client. Answers are bytes, or text of a client with `decode_responses`."""

    def __init__(self, client: Any) -> None:
        if not callable(getattr(client, "execute_command", None)):
            raise TypeError("The client must be a Redis of redis-py.")
        if hasattr(client, "get_primaries"):
            raise TypeError("A walk sees the keys of one server: give one store for each primary of the cluster.")
        self._client = client
        self._is_async = inspect.iscoroutinefunction(client.execute_command)

    async def send(self, *command: Union[str, bytes]) -> Any:
        if self._is_async:
            return await self._client.execute_command(*command)
        return await in_thread(lambda: self._client.execute_command(*command))

    async def value(self, key: bytes) -> Optional[Dict[str, Any]]:
        """`value`: a text, a list, the object of a hash, or the scores of a sorted set by its members. Bytes that are no text become
        base64. A value that is too large is not read.

        None for a key that has ended meanwhile.
        """
        kind = _bytes(await self.send("TYPE", key)).decode()
        if kind == "none":
            return None
        if kind not in _READ:
            return {"type": kind, "left_out": "value"}
        measure, read = _READ[kind]
        size = int(await self.send(measure, key))
        if size > (_TEXT_MAX_BYTES if kind == "string" else ROWS_MAX):
            return {"type": kind, "size": size, "left_out": "value"}
        answer = await self.send(read[0], key, *read[1:])
        return {"type": kind, "value": _shaped(kind, answer)}

    async def matching(self, pattern: str, who: Who) -> List[bytes]:
        def named(place: "re.Match[str]") -> str:
            if place[1] == "user_id":
                return who.user_id
            return "*" if who.every_guild else who.guild_id

        wanted = _PLACE.sub(named, pattern)
        if "*" not in wanted:
            return [wanted.encode()] if int(await self.send("EXISTS", wanted)) == 1 else []
        match = re.sub(r"([\[\]?\\])", r"\\\1", wanted)
        is_meant = _meant_by(pattern, who)
        found: List[bytes] = []
        cursor = "0"
        while True:
            next, keys = await self.send("SCAN", cursor, "MATCH", match, "COUNT", _SCAN_COUNT)
            found += [key for key in map(_bytes, keys) if is_meant.fullmatch(key)]
            cursor = _bytes(str(next) if isinstance(next, int) else next).decode()
            if cursor == "0":
                return found


def _shaped(kind: str, answer: Any) -> Any:
    """Clients answer pairs flat, as pairs, or as a dict."""
    if kind in ("hash", "zset"):
        flat = [*chain.from_iterable(answer.items())] if isinstance(answer, Mapping) else [*answer]
        if flat and isinstance(flat[0], (list, tuple)):
            flat = [*chain.from_iterable(flat)]
        pairs = zip(flat[::2], flat[1::2])
        return {_shown(name): float(each) if kind == "zset" else _shown(each) for name, each in pairs}
    return [_shown(each) for each in answer] if isinstance(answer, (list, set, tuple)) else _shown(answer)


def _shown(answer: Any) -> Any:
    try:
        return answer.decode() if isinstance(answer, bytes) else answer
    except UnicodeDecodeError:
        return answer


def _bytes(answer: Union[str, bytes]) -> bytes:
    return answer.encode() if isinstance(answer, str) else answer


class _RedisMarks(Marks):
    """Notes in one hash."""

    def __init__(self, server: _Server, key: str) -> None:
        self._server, self._key = server, key

    async def all(self, of: str) -> Mapping[str, str]:
        flat = await self._server.send("HGETALL", self._key)
        pairs = flat.items() if isinstance(flat, Mapping) else zip(flat[::2], flat[1::2])
        notes: Dict[str, str] = {_bytes(name).decode(): _bytes(note).decode() for name, note in pairs}
        # The name of a store may begin that of another one, and the name of a note has no space.
        return {name[len(of) + 1 :]: note for name, note in notes.items() if name.rpartition(" ")[0] == of}

    async def get(self, of: str, name: str) -> Optional[str]:
        note = await self._server.send("HGET", self._key, f"{of} {name}")
        return None if note is None else _bytes(note).decode()

    async def put(self, of: str, name: str, note: str) -> None:
        await self._server.send("HSET", self._key, f"{of} {name}", note)

    async def remove(self, of: str, names: Sequence[str]) -> None:
        for name in names:
            await self._server.send("HDEL", self._key, f"{of} {name}")
