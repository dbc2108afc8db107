"""What a bot declares: a place in which it keeps data about users."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date, datetime, timezone
from typing import Any, Awaitable, Callable, Literal, Mapping, Optional, Protocol, Sequence, TypeVar, Union

T = TypeVar("T")
#: The bot-wide scope, as `guild_id`.
BOT_WIDE = "0" * 17
#: How many entries a store has in an export at most.
ROWS_MAX = 1000
#: An answer, or something to await.
Eventual = Union[T, Awaitable[T]]
#: Whether nothing in a store says to which guild it belongs; "partly" where this is true of a part of it.
Everywhere = Union[bool, Literal["partly"]]


@dataclass(frozen=True)
class Who:
    """The subject of a task: one user in one guild, ids as digits."""

    user_id: str
    guild_id: str
    #: The user has left the bot-wide scope, and Lethe holds nothing of them in a guild: rows of every guild are meant.
    every_guild: bool = False
    #: For a store with `everywhere="partly"`: whether no other guild gives a reason to keep data. Unless it is True, what
    #: belongs to no guild is neither counted nor erased.
    is_last: Optional[bool] = None


def is_last_of(everywhere: Everywhere, who: Who) -> bool:
    """Whether a count or an erasure means what belongs to no guild. A store around another one may hand on the ids alone: then it is
    not known that the consent is the last one."""
    return who.is_last is True if everywhere == "partly" else who.is_last is not False


@dataclass(frozen=True)
class Keeps:
    """Why rows are kept in spite of an erasure (GDPR Art. 17(3)), and until when."""

    #: The legal basis, at most 200 characters. It is answered to Lethe and shown in its final certificate.
    basis: str
    #: A day or a time. A text is an ISO 8601 day, or a time with its zone. A `date` or `datetime` without a zone is UTC.
    until: Union[str, date]


class Marks(Protocol):
    """Short notes that a store keeps beside its data, so that a backup holds both. They have no id of a user.

    `of` is the holder and the store, `name` the id of a task.
    """

    async def all(self, of: str) -> Mapping[str, str]: ...

    async def get(self, of: str, name: str) -> Optional[str]:
        """The note as it is now: another process may have put it."""
        ...

    async def put(self, of: str, name: str, note: str) -> None: ...

    async def remove(self, of: str, names: Sequence[str]) -> None: ...


def digest_of_list(of: str) -> str:
    """The name of a list where there is no room for it as it is, or not for all its characters."""
    return hashlib.sha256(of.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Exported:
    """What a store has about a user, where it has more than it exports."""

    rows: Sequence[Any]
    #: How many more there are.
    left_out: int = 0


@dataclass(frozen=True)
class Store:
    """One place in which a bot keeps data about users: a table, a kind of key, a folder, or anything else by two functions.

    The functions get a `Who` and may be `async def`. A plain one runs in the thread of the loop, and nothing limits its time.
    """

    #: What the holder covers, and the name of its count: 1 to 64 characters, without anything personal.
    name: str
    #: How many rows, keys or files there are about the user.
    count: Callable[[Who], Eventual[int]]
    #: Erases them. It may run again after a crash.
    erase: Callable[[Who], Eventual[None]]
    #: Nothing in the store says to which guild it belongs: an erasure leaves it as long as a consent of the user is in force in
    #: another guild. "partly" where this is true of a part of it: `Who.is_last`.
    everywhere: Everywhere = False
    #: The store is counted and not erased until `keeps.until`.
    keeps: Optional[Keeps] = None
    #: Where the store remembers what was erased in it. Without it a restored backup is not noticed.
    marks: Optional[Marks] = None
    #: What there is about the user, for an export (Art. 15 and 20): values of any kind, which become JSON. It changes nothing.
    #: The data of a store without this function is counted in an export, and said not to be in it.
    export: Optional[Callable[[Who], Eventual[Union[Sequence[Any], Exported]]]] = None


class HolderError(Exception):
    """What could not be done in a store. Its words have no id."""

    def __init__(
        self,
        message: str,
        *,
        store: Optional[str] = None,
        task_id: Optional[str] = None,
        code: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        #: The name of the store; None where the service is meant.
        self.store = store
        self.task_id = task_id
        #: What the driver calls the error.
        self.code = code


def moment(at: Union[str, date]) -> datetime:
    """Raises ValueError for a text that is no time."""
    if isinstance(at, str):
        at = datetime.fromisoformat(at.replace("Z", "+00:00"))
    elif not isinstance(at, datetime):
        at = datetime(at.year, at.month, at.day)
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)


def written(at: datetime) -> str:
    """As the service writes times."""
    return at.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
