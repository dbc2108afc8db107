"""lethe_client.holders with the service: every erasure is done in the stores of the bot too."""

import asyncio
import base64
import hashlib
import json
import random
import shutil
import sqlite3
import sys
import threading
import time
from contextlib import closing, suppress
from contextvars import copy_context
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional

import httpx
import pytest
from conftest import BANS, PROFILE, URL, Place, snowflake, subject

from lethe_client import AsyncLethe, Lethe, LetheError, holders
from lethe_client.holders import Holder, HolderError, Keeps, Store, Who, _drivers, _run, run_holder
from lethe_client.holders._limited import limited

BOT_WIDE = "0" * 17
Json = Dict[str, Any]


class Killed(BaseException):
    """The process ends here."""


class Database:
    """That of a bot: messages in a guild, and profiles of users everywhere."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run("CREATE TABLE messages (id INTEGER PRIMARY KEY, author_id TEXT, guild_id TEXT, text TEXT)")
        self.run("CREATE TABLE profiles (user_id INTEGER PRIMARY KEY, theme TEXT)")

    def run(self, statement: str, *values: Any) -> List[Any]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def write(self, who: Json) -> None:
        for text in ("one", "two"):
            given = (who["user_id"], who["guild_id"], text)
            self.run("INSERT INTO messages (author_id, guild_id, text) VALUES (?, ?, ?)", *given)
        self.run("INSERT OR REPLACE INTO profiles VALUES (?, 'dark')", int(who["user_id"]))

    def rows_of(self, who: Json) -> List[int]:
        [[messages]] = self.run("SELECT count(*) FROM messages WHERE author_id = ?", who["user_id"])
        [[profiles]] = self.run("SELECT count(*) FROM profiles WHERE user_id = ?", int(who["user_id"]))
        return [messages, profiles]

    def stores(self) -> List[Store]:
        return [
            holders.sqlite(self.path, "messages", user="author_id", guild="guild_id"),
            holders.sqlite(self.path, "profiles", user="user_id"),
        ]


class Answers(httpx.BaseTransport):
    """The service, with answers that a test changes, and a note of each acknowledgement."""

    def __init__(self, change: Callable[[httpx.Request, Json], Optional[Json]] = lambda request, answer: None) -> None:
        self.change, self.inner = change, httpx.HTTPTransport()
        self.answers: List[Json] = []
        self.bytes = 0
        #: The statuses by which the next answers of a holder are refused.
        self.refused: List[int] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/acknowledge"):
            self.answers.append({"key": request.url.path.split("/")[-4], **json.loads(request.read())})
            self.bytes = len(request.read())
            if self.refused:
                status = self.refused.pop()
                code = "rate_limit_exceeded" if status == 429 else "invalid_request"
                said = {"success": False, "error": {"code": code, "message": "no"}}
                return httpx.Response(status, json=said, headers={"retry-after": "59"})
        response = self.inner.handle_request(request)
        answer = json.loads(response.read())
        changed = self.change(request, answer)
        if changed is None:
            return httpx.Response(response.status_code, json=answer, headers={"content-type": "application/json"})
        return httpx.Response(200, json=changed)


class Bot:
    def __init__(self, path: Path) -> None:
        self.key = str(Place(None).registered()["api_key"])
        self.sent = Answers()
        self.lethe = Lethe(URL, self.key, client=httpx.Client(transport=self.sent), retries=0)
        self.lethe.categories.register(**PROFILE)
        self.database = Database(path / "bot.db")
        self.errors: List[Exception] = []
        # Before the first erasure: only what is erased after it makes tasks.
        self.holder().once()

    def holder(self, **options: Any) -> Holder:
        given = {"key": "database", "stores": self.database.stores(), "on_error": self.errors.append, **options}
        return run_holder(self.lethe, **given)

    def known(self, who: Optional[Json] = None) -> Json:
        """A user with two messages in the guild and a profile, who has consented there."""
        who = who or subject()
        self.lethe.consents.request(**who, consent_version="1.0")
        self.lethe.consents.accept(**who, consent_version="1.0")
        self.database.write(who)
        return who

    def forgotten(self, who: Optional[Json] = None) -> Json:
        who = self.known(who)
        self.lethe.privacy.forget(**who)
        return who

    @property
    def answers(self) -> List[Json]:
        return [{name: one[name] for name in ("result", "counts", "kept") if name in one} for one in self.sent.answers]

    @property
    def words(self) -> List[str]:
        return [str(error) for error in self.errors]


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bot]:
    # Of a backoff, which is then no wait.
    monkeypatch.setattr(random, "random", lambda: 0.0)
    bot = Bot(tmp_path)
    yield bot
    bot.lethe.close()


def nothing(who: Who) -> int:
    return 0


def none(who: Who) -> None:
    return None


# The declaration.


def test_it_is_declared_once_and_follows_the_stores(bot: Bot) -> None:
    bot.holder().once()
    there = bot.lethe.holders.get("database")
    assert (there["covers"], there["label_de"], there["kind"]) == (["messages", "profiles"], "database", "pull")
    bot.holder(stores=bot.database.stores()[1:], label_de="Datenbank", label_en="Database").once()
    there = bot.lethe.holders.get("database")
    assert (there["covers"], there["label_de"], there["label_en"]) == (["profiles"], "Datenbank", "Database")


def test_it_is_declared_again_where_the_service_has_lost_it(bot: Bot) -> None:
    holder = bot.holder()
    holder.once()
    bot.lethe.holders.delete(key="database")
    with pytest.raises(HolderError, match="run lethe holders push before, .* Lethe answered: Holder not found"):
        bot.holder(dry_run=True).once()
    assert holder.once().answered == 0
    assert bot.lethe.holders.get("database")["covers"] == ["messages", "profiles"]
    who = bot.forgotten()
    assert holder.once().answered == 1
    assert bot.database.rows_of(who) == [0, 0]
    [words] = bot.words
    assert words.startswith("The holder database was not known to the service") and "GET /users" in words


def test_it_is_reported_as_lost_also_where_another_key_has_declared_it_again(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = bot.holder()
    holder.once()
    bot.lethe.holders.delete(key="database")

    async def refused(wanted: Any) -> None:
        raise HolderError("The API key lacks the scope admin.")

    with monkeypatch.context() as patched, pytest.raises(HolderError, match="lacks the scope"):
        patched.setattr(holder._service, "declare", refused)
        holder.once()
    bot.holder().once()
    holder.once()
    holder.once()
    [words] = bot.words
    assert words.startswith("The holder database was not known to the service")


def test_it_keeps_the_labels_that_were_declared_elsewhere(bot: Bot) -> None:
    labels = {"label_de": "Datenbank des Bots", "label_en": "Database of the bot"}
    bot.lethe.holders.change(key="database", **labels)
    # A key that may not change the holder has nothing to change.
    small = bot.lethe.keys.create(name="small", scopes=["read", "write"])["api_key"]
    with Lethe(URL, small) as lethe:
        run_holder(lethe, key="database", stores=bot.database.stores(), on_error=bot.errors.append).once()
    assert bot.errors == []
    bot.holder(stores=bot.database.stores()[1:], label_en="Data").once()
    there = bot.lethe.holders.get("database")
    assert (there["covers"], there["label_de"], there["label_en"]) == (["profiles"], "Datenbank des Bots", "Data")


def test_a_key_without_the_scope_admin_is_told_what_to_do(bot: Bot) -> None:
    small = bot.lethe.keys.create(name="small", scopes=["read", "write"])["api_key"]
    with Lethe(URL, small) as lethe:
        assert run_holder(lethe, key="database", stores=bot.database.stores()).once().answered == 0
        with pytest.raises(HolderError, match="not declared, and the API key lacks the scope admin.*lethe holders push"):
            run_holder(lethe, key="other", stores=bot.database.stores()).once()


def test_a_holder_that_may_not_be_changed_is_reported_once_and_its_tasks_are_done(bot: Bot) -> None:
    bot.holder(stores=bot.database.stores()[:1]).once()
    small = bot.lethe.keys.create(name="small", scopes=["read", "write"])["api_key"]
    who = bot.forgotten()
    with Lethe(URL, small) as lethe:
        holder = run_holder(lethe, key="database", stores=bot.database.stores(), on_error=bot.errors.append)
        assert holder.once().found == {"messages": 2, "profiles": 1}
        holder.once()
    assert bot.database.rows_of(who) == [0, 0]
    assert [("declared otherwise" in one, "lethe holders push" in one) for one in bot.words] == [(True, True)]


def test_a_holder_by_whose_public_key_no_answer_could_be_verified_erases_nothing(bot: Bot) -> None:
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    bot.holder().once()
    small = bot.lethe.keys.create(name="small", scopes=["read", "write"])["api_key"]
    who = bot.forgotten()
    key = ed25519.Ed25519PrivateKey.generate()
    with Lethe(URL, small) as lethe:
        with pytest.raises(HolderError, match="another public key, and the API key lacks the scope admin"):
            run_holder(lethe, key="database", stores=bot.database.stores(), private_key=key).once()
    assert bot.database.rows_of(who) == [2, 1]
    assert bot.holder(private_key=key).once().found == {"messages": 2, "profiles": 1}


@pytest.mark.parametrize(
    "options, words",
    [
        ({"stores": []}, "1 to 50 stores"),
        ({"stores": [Store("", nothing, none)]}, "1 to 64 characters"),
        ({"stores": [Store("a", nothing, none), Store("a", nothing, none)]}, "Two stores are called a"),
        ({"stores": ["a"]}, "list of Store"),
        *(
            ({"stores": [Store("a", nothing, none, keeps=Keeps("law", until))]}, "keeps of a needs a basis")
            for until in ("never", "01.12.2026", "2027-02-30", "2032-01-01T00:00", "2032-01-01 00:00:00", "+010000-01-01", "")
        ),
        ({"private_key": "secret text"}, "must be an Ed25519 key in PEM"),
        ({"every_seconds": 0}, "every_seconds must be a number"),
        ({"store_timeout_seconds": 0}, "store_timeout_seconds must be a number"),
    ],
)
def test_options_that_cannot_work_are_refused(options: Json, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words) as raised:
        run_holder(Lethe(URL, "k"), **{"key": "database", "stores": [Store("a", nothing, none)], **options})
    assert "secret text" not in str(raised.value)


# A task.


def test_a_task_erases_only_this_user_and_only_in_this_guild(bot: Bot) -> None:
    who, other = bot.known(), bot.known()
    bot.database.write({**who, "guild_id": snowflake()})
    bot.lethe.privacy.forget(**who)
    done = bot.holder().once()
    assert (done.answered, done.failed, done.repeated, done.found) == (1, 0, 0, {"messages": 2, "profiles": 1})
    assert bot.answers == [{"result": "erased", "counts": {"messages": 2, "profiles": 1}}]
    assert [bot.database.rows_of(who), bot.database.rows_of(other)] == [[2, 0], [2, 1]]
    assert bot.holder().once().answered == 0
    assert bot.words == []


@pytest.mark.parametrize("rule", ["CASCADE", "RESTRICT", "NO ACTION DEFERRABLE INITIALLY DEFERRED"])
def test_rows_that_refer_to_an_erased_row_are_erased_by_their_cascade_or_fail_the_task(bot: Bot, rule: str) -> None:
    bot.database.run(f"CREATE TABLE notes (user_id INTEGER REFERENCES profiles ON DELETE {rule}, text TEXT)")
    who = bot.known()
    bot.database.run("INSERT INTO notes VALUES (?, 'secret')", int(who["user_id"]))
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    left = bot.database.run("SELECT text FROM notes")
    if rule == "CASCADE":
        assert bot.answers == [{"result": "erased", "counts": {"messages": 2, "profiles": 1}}]
        assert (left, bot.database.rows_of(who), bot.words) == ([], [0, 0], [])
    else:
        assert bot.answers == [{"result": "failed", "counts": {"messages": 2}}]
        assert (left, bot.database.rows_of(who)) == ([("secret",)], [0, 1])
        [words] = bot.words
        assert words.startswith("profiles: FOREIGN KEY constraint failed: another row still refers to an erased one.")
        # The table that refers to it comes first.
        stores = [holders.sqlite(bot.database.path, "notes", user="user_id"), *bot.database.stores()]
        bot.holder(stores=stores).once()
        assert bot.answers[-1] == {"result": "erased", "counts": {"notes": 1, "messages": 2, "profiles": 1}}
        assert bot.database.rows_of(who) == [0, 0]


def test_a_row_of_another_user_that_refers_to_an_erased_one_fails_the_task_unless_the_bot_has_no_foreign_keys(bot: Bot) -> None:
    bot.database.run("ALTER TABLE messages ADD COLUMN reply_to INTEGER REFERENCES messages")
    who, other = bot.known(), bot.known()
    [[first]] = bot.database.run("SELECT min(id) FROM messages WHERE author_id = ?", who["user_id"])
    bot.database.run("UPDATE messages SET reply_to = ? WHERE author_id = ?", first, other["user_id"])
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    assert bot.answers == [{"result": "failed", "counts": {"profiles": 1}}]
    [words] = bot.words
    assert "FOREIGN KEY" in words and "foreign_keys=False if the bot itself runs without foreign keys" in words
    messages = holders.sqlite(
        bot.database.path, "messages", user="author_id", guild="guild_id", foreign_keys=False
    )
    bot.holder(stores=[messages, bot.database.stores()[1]]).once()
    assert bot.answers[-1] == {"result": "erased", "counts": {"messages": 2, "profiles": 1}}
    assert [bot.database.rows_of(who), bot.database.rows_of(other)] == [[0, 0], [2, 1]]
    assert bot.database.run("SELECT DISTINCT reply_to FROM messages") == [(first,)]
    with closing(sqlite3.connect(bot.database.path)) as connection, pytest.raises(TypeError, match="its own setting"):
        holders.sqlite(connection, "messages", user="author_id", foreign_keys=False)


def test_a_user_without_rows_is_answered_with_nothing(bot: Bot) -> None:
    who = bot.known()
    bot.database.run("DELETE FROM messages")
    bot.database.run("DELETE FROM profiles")
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    assert bot.answers == [{"result": "nothing", "counts": {"messages": 0, "profiles": 0}}]


def test_a_table_without_a_guild_is_erased_with_the_last_consent(bot: Bot) -> None:
    who = bot.known()
    elsewhere = bot.known({**who, "guild_id": snowflake()})
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    assert bot.database.rows_of(who) == [2, 1]
    assert bot.answers == [{"result": "erased", "counts": {"messages": 2}}]
    bot.lethe.privacy.forget(**elsewhere)
    bot.holder().once()
    assert bot.database.rows_of(who) == [0, 0]


def test_of_a_store_with_both_the_names_of_the_guild_are_erased_alone(bot: Bot, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    who = bot.known()
    elsewhere = bot.known({**who, "guild_id": snowflake()})

    def names(who: Who) -> List[str]:
        return [f"{who.guild_id}-{who.user_id}.txt", f"{who.user_id}.png"]

    for name in {*names(Who(**who)), *names(Who(**elsewhere))}:
        (folder / name).write_text("x")
    store = holders.files(folder, names)
    assert store.everywhere == "partly"
    bot.lethe.privacy.forget(**who)
    bot.holder(stores=[store]).once()
    assert sorted(each.name for each in folder.glob("[!.]*")) == sorted(names(Who(**elsewhere)))
    bot.lethe.privacy.forget(**elsewhere)
    bot.holder(stores=[store]).once()
    assert list(folder.glob("[!.]*")) == []
    assert bot.answers == [{"result": "erased", "counts": {"mixed": 1}}, {"result": "erased", "counts": {"mixed": 2}}]


def test_a_missing_folder_of_files_fails_in_every_round_and_is_not_made(bot: Bot, tmp_path: Path) -> None:
    folder = tmp_path / "avtars"
    who = bot.known()
    bot.known({**who, "guild_id": snowflake()})
    bot.lethe.privacy.forget(**who)
    bot.forgotten()

    def stores() -> List[Store]:
        in_guild = holders.files(folder, lambda who: f"{who.guild_id}-{who.user_id}.txt", name="a")
        return [in_guild, holders.files(folder, lambda who: f"{who.user_id}.png", name="b")]

    again = bot.holder(stores=stores())
    for _ in range(2):
        again.once()
        bot.holder(stores=stores()).once()
        assert not folder.exists()
    assert {answer["result"] for answer in bot.answers} == {"failed"}
    # The disk is mounted: it is done after all.
    folder.mkdir()
    (folder / f"{who['guild_id']}-{who['user_id']}.txt").write_text("x")
    bot.holder(stores=stores()).once()
    assert sorted(answer["result"] for answer in bot.answers[-2:]) == ["erased", "nothing"]


def test_the_bot_wide_scope_has_the_rows_without_a_guild(bot: Bot) -> None:
    who = bot.known()
    bot.database.run("INSERT INTO messages (author_id) VALUES (?)", who["user_id"])
    bot.forgotten({**who, "guild_id": BOT_WIDE})
    bot.holder().once()
    assert bot.answers == [{"result": "erased", "counts": {"messages": 3}}]
    assert bot.database.rows_of(who) == [2, 1]


def test_the_bot_wide_scope_means_every_guild_unless_a_consent_is_left(bot: Bot) -> None:
    who = bot.known({"user_id": snowflake(), "guild_id": BOT_WIDE})
    bot.known({**who, "guild_id": snowflake()})
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    assert bot.database.rows_of(who) == [2, 1]
    other = bot.known({"user_id": snowflake(), "guild_id": BOT_WIDE})
    bot.database.write({**other, "guild_id": snowflake()})
    bot.lethe.privacy.forget(**other)
    bot.holder().once()
    assert bot.answers[-1] == {"result": "erased", "counts": {"messages": 4, "profiles": 1}}
    assert bot.database.rows_of(other) == [0, 0]


def test_the_bot_wide_scope_spares_a_guild_of_which_lethe_keeps_a_value_without_a_consent(bot: Bot) -> None:
    bot.lethe.categories.register(**BANS)
    who = subject()
    bot.lethe.data.submit(**who, category="bans", data={"nickname": "Robin"})
    bot.database.write(who)
    bot.lethe.privacy.forget(**{**who, "guild_id": BOT_WIDE})
    bot.holder().once()
    assert bot.database.rows_of(who) == [2, 1]
    assert list(bot.lethe.data.values(**who)["values"]) == ["bans"]
    bot.lethe.privacy.forget_everywhere(user_id=who["user_id"])
    bot.holder().once()
    assert bot.database.rows_of(who) == [0, 0]


@pytest.mark.parametrize("is_asked", [True, False])
def test_the_bot_wide_scope_leaves_the_rows_of_guilds_while_one_has_only_asked_or_was_withdrawn(bot: Bot, is_asked: bool) -> None:
    who = bot.known({"user_id": snowflake(), "guild_id": BOT_WIDE})
    elsewhere = {**who, "guild_id": snowflake()}
    bot.lethe.consents.request(**elsewhere, consent_version="1.0")
    if not is_asked:
        bot.lethe.consents.accept(**elsewhere, consent_version="1.0")
        bot.lethe.consents.revoke(**elsewhere)
    bot.database.write({**who, "guild_id": snowflake()})
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    # What belongs to the user everywhere is erased: no guild has a reason to keep it.
    assert bot.database.rows_of(who) == [2, 0]


def test_what_is_kept_is_answered_with_its_basis_and_erased_after_its_end(bot: Bot) -> None:
    def stores(until: str) -> List[Store]:
        keeps = Keeps("Art. 17(3)(b) GDPR", until)
        kept = holders.sqlite(bot.database.path, "messages", user="author_id", guild="guild_id", keeps=keeps)
        return [kept, bot.database.stores()[1]]

    who = bot.forgotten()
    bot.holder(stores=stores("2999-01-01")).once()
    kept = {"basis": "Art. 17(3)(b) GDPR", "until": "2999-01-01T00:00:00.000Z"}
    assert bot.answers == [{"result": "kept", "counts": {"messages": 2, "profiles": 1}, "kept": kept}]
    assert bot.database.rows_of(who) == [2, 0]
    other = bot.forgotten()
    bot.holder(stores=stores("2020-01-01")).once()
    assert bot.database.rows_of(other) == [0, 0]


@pytest.mark.parametrize("first", [True, False])
def test_what_is_kept_and_was_erased_with_another_table_by_its_cascade_fails_the_task(bot: Bot, first: bool) -> None:
    bot.database.run("CREATE TABLE invoices (user_id INTEGER REFERENCES profiles ON DELETE CASCADE)")
    who = bot.known()
    bot.database.run("INSERT INTO invoices VALUES (?)", int(who["user_id"]))
    bot.lethe.privacy.forget(**who)
    keeps = Keeps("Art. 17(3)(b) GDPR", "2999-01-01")
    invoices = [holders.sqlite(bot.database.path, "invoices", user="user_id", keeps=keeps)]
    holder = bot.holder(stores=[*invoices, *bot.database.stores()] if first else [*bot.database.stores(), *invoices])
    holder.once()
    counts = {"invoices": 0, "messages": 2, "profiles": 1}
    assert bot.answers == [{"result": "failed", "counts": counts}]
    [words] = bot.words
    assert words.startswith("invoices: Only 0 of 1 kept rows are left.") and "ON DELETE CASCADE" in words
    holder.once()
    holder.once()
    assert bot.answers[1:] == [{"result": "erased", "counts": counts}]


@pytest.mark.parametrize(("until", "repeated", "rows"), [("2020-01-01", 1, [0, 1]), ("2999-01-01", 0, [2, 1])])
def test_a_restored_backup_of_what_is_kept_is_erased_again_once_the_time_is_over(
    bot: Bot, tmp_path: Path, until: str, repeated: int, rows: List[int]
) -> None:
    keeps = Keeps("Art. 17(3)(b) GDPR", until)
    stores = [holders.sqlite(bot.database.path, "messages", user="author_id", guild="guild_id", keeps=keeps)]
    who = bot.known()
    shutil.copy(bot.database.path, tmp_path / "backup.db")
    bot.lethe.privacy.forget(**who)
    bot.holder(stores=stores).once()
    shutil.copy(tmp_path / "backup.db", bot.database.path)
    assert bot.holder(stores=stores).once().repeated == repeated
    assert bot.database.rows_of(who) == rows


def test_a_restored_backup_of_what_was_kept_is_erased_again_also_of_a_user_who_came_back(bot: Bot, tmp_path: Path) -> None:
    def stores(until: str) -> List[Store]:
        keeps = Keeps("Art. 17(3)(b) GDPR", until)
        return [holders.sqlite(bot.database.path, "messages", user="author_id", guild="guild_id", keeps=keeps)]

    who = bot.known()
    # The notes of the backup have not come so far as the task of the erasure.
    before = datetime.now(timezone.utc) - timedelta(minutes=1)
    bot.database.run("DELETE FROM lethe_holder WHERE name = 'since'")
    noted = ("database/messages", "since", before.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    bot.database.run("INSERT INTO lethe_holder (list, name, note) VALUES (?, ?, ?)", *noted)
    shutil.copy(bot.database.path, tmp_path / "backup.db")
    bot.lethe.privacy.forget(**who)
    bot.holder(stores=stores("2999-01-01")).once()
    bot.known(who)
    shutil.copy(tmp_path / "backup.db", bot.database.path)
    assert bot.holder(stores=stores("2020-01-01")).once().repeated == 1
    assert bot.database.rows_of(who) == [0, 1]


def test_a_task_that_was_answered_with_kept_erases_nothing_that_the_user_gave_since(bot: Bot) -> None:
    def stores(until: str) -> List[Store]:
        keeps = Keeps("Art. 17(3)(b) GDPR", until)
        return [holders.sqlite(bot.database.path, "messages", user="author_id", guild="guild_id", keeps=keeps)]

    who = bot.forgotten()
    bot.holder(stores=stores("2999-01-01")).once()
    bot.known(who)
    assert bot.holder(stores=stores("2020-01-01")).once().repeated == 0
    assert bot.database.rows_of(who) == [4, 1]


@pytest.mark.parametrize(("is_back", "repeated", "rows"), [(True, 0, [4, 1]), (False, 1, [0, 1])])
def test_what_a_version_without_notes_answered_with_kept_spares_what_the_user_gave_since(
    bot: Bot, is_back: bool, repeated: int, rows: List[int]
) -> None:
    def stores(until: str) -> List[Store]:
        keeps = Keeps("Art. 17(3)(b) GDPR", until)
        return [holders.sqlite(bot.database.path, "messages", user="author_id", guild="guild_id", keeps=keeps)]

    who = bot.forgotten()
    bot.holder(stores=stores("2999-01-01")).once()
    bot.database.run("DELETE FROM lethe_holder WHERE name <> 'since'")
    if is_back:
        bot.known(who)
    assert bot.holder(stores=stores("2020-01-01")).once().repeated == repeated
    assert bot.database.rows_of(who) == rows
    if is_back:
        bot.lethe.consents.revoke(**who)
    assert bot.holder(stores=stores("2020-01-01")).once().repeated == 0


def test_what_is_kept_is_answered_also_where_the_bot_may_only_read(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    async def put(of: str, name: str, note: str) -> None:
        raise sqlite3.OperationalError("a read-only database")

    keeps = Keeps("Art. 17(3)(b) GDPR", "2999-01-01")
    messages = holders.sqlite(bot.database.path, "messages", user="author_id", guild="guild_id", keeps=keeps)
    monkeypatch.setattr(messages.marks, "put", put)
    who = bot.forgotten()
    stores = [messages, holders.sqlite(bot.database.path, "profiles", user="user_id")]
    before = bot.database.run("SELECT list, note FROM lethe_holder WHERE name = 'since' ORDER BY list")
    assert bot.holder(stores=stores).once().answered == 1
    assert [(one["result"], one["counts"]) for one in bot.answers] == [("kept", {"messages": 2, "profiles": 1})]
    assert "messages: a read-only database" in bot.words
    assert bot.database.rows_of(who) == [2, 0]
    # The notes of the other store move on.
    after = bot.database.run("SELECT list, note FROM lethe_holder WHERE name = 'since' ORDER BY list")
    assert [one == other for one, other in zip(before, after)] == [True, False]


def test_each_answer_is_signed_and_the_service_keeps_the_statement(bot: Bot) -> None:
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    key = ed25519.Ed25519PrivateKey.generate()
    bot.holder(private_key=key).once()
    who = bot.known()
    erasure = bot.lethe.privacy.forget(**who)
    assert bot.holder(private_key=key).once().answered == 1
    assert bot.sent.answers[0]["statement"].count(".") == 2
    assert who["user_id"] not in bot.sent.answers[0]["statement"]
    # The service has checked the signature: without the key it refuses an answer.
    assert bot.lethe.privacy.final_certificate(erasure["request_id"])["certificate"]
    assert bot.words == []


def test_a_private_key_without_cryptography_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cryptography.hazmat.primitives.serialization", "cryptography"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "lethe-client\[sign\]"'):
        run_holder(Lethe(URL, "k"), key="database", stores=[Store("a", nothing, none)], private_key="…")


def test_what_another_process_has_answered_is_no_error(bot: Bot) -> None:
    bot.forgotten()
    def in_thread(who: Who) -> int:
        # once() of the other process: an event loop of its own.
        other = threading.Thread(target=bot.holder().once)
        other.start()
        other.join()
        return 0

    slow = bot.holder(stores=[Store("slow", in_thread, none), *bot.database.stores()])
    done = slow.once()
    assert (done.answered, done.failed, bot.words) == (1, 0, [])
    assert bot.answers[0] == {"result": "erased", "counts": {"messages": 2, "profiles": 1}}


def test_what_a_process_without_one_of_the_stores_has_answered_is_done_in_it_with_the_next_task(bot: Bot) -> None:
    own, other = bot.holder(), bot.holder(stores=bot.database.stores()[1:])
    own.once()
    who = bot.forgotten()
    other.once()
    assert bot.database.rows_of(who) == [2, 0]
    bot.forgotten()
    found = own.once()
    assert [found.answered, found.repeated, bot.database.rows_of(who)] == [1, 1, [0, 0]]
    assert len(bot.sent.answers) == 2
    # The user comes back.
    bot.database.write(who)
    for holder in (own, bot.holder()):
        found = holder.once()
        assert [found.answered, found.repeated, bot.database.rows_of(who)] == [0, 0, [2, 1]]
    assert bot.errors == []


def test_the_answer_has_what_another_process_has_found_that_was_killed_after_this_one_began(bot: Bot) -> None:
    late = bot.holder()
    assert late.once().answered == 0
    bot.forgotten()
    bot.sent.refused = [503]
    with pytest.raises(LetheError):
        bot.holder().once()
    bot.sent.answers.clear()
    assert late.once().answered == 1
    assert bot.answers == [{"result": "erased", "counts": {"messages": 2, "profiles": 1}}]


# A store that fails.


def test_a_store_that_fails_keeps_no_other_store_and_no_other_task_and_is_reported_without_ids(bot: Bot) -> None:
    one, other = bot.forgotten(), bot.forgotten()

    def count(who: Who) -> int:
        if who.user_id == one["user_id"]:
            raise RuntimeError(f"no user {who.user_id} in {who.guild_id}\nDETAIL: {who.user_id}")
        return 0

    done = bot.holder(stores=[Store("broken", count, none), *bot.database.stores()]).once()
    assert (done.answered, done.failed) == (1, 1)
    assert bot.answers == [
        {"result": "failed", "counts": {"messages": 2, "profiles": 1}},
        {"result": "erased", "counts": {"broken": 0, "messages": 2, "profiles": 1}},
    ]
    assert [bot.database.rows_of(one), bot.database.rows_of(other)] == [[0, 0], [0, 0]]
    [error] = bot.errors
    assert isinstance(error, HolderError)
    assert (str(error), error.store) == ("broken: no user … in …", "broken")


def test_a_store_that_erases_nothing_is_found_by_the_second_look(bot: Bot) -> None:
    bot.forgotten()
    bot.holder(stores=[Store("lazy", lambda who: 2, none)]).once()
    assert bot.answers == [{"result": "failed", "counts": {}}]
    assert bot.words == ["lazy: The second look still finds 2 of 2."]


@pytest.mark.parametrize("count", [None, -1, True, 1.5, "1"])
def test_what_is_no_number_of_rows_is_no_erasure(bot: Bot, count: Any) -> None:
    bot.forgotten()
    bot.holder(stores=[Store("odd", lambda who: count, none)]).once()
    assert [one["result"] for one in bot.answers] == ["failed"]


def test_a_store_that_fails_is_tried_again_after_one_three_and_seven_rounds(bot: Bot) -> None:
    tries = 0

    def count(who: Who) -> int:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise RuntimeError("database is gone")
        return 0

    bot.forgotten()
    holder = bot.holder(stores=[Store("broken", count, none)])
    tried = []
    for _ in range(15):
        holder.once()
        tried.append(tries)
    assert tried == [1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]
    assert [one["result"] for one in bot.answers] == ["failed", "failed", "failed", "nothing"]


@pytest.mark.parametrize("is_back, rows", [(True, [2, 1]), (False, [0, 0])])
def test_while_a_store_fails_the_others_which_are_done_spare_what_a_user_gave_who_came_back(
    bot: Bot, is_back: bool, rows: List[int]
) -> None:
    def away(who: Who) -> int:
        raise RuntimeError("away")

    stores = bot.database.stores()
    who = bot.forgotten()
    bot.holder(stores=[*stores, Store("broken", away, none)]).once()
    if is_back:
        bot.known(who)
    else:
        bot.database.write(who)
    for _ in range(2):
        bot.holder(stores=[*stores, Store("broken", away, none)]).once()
        assert bot.database.rows_of(who) == rows
    assert bot.holder(stores=[*stores, Store("broken", nothing, none)]).once().answered == 1
    assert bot.answers[-1] == {"result": "erased", "counts": {"messages": 2, "profiles": 1, "broken": 0}}
    assert bot.database.rows_of(who) == rows


def _away(who: Who) -> int:
    raise RuntimeError("away")


def test_a_store_that_was_only_kept_spares_nothing_that_was_there_before(bot: Bot) -> None:
    def kept(year: int) -> List[Store]:
        stores = [replace(store, keeps=Keeps("law", f"{year}-01-01")) for store in bot.database.stores()]
        return [*stores, Store("broken", _away, none)]

    who = bot.forgotten()
    bot.database.write(who)
    bot.holder(stores=kept(2999)).once()
    bot.known(who)
    bot.holder(stores=kept(2020)).once()
    assert bot.database.rows_of(who) == [0, 0]
    # Now they are erased, and what is given since is spared.
    bot.database.write(who)
    bot.holder(stores=kept(2020)).once()
    assert bot.database.rows_of(who) == [2, 1]


def test_what_a_restore_has_brought_back_while_the_bot_ran_is_not_spared(bot: Bot, tmp_path: Path) -> None:
    who = bot.known()
    shutil.copy(bot.database.path, tmp_path / "backup.db")
    bot.lethe.privacy.forget(**who)
    loop = bot.holder(stores=[*bot.database.stores(), Store("broken", _away, none)])
    loop.once()
    assert bot.database.rows_of(who) == [0, 0]
    shutil.copy(tmp_path / "backup.db", bot.database.path)
    bot.known(who)
    # The next round waits, and the one after it tries again.
    for _ in range(2):
        loop.once()
    assert bot.database.rows_of(who) == [0, 0]


def test_a_store_that_never_answers_holds_no_other_store_and_no_other_task(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = bot.forgotten(), bot.forgotten()

    def patient(store: Store, seconds: float) -> Store:
        # The others answer, however slow the machine is.
        return limited(store, seconds if store.name == "silent" else 600)

    monkeypatch.setattr(_run, "limited", patient)

    async def count(who: Who) -> int:
        if who.user_id == one["user_id"]:
            await asyncio.Event().wait()
        return 0

    stores = [Store("silent", count, none), *bot.database.stores()]
    done = bot.holder(stores=stores, store_timeout_seconds=1).once()
    assert (done.answered, done.failed) == (1, 1)
    assert bot.words == ["silent: The store has not answered within 1 seconds."]
    assert [bot.database.rows_of(one), bot.database.rows_of(other)] == [[0, 0], [0, 0]]


# The service.


def changing(bot: Bot, **changed: Any) -> None:
    """From now on every task is answered with these fields."""

    def change(request: httpx.Request, answer: Json) -> Optional[Json]:
        if not request.url.path.endswith("/tasks"):
            return None
        tasks = [{**task, **changed} for task in answer["data"]["tasks"]]
        return {**answer, "data": {**answer["data"], "tasks": tasks}}

    bot.sent.change = change


def test_a_task_with_an_unknown_act_is_left_alone_and_reported_once(bot: Bot) -> None:
    who = bot.forgotten()
    bot.forgotten()
    changing(bot, act="restrict")
    holder = bot.holder()
    for _ in range(2):
        assert holder.once().answered == 0
    assert (bot.answers, bot.database.rows_of(who)) == ([], [2, 1])
    assert len(bot.words) == 1 and "the act restrict" in bot.words[0]
    bot.sent.change = Answers().change
    assert holder.once().answered == 2


@pytest.mark.parametrize(
    "changed",
    [{"user_id": "../*"}, {"guild_id": "*"}, {"user_id": "1'--"}, {"task_id": "../../../outside"}, {"user_id": "0" * 20}],
)
@pytest.mark.parametrize("result", [None, "erased"])
def test_ids_that_are_none_reach_no_store(bot: Bot, changed: Json, result: Optional[str]) -> None:
    called: List[str] = []

    def called_with(who: Who) -> int:
        called.append(who.user_id)
        return 0

    bot.forgotten()
    changing(bot, **changed, result=result)
    try:
        bot.holder(stores=[Store("cache", called_with, none, marks=bot.database.stores()[0].marks)]).once()
    except LetheError:
        pass
    assert called == []
    assert any("no answer of Lethe" in words or "lost the ids" in words for words in bot.words)


def test_a_refusal_is_about_one_task_and_a_fault_about_the_service(bot: Bot) -> None:
    bot.forgotten()
    bot.forgotten()
    bot.sent.refused = [400]
    done = bot.holder().once()
    assert (done.answered, done.failed, len(bot.errors)) == (1, 1, 1)
    bot.sent.refused = [503]
    with pytest.raises(LetheError):
        bot.holder().once()
    assert bot.holder().once().answered == 1


def test_a_fault_of_the_service_about_other_consents_is_none_of_a_store(bot: Bot) -> None:
    bot.forgotten()

    def refuse(request: httpx.Request, answer: Json) -> Optional[Json]:
        if request.url.path.endswith("/users"):
            raise httpx.ReadError("cut")
        return None

    bot.sent.change = refuse
    with pytest.raises(LetheError):
        bot.holder().once()
    bot.sent.change = lambda request, answer: None
    assert bot.holder().once().answered == 1
    assert bot.answers == [{"result": "erased", "counts": {"messages": 2, "profiles": 1}}]
    assert bot.words == []


def test_a_fault_of_the_service_about_other_consents_ends_the_repeat_of_erasures_too(bot: Bot) -> None:
    who = bot.forgotten()
    bot.holder(stores=bot.database.stores()[1:]).once()
    bot.database.write(who)

    def refuse(request: httpx.Request, answer: Json) -> Optional[Json]:
        if request.url.path.endswith("/users"):
            raise httpx.ReadError("cut")
        return None

    bot.sent.change = refuse
    # As a new store: whether the user has come back is asked.
    bot.database.run("DELETE FROM lethe_holder WHERE list = 'database/messages'")
    holder = bot.holder()
    with pytest.raises(LetheError):
        holder.once()
    bot.sent.change = lambda request, answer: None
    assert (holder.once().repeated, bot.database.rows_of(who), bot.words) == (1, [0, 1], [])


def test_a_limit_of_the_service_is_waited_for_and_leaves_requests_for_the_users_from_then_on(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        bot.forgotten()
    waits: List[int] = []

    def sleep(seconds: float) -> None:
        waits.append(int(seconds))

    async def async_sleep(seconds: float) -> None:
        waits.append(int(seconds))

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(asyncio, "sleep", async_sleep)
    bot.sent.refused = [429]
    # Also with this client, which repeats nothing by itself.
    assert bot.holder().once().answered == 3
    # Of each further task: where else the user has consented, and the answer.
    assert (waits, bot.words) == ([59, 5, 5, 5, 5], [])


# Crashes and restores.


def test_a_bot_that_is_killed_at_any_step_erases_and_answers_the_first_count(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 0
    real = {"run": _drivers.SqliteFile.run, "request": bot.lethe.request}

    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed

    async def run(self: Any, *given: str) -> Any:
        step()
        answer = await real["run"](self, *given)
        step()
        return answer

    def request(*given: Any, **options: Any) -> Any:
        step()
        answer = real["request"](*given, **options)
        step()
        return answer

    monkeypatch.setattr(_drivers.SqliteFile, "run", run)
    monkeypatch.setattr(bot.lethe, "request", request)
    kills = 0
    while True:
        who = bot.forgotten()
        left = kills + 1
        try:
            bot.holder().once()
            break
        except Killed:
            kills += 1
        left = 0
        bot.holder().once()
        assert bot.answers[-1] == {"result": "erased", "counts": {"messages": 2, "profiles": 1}}
        assert bot.database.rows_of(who) == [0, 0]
    assert kills > 10
    assert bot.words == []


def test_a_restored_backup_erases_again_at_the_next_start(bot: Bot, tmp_path: Path) -> None:
    early = bot.forgotten()
    bot.holder().once()
    who, stays = bot.known(), bot.known()
    shutil.copy(bot.database.path, tmp_path / "backup.db")
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    assert bot.database.rows_of(who) == [0, 0]
    shutil.copy(tmp_path / "backup.db", bot.database.path)
    assert bot.database.rows_of(who) == [2, 1]
    # Whoever came back before the backup is not erased again.
    bot.known(early)
    done = bot.holder().once()
    assert (done.repeated, done.answered) == (2, 0)
    rows = [bot.database.rows_of(one) for one in (who, stays, early)]
    assert rows == [[0, 0], [2, 1], [2, 1]]
    assert bot.holder().once().repeated == 0


def test_notes_with_a_time_to_come_hide_no_later_erasure_once_they_are_removed(bot: Bot, tmp_path: Path) -> None:
    bot.forgotten()
    ahead = "2099-01-01T00:00:00.000Z"
    bot.sent.change = lambda request, answer: (
        None
        if not request.url.path.endswith("/tasks")
        else {**answer, "data": {**answer["data"], "tasks": [{**t, "created_at": ahead} for t in answer["data"]["tasks"]]}}
    )
    bot.holder().once()
    bot.sent.change = lambda request, answer: None
    for is_stored in (False, True):
        if is_stored:
            bot.database.run(f"UPDATE lethe_holder SET note = '{ahead}' WHERE name = 'since'")
        who = bot.known()
        shutil.copy(bot.database.path, tmp_path / "backup.db")
        bot.lethe.privacy.forget(**who)
        bot.holder().once()
        shutil.copy(tmp_path / "backup.db", bot.database.path)
        if is_stored:
            # Where the clock is behind, it will be right again: nothing is repeated until then.
            assert bot.holder().once().repeated == 0
            [words, _] = bot.words[-2:]
            assert f"done up to {ahead}" in words and "remove the note since of database/messages (as the name of a folder: " in words
            assert "The store then counts as new" in words
            bot.database.run("DELETE FROM lethe_holder WHERE name = 'since'")
        assert bot.holder().once().repeated == 2
        assert bot.database.rows_of(who) == [0, 0]


def test_a_note_of_a_clock_that_is_a_little_ahead_holds_no_round(bot: Bot, tmp_path: Path) -> None:
    bot.forgotten()
    bot.holder().once()
    who = bot.known()
    ahead = (datetime.now(timezone.utc) + timedelta(minutes=10)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    bot.database.run(f"UPDATE lethe_holder SET note = '{ahead}' WHERE name = 'since'")
    shutil.copy(bot.database.path, tmp_path / "backup.db")
    bot.lethe.privacy.forget(**who)
    bot.holder().once()
    shutil.copy(tmp_path / "backup.db", bot.database.path)
    assert (bot.holder().once().repeated, bot.database.rows_of(who), bot.words) == (2, [0, 0], [])


def test_notes_are_those_of_the_sdk_and_have_no_id_of_a_user(bot: Bot) -> None:
    who = bot.forgotten()
    [task] = bot.lethe.holders.tasks(key="database").to_list()
    bot.holder().once()
    at = task["created_at"]
    noted = bot.database.run("SELECT list, name, note FROM lethe_holder ORDER BY list, name = 'since'")
    assert noted == [
        ("database/messages", task["task_id"], f'{{"at":"{at}","found":2,"done":true}}'),
        ("database/messages", "since", at),
        ("database/profiles", task["task_id"], f'{{"at":"{at}","found":1,"done":true}}'),
        ("database/profiles", "since", at),
    ]
    assert who["user_id"] not in str(noted)


def test_while_a_task_fails_the_time_up_to_which_all_is_done_does_not_pass_it(bot: Bot) -> None:
    fails, other = bot.forgotten(), bot.forgotten()

    def count(who: Who) -> int:
        if who.user_id == fails["user_id"]:
            raise RuntimeError("no")
        return 0

    [first, second] = bot.lethe.holders.tasks(key="database").to_list()
    assert (first["user_id"], second["user_id"]) == (fails["user_id"], other["user_id"])
    holder = bot.holder(stores=[Store("broken", count, none), *bot.database.stores()])
    assert holder.once().answered == 1
    assert bot.database.run("SELECT DISTINCT note FROM lethe_holder WHERE name = 'since'") == [(first["created_at"],)]
    bot.holder().once()
    assert bot.database.run("SELECT DISTINCT note FROM lethe_holder WHERE name = 'since'") == [(second["created_at"],)]


def test_a_task_whose_ids_are_lost_holds_up_no_notes(bot: Bot) -> None:
    bot.forgotten()
    [lost] = bot.lethe.holders.tasks(key="database").to_list()
    bot.forgotten()
    [_, other] = bot.lethe.holders.tasks(key="database").to_list()

    def change(request: httpx.Request, answer: Json) -> Optional[Json]:
        if not request.url.path.endswith("/tasks"):
            return None
        zeros = {"user_id": "0" * 20, "guild_id": "0" * 20}
        tasks = [{**one, **(zeros if one["task_id"] == lost["task_id"] else {})} for one in answer["data"]["tasks"]]
        return {**answer, "data": {**answer["data"], "tasks": tasks}}

    bot.sent.change = change
    done = bot.holder().once()
    assert (done.answered, done.failed) == (1, 1)
    assert bot.database.run("SELECT DISTINCT note FROM lethe_holder WHERE name = 'since'") == [(other["created_at"],)]


def test_a_table_that_is_declared_later_is_erased_of_all_but_those_who_came_back(bot: Bot) -> None:
    gone, back = bot.known(), bot.known()
    old = [holders.sqlite(bot.database.path, "profiles", user="user_id")]
    for who in (gone, back):
        bot.lethe.privacy.forget(**who)
    bot.database.run("DELETE FROM lethe_holder WHERE list = 'database/messages'")
    bot.holder(stores=old).once()
    bot.known(back)
    done = bot.holder().once()
    assert (done.repeated, bot.database.rows_of(gone), bot.database.rows_of(back)) == (1, [0, 0], [4, 1])


def test_a_table_that_was_left_is_not_erased_at_the_next_start_of_what_the_user_gave_who_came_back(
    bot: Bot, tmp_path: Path
) -> None:
    for is_restored in (False, True):
        who = bot.known()
        elsewhere = bot.known({**who, "guild_id": snowflake()})
        shutil.copy(bot.database.path, tmp_path / "backup.db")
        bot.lethe.privacy.forget(**who)
        bot.holder().once()
        if is_restored:
            shutil.copy(tmp_path / "backup.db", bot.database.path)
            bot.holder().once()
        bot.lethe.consents.revoke(**elsewhere)
        bot.known(who)
        assert bot.holder().once().repeated == 0
        assert bot.database.rows_of(who)[1] == 1


def test_a_dry_run_counts_and_changes_nothing(bot: Bot) -> None:
    who = bot.forgotten()
    told: List[Any] = []
    before = bot.database.path.read_bytes()
    done = bot.holder(dry_run=True, on_task=told.append).once()
    assert (done.answered, done.found) == (1, {"messages": 2, "profiles": 1})
    [task] = told
    assert (task["act"], task["result"], task["dry_run"]) == ("erase", "erased", True)
    assert task["counts"] == {"messages": 2, "profiles": 1}
    assert (bot.answers, bot.database.rows_of(who), bot.database.path.read_bytes()) == ([], [2, 1], before)


# The loops.


def test_a_loop_of_a_program_without_asyncio_answers_until_it_is_stopped(bot: Bot) -> None:
    who = bot.forgotten()
    answered = threading.Event()
    holder = bot.holder(on_task=lambda task: answered.set())
    holder.start()
    assert answered.wait(60)
    holder.stop()
    assert bot.database.rows_of(who) == [0, 0]
    with pytest.raises(HolderError, match="stopped"):
        holder.once()


@pytest.mark.parametrize("by", ["on_task", "on_error", "store", "a thread of on_task"])
def test_a_loop_can_be_stopped_by_what_the_round_of_another_thread_calls(
    bot: Bot, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot.forgotten()
    waits = threading.Event()

    def turn() -> None:
        waits.set()
        Holder.once(holder)

    def stops(given: Any) -> int:
        holder.start()
        assert waits.wait(60)
        holder.stop()
        return 0

    async def stops_beside(given: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(None, copy_context().run, stops, given)

    def fails(who: Who) -> int:
        raise ValueError("of the store")

    def once() -> None:
        # It raises where the round had a further call to make.
        with suppress(HolderError):
            Holder.once(holder)

    count = {"on_error": fails, "store": stops}.get(by, nothing)
    functions: Json = {"on_task": {"on_task": stops}, "on_error": {"on_error": stops}, "a thread of on_task": {"on_task": stops_beside}}
    given: Json = {"on_task": None, "on_error": None, **functions.get(by, {})}
    holder = bot.holder(stores=[Store("cache", count, none)], **given)
    monkeypatch.setattr(holder, "once", turn)
    worker = threading.Thread(target=once, daemon=True)
    worker.start()
    worker.join(60)
    assert waits.is_set() and not worker.is_alive()
    holder.stop()


def test_once_without_await_is_refused_in_an_event_loop(bot: Bot) -> None:
    async def main() -> None:
        bot.holder().once()

    with pytest.raises(RuntimeError, match="use AsyncLethe"):
        asyncio.run(main())


def test_an_async_loop_answers_shares_its_rounds_and_stops(bot: Bot) -> None:
    who = bot.forgotten()
    asked: List[Who] = []

    async def count(who: Who) -> int:
        asked.append(who)
        return 0

    async def main() -> None:
        answered, stuck = asyncio.Event(), asyncio.Event()

        async def told(task: Any) -> None:
            answered.set()

        async with AsyncLethe(URL, bot.key) as lethe:
            stores = [*bot.database.stores(), Store("cache", count, none)]
            holder = run_holder(lethe, key="database", stores=stores, on_error=bot.errors.append, on_task=told)
            first, second = await asyncio.gather(holder.once(), holder.once())
            assert first is second and first.answered == 1
            assert answered.is_set()
            holder.start()
            await holder.stop()
            with pytest.raises(HolderError, match="stopped"):
                await holder.once()

            async def never(who: Who) -> int:
                stuck.set()
                await asyncio.Event().wait()
                return 0

            bot.forgotten()
            silent = run_holder(
                lethe, key="database", stores=[Store("silent", never, none)], store_timeout_seconds=1
            )
            silent.start()
            await stuck.wait()
            await silent.stop()

    asyncio.run(main())
    assert (bot.database.rows_of(who), len(asked), bot.words) == ([0, 0], 1, [])


@pytest.mark.parametrize("is_apart", [False, True])
@pytest.mark.parametrize("begin", ["once", "start", "wake"])
@pytest.mark.parametrize("by", ["on_task", "on_error"])
def test_an_async_loop_can_be_stopped_by_what_it_calls(bot: Bot, by: str, begin: str, is_apart: bool) -> None:
    bot.forgotten()
    called: List[str] = []

    async def fails(who: Who) -> int:
        raise ValueError("of the store")

    async def main() -> None:
        stopped = asyncio.Event()

        async def stops(given: Any) -> None:
            called.append(begin)
            stop = holder.stop()
            await (asyncio.ensure_future(stop) if is_apart else stop)
            # The call itself goes on.
            await asyncio.sleep(0)
            stopped.set()

        stores = bot.database.stores() if by == "on_task" else [Store("cache", fails, none)]
        given: Json = {"on_task": None, "on_error": None, by: stops}
        async with AsyncLethe(URL, bot.key) as lethe:
            holder = run_holder(lethe, key="database", stores=stores, **given)
            begun = asyncio.ensure_future(holder.once()) if begin == "once" else getattr(holder, begin)()
            await asyncio.wait_for(stopped.wait(), 60)
            if begun is not None:
                await asyncio.gather(begun, return_exceptions=True)
            await asyncio.wait_for(holder.stop(), 60)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert len(called) == 1


def test_an_async_loop_can_be_stopped_by_the_report_of_a_round_that_failed(bot: Bot) -> None:
    async def main() -> None:
        async with AsyncLethe("http://127.0.0.1:1", bot.key, retries=0) as lethe:

            async def stops(error: Exception) -> None:
                await holder.stop()
                await asyncio.sleep(0)
                stopped.set()

            stopped = asyncio.Event()
            holder = run_holder(lethe, key="database", stores=bot.database.stores(), on_error=stops)
            holder.start()
            await asyncio.wait_for(stopped.wait(), 60)
            await asyncio.wait_for(holder.stop(), 60)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_wake_begins_a_round_after_the_one_that_runs(bot: Bot) -> None:
    bot.forgotten()
    answered: List[Any] = []

    async def main() -> None:
        begun, released, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def count(who: Who) -> int:
            begun.set()
            await released.wait()
            return 0

        def told(task: Any) -> None:
            answered.append(task)
            if len(answered) == 2:
                done.set()

        async with AsyncLethe(URL, bot.key) as lethe:
            stores = [*bot.database.stores(), Store("cache", count, none)]
            holder = run_holder(lethe, key="database", stores=stores, on_error=bot.errors.append, on_task=told)
            first = asyncio.ensure_future(holder.once())
            await begun.wait()
            # Its tasks are listed by now.
            late = bot.forgotten()
            for _ in range(3):
                holder.wake()
            released.set()
            assert (await first).answered == 1
            await done.wait()
            await holder.stop()
            holder.wake()
            await holder.stop()
        assert bot.database.rows_of(late) == [0, 0] and bot.errors == []

    asyncio.run(main())


def test_functions_of_the_bot_that_fail_end_no_round(bot: Bot) -> None:
    bot.forgotten()

    def fails(given: Any) -> None:
        raise ValueError("of the bot")

    assert bot.holder(on_task=fails, on_error=fails).once().answered == 1


# Exports.


def exporting(bot: Bot, who: Json) -> None:
    """One open task to export, until it is answered."""
    task = {"task_id": "0" * 8 + "-0000-4000-8000-" + "0" * 12, "act": "export", "result": None, "answered_at": None}
    times = {"created_at": "2026-01-01T00:00:00.000Z", "due_at": "2026-01-15T00:00:00.000Z"}
    given = {**task, **times, "request_id": task["task_id"], **who}

    def change(request: httpx.Request, answer: Json) -> Optional[Json]:
        if request.url.path.endswith("/acknowledge"):
            return {"success": True, "data": {**given, "result": bot.sent.answers[-1]["result"]}}
        if request.url.path.endswith("/tasks"):
            tasks = [] if bot.sent.answers else [given]
            return {**answer, "data": {**answer["data"], "tasks": tasks}}
        return None

    bot.sent.change = change


def test_an_export_hands_over_what_the_stores_have_and_changes_nothing(bot: Bot) -> None:
    who = bot.known()
    exporting(bot, who)
    told: List[Any] = []
    stores = [
        holders.sqlite(bot.database.path, "messages", user="author_id", guild="guild_id", without=["ID"]),
        holders.sqlite(bot.database.path, "profiles", user="user_id", columns=["user_id"]),
        Store("cache", lambda who: 3, none),
    ]
    done = bot.holder(stores=stores, on_task=told.append).once()
    assert (done.answered, done.found, bot.words) == (1, {}, [])
    message = {"author_id": who["user_id"], "guild_id": who["guild_id"]}
    data = {
        "messages": [{**message, "text": "one"}, {**message, "text": "two"}],
        "profiles": [{"user_id": who["user_id"]}],
        "cache": {"not_exported": True, "found": 3},
    }
    [answer] = bot.sent.answers
    assert answer == {"key": "database", "result": "exported", "data": data}
    [task] = told
    assert (task["act"], task["counts"]) == ("export", {"messages": 2, "profiles": 1, "cache": 3})
    assert bot.database.rows_of(who) == [2, 1]
    assert bot.holder(stores=stores).once().repeated == 0


def test_an_answered_export_is_no_reason_to_erase(bot: Bot) -> None:
    who = bot.forgotten()
    bot.holder().once()
    bot.database.write(who)
    bot.database.run("DELETE FROM lethe_holder")
    changing(bot, act="export")
    assert bot.holder().once().repeated == 0
    assert bot.database.rows_of(who) == [2, 1]
    bot.sent.change = Answers().change
    bot.database.run("DELETE FROM lethe_holder")
    assert bot.holder().once().repeated == 2


def test_an_export_without_rows_is_nothing_and_one_with_a_fault_has_failed(bot: Bot) -> None:
    who = bot.known()

    def fails(given: Who) -> List[Any]:
        raise RuntimeError(f"no {given.user_id}")

    for store, result in [(Store("a", nothing, none), "nothing"), (Store("a", nothing, none, export=fails), "failed")]:
        bot.sent.answers.clear()
        exporting(bot, who)
        bot.holder(stores=[store]).once()
        assert bot.sent.answers == [{"key": "database", "result": result}]
    assert bot.words == ["a: no …"]


def test_a_signed_export_has_the_digest_of_the_text_that_javascript_makes(bot: Bot) -> None:
    pytest.importorskip("cryptography")
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    who = bot.known()
    row = {"b": 1.0, "2": 2**60, "1": "ü\u2028\0", "e": 1e-9, "f": 0.5, "bytes": b"\xff", "big": 1e300}
    exporting(bot, who)
    store = Store("a", nothing, none, export=lambda given: [row])
    bot.holder(stores=[store], private_key=ed25519.Ed25519PrivateKey.generate()).once()
    [answer] = bot.sent.answers
    text = (
        '{"a":[{"1":"ü\u2028\ufffd","2":"1152921504606846976","b":1,"e":"1e-09","f":0.5,"bytes":"/w==","big":"1e+300"}]}'
    )
    payload = answer["statement"].split(".")[1]
    said = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    assert json.dumps(answer["data"], ensure_ascii=False, separators=(",", ":")) == text
    assert (said["data_digest"], said["counts"], said["kept"], said["result"]) == (digest, None, None, "exported")


def test_an_export_that_is_too_large_says_how_much_is_left_out(bot: Bot) -> None:
    who = bot.known()
    exporting(bot, who)
    large = Store("large", nothing, none, export=lambda given: ["x" * 1000] * 1000)
    small = Store("small", nothing, none, export=lambda given: ["y" * 1000] * 10)
    bot.holder(stores=[large, small]).once()
    [answer] = bot.sent.answers
    assert len(answer["data"]["small"]) == 10
    found = answer["data"]["large"]
    assert len(found["rows"]) + found["left_out"] == 1000 and found["left_out"] > 700
    assert len(json.dumps(answer["data"], separators=(",", ":"))) <= 229_376
    bot.sent.answers.clear()
    many = Store("many", nothing, none, export=lambda given: [{"ü": [0] * 100}] * 2000)
    bot.holder(stores=[many]).once()
    assert 220_000 < bot.sent.bytes <= 262_144
