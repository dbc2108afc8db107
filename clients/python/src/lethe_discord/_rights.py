"""`/privacy export`, `/privacy revoke` and `/privacy forget`."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import replace
from typing import Any, AsyncIterator, List, Literal, Optional, Sequence, Tuple

from lethe_client import CallOptions, LetheError, NotFoundError

from ._about import states_of
from ._custom_id import FORGET, KEEP, WITHDRAW, WITHDRAW_ALL, base36, custom_id, number_of
from ._facts import needs_consent
from ._menus import category_menus
from ._page import readable_copy
from ._patient import PATIENT
from ._reply import CONTENT_MAX, LABEL_MAX, Json, Reply, button, cut, row
from ._shown import label_shown, shown_for
from ._turn import SOURCE, Turn, failure, json_file, verify_rows, when, whom_to_ask
from ._without_consent import without_consent_embeds

#: Of a request with a file: its other parts, the boundaries, the message.
_REST_BYTES = 16 * 1024
#: How long the certificates of one answer may take; an interaction can be answered for 15 minutes.
_CERTIFICATES_SECONDS = 60.0


async def export(turn: Turn) -> Reply:
    """Everything stored about the user as a file (GDPR Art. 15 and 20). A file is whole or not sent."""
    say = turn.words.say
    try:
        forms: Sequence[Tuple[Optional[Literal["full"]], str]] = (("full", "export_done"), (None, "export_short"))
        for format, word in forms:
            data = await _exported(turn, format)
            if data is not None:
                if format == "full" and await turn.facts.has_own_stores() is not False:
                    word = "export_done_own_stores"
                content = "\n".join([say(word), *await _missing_part(turn, data)])
                return await _with_copy(turn, Reply(content, files=[("privacy-export.json", data)]))
    except NotFoundError:
        if await turn.facts.has_own_stores() is False:
            return Reply(say("export_nothing"))
        return Reply(f"{say('export_nothing_own_stores')} {await whom_to_ask(turn)}")
    return await _with_copy(turn, Reply(f"{say('export_too_large')} {await whom_to_ask(turn)}"))


async def _missing_part(turn: Turn, data: bytes) -> List[str]:
    """What is said of the bot's own stores that owe their part: a full export asks them, and does not wait for their answers."""
    document: Json = json.loads(data)
    parts: List[Json] = [document, *document.get("guilds", ())]
    states = {one["state"] for part in parts for one in part.get("holders", ())}
    lines = [turn.words.say("export_asked")] if "asked" in states else []
    if "overdue" in states:
        lines.append(f"{turn.words.say('export_overdue')} {await whom_to_ask(turn)}")
    if "not_asked" in states:
        lines.append(turn.words.say("export_not_asked"))
    return lines


async def _with_copy(turn: Turn, message: Reply) -> Reply:
    """The message, with the way to the copy that people read."""
    copy = await readable_copy(turn)
    if copy is None:
        return message
    return Reply(f"{message.content}\n{copy.content}", files=message.files, components=copy.components)


async def _exported(turn: Turn, format: Optional[Literal["full"]]) -> Optional[bytes]:
    """The file; None where it is too large. No more than that is kept in memory."""
    most = turn.asked.file_max_bytes - _REST_BYTES
    guild_id = None if turn.asked.where == "everywhere" else turn.who["guild_id"]
    stream = turn.lethe.data.export_stream(user_id=turn.asked.user_id, guild_id=guild_id, format=format, options=PATIENT)
    found = bytearray()
    try:
        async for chunk in stream:
            found += chunk
            if len(found) > most:
                return None
        return bytes(found)
    finally:
        await _closed(stream)


async def _closed(stream: AsyncIterator[bytes]) -> None:
    close: Any = getattr(stream, "aclose", None)
    if close is not None:
        await close()


async def revoke(turn: Turn, notes: Sequence[str] = ()) -> Reply:
    """Shows what can be withdrawn: as easily as it was given (GDPR Art. 7(3))."""
    say = turn.words.say
    status, categories = await turn.lethe.consents.status(**turn.who, options=PATIENT), await turn.facts.categories()
    embeds = without_consent_embeds(turn, categories)
    if status["status"] != "accepted":
        return Reply(say("revoke_nothing"), embeds)
    states = states_of(status, categories)
    granted = [category for category in categories if states.get(category["key"]) == "accepted"]
    shown = await shown_for(turn, "decided") if len(granted) > 1 else {}
    several = granted if len(granted) > 1 else []

    def label(category: Json) -> str:
        return label_shown(shown, category, turn.asked.locale)

    menus = category_menus(WITHDRAW, several, say("revoke_choose"), label, is_many=True)
    everything = row(button("danger", say("revoke_all"), custom_id(WITHDRAW_ALL)))
    which = "revoke_which" if all(needs_consent(one) for one in granted) else "revoke_which_some"
    return Reply("\n".join([*notes, say(which)]), embeds, [*menus, everything])


async def withdraw(turn: Turn, keys: Optional[Sequence[str]] = None) -> Reply:
    """Withdraws some categories, or without any the whole consent."""
    say = turn.words.say
    given: Json = {"source": SOURCE} if keys is None else {"source": SOURCE, "categories": list(keys)}
    # Read before, since a failure would say that the withdrawal has failed.
    categories = await turn.facts.categories()
    shown = {} if keys is None else await shown_for(turn, "decided")
    try:
        status = await turn.lethe.consents.revoke(**turn.who, **given, options=turn.once("revoke"))
    except NotFoundError:
        # No consent is in force, or a selected category is not declared any more while the others are agreed to.
        turn.facts.forget()
        return await revoke(turn, [say("revoke_changed")])
    if status["status"] == "revoked":
        lines = [say("revoke_done")]
    else:
        named = [one for one in categories if one["key"] in (keys or ())]
        labels = [cut(label_shown(shown, one, turn.asked.locale), LABEL_MAX // 4) for one in named]
        lines = [say("revoke_done_some", categories=", ".join(labels))]
    if status.get("data_erased_at") is not None:
        lines.append(say("status_erased_at", when=when(status["data_erased_at"])))
    return Reply(cut("\n".join(lines), CONTENT_MAX), without_consent_embeds(turn, categories))


async def forget(turn: Turn) -> Reply:
    """Asks whether the user is sure. The button expires."""
    say, where = turn.words.say, turn.asked.where
    until = int(turn.now()) + turn.confirm_seconds
    yes = button("danger", say("forget_yes"), custom_id(FORGET, where, base36(until), turn.asked.id))
    no = button("secondary", say("forget_no"), custom_id(KEEP))
    return Reply(f"{say(await _sure(turn))}\n{say('forget_until', when=f'<t:{until}:t>')}", components=[row(yes, no)])


async def _sure(turn: Turn) -> str:
    if turn.asked.where == "everywhere":
        return "forget_sure_everywhere"
    if turn.asked.guild_id is not None:
        return "forget_sure_here"
    return "forget_sure_bot_wide" if await turn.facts.has_own_stores() is False else "forget_sure_bot_wide_own_stores"


async def erase(turn: Turn, where: str = "", until: str = "", of: str = "", *_: str) -> Reply:
    """Erases the user who pressed (GDPR Art. 17), and hands out the certificates."""
    say, privacy = turn.words.say, turn.lethe.privacy
    # An id that is no time is expired, too.
    if (number_of(until) or 0) <= turn.now():
        return Reply(say("forget_expired"), keeps_files=True)
    options = _once_by_button(turn, of)
    try:
        if where == "everywhere":
            everywhere = await privacy.forget_everywhere(user_id=turn.asked.user_id, options=options)
            erased: List[Json] = [{**one} for one in everywhere["requests"]]
        else:
            erased = [{**await privacy.forget(**turn.who, options=options), "guild_id": turn.who["guild_id"]}]
    except Exception as error:
        return _not_erased(turn, error)
    if not erased:
        return Reply(say("forget_nothing"))
    # Side by side, and neither raises: the salts are answered this once.
    (certificates, is_whole), has_own_stores = await asyncio.gather(_certificates(turn, erased), turn.facts.has_own_stores())
    under = next((one for one in erased if one["status"] != "completed"), None)
    lines = [say("forget_done") if under is None else say("forget_under_way", id=under["request_id"])]
    if is_whole:
        lines.append(say("forget_certificate" if len(certificates) == 1 else "forget_certificates"))
    else:
        lines += [say("forget_salts"), say("forget_incomplete")]
    lines.append(say(_beyond(turn, where, has_own_stores)))
    # The page reads one certificate of a file.
    components = verify_rows(turn) if len(certificates) == 1 and is_whole else []
    return Reply("\n".join(lines), files=[_certificate_file(turn, certificates)], components=components)


def _beyond(turn: Turn, where: str, has_own_stores: Optional[bool]) -> str:
    """What is not erased here. Of stores that are not known nothing is said."""
    if has_own_stores is None:
        return "forget_messages"
    if not has_own_stores:
        return "forget_beyond"
    if where == "everywhere":
        return "forget_own_stores"
    return "forget_own_stores_bot_wide" if turn.asked.guild_id is None else "forget_own_stores_here"


def _not_erased(turn: Turn, error: Exception) -> Reply:
    """A failure keeps the button, whose next press continues the same erasure, and the salts of the guilds that are done."""
    say = turn.words.say
    kept = Reply(failure(turn, error), components=[row(button("danger", say("forget_yes"), turn.asked.custom_id))])
    done = error.details.get("requests") if isinstance(error, LetheError) else None
    if not done:
        return replace(kept, keeps_files=True)
    file = _certificate_file(turn, [{**_salt_of(one), "certificate": None} for one in done])
    return Reply(f"{kept.content}\n{say('forget_salts')}", files=[file], components=kept.components)


def _salt_of(erased: Json) -> Json:
    return {name: erased[name] for name in ("guild_id", "request_id", "certificate_salt")}


def _certificate_file(turn: Turn, certificates: Sequence[Json]) -> Tuple[str, bytes]:
    return json_file("erasure-certificate.json", {"user_id": turn.asked.user_id, "certificates": certificates})


def _once_by_button(turn: Turn, of: str) -> CallOptions:
    """A second press of the same button changes the same message: it has the salts and certificates of the first, since the service
    repeats its answer. The key is of the user who presses."""
    if not of:
        return turn.once("forget")
    pressed = f"{of}/{turn.who['user_id']}/{turn.who['guild_id']}"
    return replace(PATIENT, idempotency_key=f"discord-{hashlib.sha256(pressed.encode()).hexdigest()[:32]}-forget")


async def _certificates(turn: Turn, erased: Sequence[Json]) -> Tuple[List[Json], bool]:
    """The salts are answered this once, so that the file has them also where a certificate is not ready."""
    end = turn.now() + _CERTIFICATES_SECONDS
    found: List[Json] = []
    for one in erased:
        left = min(end - turn.now(), _CERTIFICATES_SECONDS)
        certificate = await _certificate(turn, one["request_id"], left) if left > 0 else None
        found.append({**_salt_of(one), "certificate": certificate})
    return found, all(one["certificate"] is not None for one in found)


async def _certificate(turn: Turn, id: str, timeout: float) -> Optional[str]:
    try:
        answer = await turn.lethe.privacy.certificate(id, options=CallOptions(timeout=timeout))
    except Exception as error:
        # The erasure is done: a certificate that cannot be fetched now does not make it a failure, which would lose the salts.
        if not isinstance(error, LetheError):
            turn.report(error)
        return None
    return str(answer["certificate"])
