"""One act of a user, with all that an answer needs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, Callable, List, Optional, Sequence, Tuple

from lethe_client import AsyncLethe, CallOptions, ConflictError, RateLimitedError, UnavailableError

from ._custom_id import PAGE, custom_id
from ._facts import Facts
from ._patient import PATIENT
from ._reply import Json, button, link_button, pages_of, row
from ._waiting import Waiting
from ._words import Words

#: Where the user decided, in the history of the consent.
SOURCE = "discord"
#: The guild of the service that is none: direct messages, private channels, and servers in which the bot is not installed.
DIRECT_MESSAGES = "00000000000000000"
#: What Discord takes from every bot.
FILE_MAX_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True)
class Asked:
    """What a user has done."""

    #: The id of the interaction on Discord.
    id: str
    #: The user who acted. Nothing in a message says for whom it is.
    user_id: str
    #: The server in which the bot is installed; None for the bot-wide scope.
    guild_id: Optional[str]
    #: The language of the user's client, for example `de` or `en-US`.
    locale: str
    #: Of `/privacy`; None for a button or menu.
    subcommand: Optional[str] = None
    #: The option of a subcommand.
    where: str = "here"
    custom_id: str = ""
    #: What is selected in a menu.
    values: Sequence[str] = ()
    file_max_bytes: int = FILE_MAX_BYTES


@dataclass(frozen=True)
class Turn:
    lethe: AsyncLethe
    facts: Facts
    words: Words
    asked: Asked
    consent_version: Optional[str]
    confirm_seconds: int
    #: Where users check files, if it is known.
    verify_url: Optional[str]
    now: Callable[[], float]
    #: Hands a failure to the people who run the bot.
    report: Callable[[BaseException], None]
    #: The commands that wait for a consent.
    waiting: Waiting

    @property
    def who(self) -> Json:
        return {"user_id": self.asked.user_id, "guild_id": self.asked.guild_id or DIRECT_MESSAGES}

    def once(self, act: str) -> CallOptions:
        """An act takes effect once, also if its interaction arrives twice."""
        return replace(PATIENT, idempotency_key=f"discord-{self.asked.id}-{act}")


def failure_word(error: Exception) -> str:
    """What the user is shown instead of a failure."""
    if isinstance(error, ConflictError) and error.reason == "deletion_in_progress":
        return "busy"
    return "later" if isinstance(error, (RateLimitedError, UnavailableError)) else "failed"


def failure(turn: Turn, error: Exception) -> str:
    """What is said of a failure, once it is reported."""
    turn.facts.forget()
    turn.report(error)
    return turn.words.say(failure_word(error))


def is_named(version: Optional[str]) -> bool:
    """Whether a version is one that people named. Without one the service makes a digest, which says nothing to a user."""
    return version is not None and not version.startswith("sha256:")


def verify_rows(turn: Turn) -> List[Json]:
    """The button to the page that checks a receipt or certificate."""
    return [] if turn.verify_url is None else [row(link_button(turn.words.say("verify_open"), turn.verify_url))]


def when(iso: Optional[str], style: str = "f") -> str:
    """A time that Discord shows in the time zone of the user."""
    moment = datetime.fromisoformat((iso or "1970-01-01T00:00:00Z").replace("Z", "+00:00"))
    return f"<t:{int(moment.astimezone(timezone.utc).timestamp())}:{style}>"


async def whom_to_ask(turn: Turn) -> str:
    """Whom the user can ask, where the bot itself cannot do something."""
    contact = (await turn.facts.bot()).get("privacy_contact")
    return turn.words.say("ask_operator") if contact is None else turn.words.say("ask_contact", contact=contact)


def json_file(name: str, content: Any) -> Tuple[str, bytes]:
    return name, f"{json.dumps(content, indent=2, ensure_ascii=False)}\n".encode()


def own_stores(turn: Turn, has: Optional[bool], key: str = "own_stores") -> List[str]:
    """Said where the bot has stores of its own, or where that is not known: what is declared and decided is not all that is stored."""
    return [] if has is False else [turn.words.say(key)]


@dataclass(frozen=True)
class Shown:
    embed: Json
    #: The buttons to the other pages, if there are any.
    navigation: List[Json]
    is_last: bool


def shown_page(turn: Turn, text: str, at: int, view: str, *parts: str) -> Shown:
    """One page of a text with the buttons to the others. The buttons carry `parts` on."""
    say = turn.words.say
    pages = pages_of(text)
    page = min(max(at, 0), len(pages) - 1)

    def to(label: str, target: int) -> Json:
        return button("secondary", label, custom_id(PAGE, view, target, *parts), not 0 <= target < len(pages))

    if len(pages) == 1:
        return Shown({"description": pages[0]}, [], True)
    embed = {"description": pages[page], "footer": {"text": say("page_of", page=page + 1, pages=len(pages))}}
    navigation = [row(to(say("page_back"), page - 1), to(say("page_next"), page + 1))]
    return Shown(embed, navigation, page == len(pages) - 1)
