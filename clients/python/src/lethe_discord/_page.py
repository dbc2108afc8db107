"""`/privacy page`: a link to the page on which the user sees, decides, downloads and erases what is stored."""

from __future__ import annotations

from typing import Any, Optional, Tuple
from urllib.parse import urlsplit

from lethe_client import InsufficientScopeError, LetheError

from ._public_url import is_local
from ._reply import Json, Reply, link_button, row
from ._turn import Turn, when
from ._words import best_tag

#: The languages of the pages of the service.
LANGUAGES = ("en", "de")


async def page(turn: Turn) -> Reply:
    """The link offers what the bot's key may do."""
    say = turn.words.say
    try:
        url, until = await _link(turn, "page")
    except (InsufficientScopeError, NotPublicError) as error:
        turn.report(error)
        return Reply(say("own_page_missing"))
    content = f"{say('own_page')}\n{say('own_page_until', when=until)}"
    return Reply(content, components=[row(link_button(say("own_page_open"), url))])


async def readable_copy(turn: Turn) -> Optional[Reply]:
    """The way to the copy to read, beside the JSON; None where the service has no pages for users."""
    say = turn.words.say
    try:
        url, until = await _link(turn, "copy", allow=["view", "export"])
    except (LetheError, NotPublicError):
        # The export is there without it.
        return None
    return Reply(say("export_read", when=until), components=[row(link_button(say("export_open"), url))])


async def _link(turn: Turn, act: str, **given: Any) -> Tuple[str, str]:
    of: Json = turn.who
    if turn.asked.where == "everywhere":
        of = {"user_id": turn.asked.user_id, "scope": "all_guilds"}
    language = best_tag(turn.asked.locale, LANGUAGES)
    made = await turn.lethe.privacy.link(**of, **given, language=language, options=turn.once(act))
    _require_public(made["url"])
    return made["url"], when(made["expires_at"], "t")


class NotPublicError(Exception):
    pass


def _require_public(url: str) -> None:
    if is_local(url):
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        reason = f"Links to privacy pages lead to {origin}, which users do not reach."
        raise NotPublicError(f"{reason} Set PUBLIC_URL of the service.")
