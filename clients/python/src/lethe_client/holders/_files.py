"""Files of users below one folder."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from ._limited import in_thread
from ._store import ROWS_MAX, Everywhere, Exported, Keeps, Marks, Store, Who, digest_of_list, is_last_of

_MARKS = ".lethe-holder"
#: The largest file whose content is in an export.
_CONTENT_MAX_BYTES = 32_768
#: How often a folder is erased in which files are removed meanwhile.
_REMOVALS = 10
#: An id, and others of which the last digit, the first, or the one in the middle differs.
_USER = "123456789012345678"
_OTHERS = ("123456789012345679", "223456789012345678", "123456780012345678")


def files(
    folder: Union[str, "os.PathLike[str]"],
    name_of: Callable[[Who], Union[str, Sequence[str]]],
    *,
    name: Optional[str] = None,
    keeps: Optional[Keeps] = None,
) -> Store:
    """Files or folders of users below `folder`, which the bot makes: `files("avatars", lambda who: f"{who.user_id}.png")`.

    `name_of` answers the same names for the same ids, relative to the folder. Those that do not depend on the guild belong
    to the user everywhere. No name and no link leads out of the folder. The name of the store is that of the folder by default.

    Raises ValueError for a name that does not depend on the whole id of the user.
    """
    top = os.path.abspath(folder)

    def named(who: Who) -> List[str]:
        names = name_of(who)
        return [names] if isinstance(names, str) else list(names)

    own = named(Who(_USER, _USER))
    if any(set(own) & set(named(Who(id, _USER))) for id in _OTHERS):
        raise ValueError("Each name of a file must depend on the whole user_id, or the files of other users are erased.")

    def without_guild(names: List[str], who: Who) -> List[str]:
        """Those of the names that are the same in other guilds."""
        others = [named(Who(who.user_id, id)) for id in _OTHERS if id != who.guild_id]
        return [each for each in names if all(each in one for one in others)]

    of_no_guild = without_guild(own, Who(_USER, _USER))
    everywhere: Everywhere = len(of_no_guild) == len(own) or ("partly" if of_no_guild else False)

    def around_guild(who: Who, guild_id: str) -> List[List[List[str]]]:
        """The parts of each name, around a guild, whichever it is."""
        names = (os.path.relpath(os.path.join(top, each), top) for each in named(replace(who, guild_id=guild_id)))
        return [[part.split(guild_id) for part in each.split(os.sep)] for each in names]

    def in_every_guild(who: Who) -> List[str]:
        names, *same = (around_guild(who, id) for id in _OTHERS if id not in who.user_id)
        if any(each != names for each in same) or any(_is_loose(part) for parts in names for part in parts):
            raise ValueError(
                "A name has its guild in another form or beside a digit: answer the names of all guilds where every_guild is true."
            )
        of_guilds = [parts for parts in names if any(len(texts) > 1 for texts in parts)]
        return [each for parts in of_guilds for each in _names_like(top, parts)]

    def paths(who: Who, is_last: bool) -> List[str]:
        names = named(who) + (in_every_guild(who) if who.every_guild else [])
        left = [] if is_last else without_guild(names, who)
        found = (_path_within(top, each) for each in names if each not in left)
        return [path for path in dict.fromkeys(found) if path is not None]

    def erased(who: Who) -> None:
        for path in paths(who, is_last_of(everywhere, who)):
            _remove(path)
            _sync(os.path.dirname(path))

    async def count(who: Who) -> int:
        return len(await in_thread(lambda: paths(who, is_last_of(everywhere, who))))

    async def erase(who: Who) -> None:
        await in_thread(lambda: erased(who))

    async def export(who: Who) -> Exported:
        return await in_thread(lambda: _entries(top, paths(who, who.is_last is not False)))

    return Store(
        export=export,
        name=name or os.path.basename(top),
        count=count,
        erase=erase,
        everywhere=everywhere,
        keeps=keeps,
        marks=_FileMarks(top),
    )


def _is_loose(texts: Sequence[str]) -> bool:
    """Whether a digit is beside the guild, by which the file of one user would be taken for that of another."""
    return any(re.match("[0-9]", text) for text in texts[1:]) or any(re.search(r"[0-9]\Z", text) for text in texts[:-1])


def _names_like(top: str, parts: Sequence[Sequence[str]]) -> List[str]:
    """The names that are there, with digits in the place of the guild."""
    found = [""]
    for texts in parts:
        wanted = re.compile("[0-9]+".join(map(re.escape, texts)))
        found = [
            os.path.join(folder, name)
            for folder in found
            for name in (texts if len(texts) == 1 else _names_in(os.path.join(top, folder), top))
            if wanted.fullmatch(name)
        ]
    return found


def _names_in(folder: Union[str, Path], top: Union[str, Path]) -> List[str]:
    """What a folder has; nothing where it is missing."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        _require_folder(top)
        return []


def _path_within(top: str, name: str) -> Optional[str]:
    """The path of a name, None where there is nothing. Raises ValueError for one outside of the folder."""
    path = os.path.normpath(os.path.join(top, name))
    if not path.startswith(top + os.sep) or "\0" in name or path.startswith(os.path.join(top, _MARKS)):
        raise ValueError("A name of a file leads out of its folder, or to the notes of the store.")
    real, real_top = os.path.realpath(os.path.dirname(path)), os.path.realpath(top)
    if real != real_top and not real.startswith(real_top + os.sep):
        raise ValueError("A link leads out of the folder of the store.")
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        _require_folder(top)
        return None
    return path


def _require_folder(top: Union[str, Path]) -> None:
    """Raises FileNotFoundError for a disk that is not mounted, or a folder with another name: that is no absence of files."""
    os.stat(top)


def _entries(top: str, paths: List[str]) -> Exported:
    """Files, and all files in folders: name, size, and the content in base64 where it is small. No link is followed."""
    rows: List[Mapping[str, Any]] = []
    left, left_out = _CONTENT_MAX_BYTES * 8, 0
    for file in _walked(paths):
        if len(rows) == ROWS_MAX:
            left_out += 1
            continue
        size = os.lstat(file).st_size
        about = {"name": os.path.relpath(file, top).replace(os.sep, "/"), "size": size}
        if os.path.islink(file) or not os.path.isfile(file) or size > min(_CONTENT_MAX_BYTES, left):
            rows.append({**about, "left_out": "content"})
        else:
            rows.append({**about, "content": Path(file).read_bytes()})
            left -= size * 4 // 3
    return Exported(rows, left_out)


def _walked(paths: Iterable[str]) -> Iterator[str]:
    """Raises OSError for a folder that cannot be read: an export without it would not be whole."""
    for path in paths:
        if os.path.isdir(path) and not os.path.islink(path):
            yield from _walked(os.path.join(path, name) for name in sorted(os.listdir(path)))
        else:
            yield path


def _remove(path: str) -> None:
    """What the bot has removed meanwhile, also within a folder, is done: the second look proves it."""
    for _ in range(_REMOVALS):
        try:
            # A link is removed, and not what it leads to.
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.remove(path)
            return
        except (FileNotFoundError, NotADirectoryError):
            if not os.path.lexists(path):
                return


def _sync(folder: str) -> None:
    """Makes the change of a folder durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


class _FileMarks(Marks):
    """Notes in files, one for each: replaced as a whole."""

    def __init__(self, top: str) -> None:
        self._top = Path(top)
        self._folder = self._top / _MARKS

    async def all(self, of: str) -> Mapping[str, str]:
        def act() -> Dict[str, str]:
            names = [name for name in _names_in(self._of(of), self._top) if not name.startswith(".")]
            notes = ((name, self._read(self._of(of) / name)) for name in names)
            # Another process may have removed one since.
            return {name: note for name, note in notes if note is not None}

        return await in_thread(act)

    async def get(self, of: str, name: str) -> Optional[str]:
        return await in_thread(lambda: self._read(self._of(of) / name))

    def _read(self, path: Path) -> Optional[str]:
        try:
            return path.read_text("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            _require_folder(self._top)
            return None

    async def put(self, of: str, name: str, note: str) -> None:
        def act() -> None:
            folder = self._of(of)
            # And none above it.
            self._folder.mkdir(exist_ok=True)
            folder.mkdir(exist_ok=True)
            before = folder / f".{uuid.uuid4()}"
            with open(before, "w", encoding="utf-8") as file:
                file.write(note)
                file.flush()
                os.fsync(file.fileno())
            os.replace(before, folder / name)
            _sync(str(folder))

        await in_thread(act)

    async def remove(self, of: str, names: Sequence[str]) -> None:
        def act() -> None:
            for name in names:
                try:
                    os.remove(self._of(of) / name)
                except FileNotFoundError:
                    pass

        await in_thread(act)

    def _of(self, of: str) -> Path:
        """A folder for each list, whose name may have any characters."""
        return self._folder / digest_of_list(of)
