"""What the bot says about itself in `/privacy about`."""

from __future__ import annotations

from typing import List, Optional

from ._facts import either
from ._page import LANGUAGES
from ._public_url import is_local
from ._reply import Json, link_button, row
from ._turn import Turn
from ._words import best_tag


def notice_text(turn: Turn, bot: Json, notice: Json) -> List[str]:
    """The notice (GDPR Art. 13 and 14), in paragraphs. What the bot does not say is left out."""
    say, locale = turn.words.say, turn.asked.locale
    recipients = [_recipient_text(turn, notice, one) for one in notice.get("recipients") or []]
    automated = {"none": say("about_automated_none"), "exist": either(locale, notice, "automated_decisions")}
    return [
        *_responsible(turn, bot, notice),
        *_titled(say("about_recipients"), "\n".join(recipients)),
        *_titled(say("about_interests"), either(locale, notice, "interests")),
        *_titled(say("about_source"), either(locale, notice, "source")),
        *_titled(say("about_automated"), automated.get(notice.get("automated_decisions") or "")),
    ]


def notice_rows(turn: Turn, notice: Json) -> List[Json]:
    """The button to the notice for everybody, where it is public and users reach it."""
    page = notice.get("page_url")
    if page is None or is_local(page):
        return []
    language = best_tag(turn.asked.locale, LANGUAGES)
    return [row(link_button(turn.words.say("about_notice_open"), f"{page}?language={language}"))]


def _responsible(turn: Turn, bot: Json, notice: Json) -> List[str]:
    say = turn.words.say
    contact = _listed(*dict.fromkeys([notice.get("controller_email"), bot.get("privacy_contact")]))
    contacts = [say("about_contact", contact=contact)] if contact else []
    officer = _listed(notice.get("officer_name"), notice.get("officer_email"))
    authority = _listed(notice.get("authority_name"), notice.get("authority_url"))
    named: List[str] = []
    if notice.get("controller_name"):
        named.append(say("about_controller", controller=notice["controller_name"]))
    address = [line.strip() for line in (notice.get("controller_address") or "").split("\n")]
    if _listed(*address):
        named.append(say("about_address", address=_listed(*address)))
    named += contacts
    if officer:
        named.append(say("about_officer", officer=officer))
    if authority:
        named.append(say("about_authority", authority=authority))
    if notice.get("notice_url"):
        named.append(say("about_policy", url=notice["notice_url"]))
    # A contact alone needs no title.
    return contacts if named == contacts else _titled(say("about_responsible"), "\n".join(named))


def _recipient_text(turn: Turn, notice: Json, recipient: Json) -> str:
    """A recipient with its country, what it does, and what protects a transfer to it (Art. 44 to 49)."""
    say, locale, code = turn.words.say, turn.asked.locale, recipient.get("country")
    found: Json = next((one for one in notice.get("countries") or [] if one["country"] == code), {})
    place = either(locale, found, "name") or code
    if found.get("third_country") is True:
        place = say("about_third_country", country=place)
    said = f"• {recipient['name']} ({place})" if place else f"• {recipient['name']}"
    purpose, safeguards = either(locale, recipient, "purpose"), either(locale, recipient, "safeguards")
    if purpose is not None:
        said += f": {purpose}"
    return said if safeguards is None else f"{said}\n{say('about_safeguards', safeguards=safeguards)}"


def _listed(*parts: Optional[str]) -> str:
    return ", ".join(part for part in parts if part)


def _titled(title: str, text: Optional[str]) -> List[str]:
    return [f"**{title}**\n{text}"] if text else []
