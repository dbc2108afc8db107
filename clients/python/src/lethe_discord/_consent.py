"""`/privacy consent`: the text, the choice and the decision."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence

from lethe_client import ConsentRequiredError, NotFoundError, ProcessingRefusedError

from ._about import states_of
from ._custom_id import AGREE, AGREE_TO_CHOSEN, CHOOSE, DECLINE, custom_id, mask_of, page_of, places_of
from ._facts import needs_consent
from ._patient import PATIENT
from ._refusals import refusal_word
from ._reply import CONTENT_MAX, LABEL_MAX, OPTIONS_MAX, Json, Reply, button, cut, row, select
from ._shown import label_shown, labels_in
from ._turn import SOURCE, Shown, Turn, failure, is_named, shown_page, verify_rows, when
from ._waiting import Then
from ._without_consent import without_consent_embeds
from ._words import best_tag

#: Where the bot has registered no text, the service makes one in these languages and in those of labels and purposes.
_GENERATED = ("en", "de")
_BINDING_LENGTH = 24


@dataclass(frozen=True)
class ConsentAsked:
    status: str
    #: Of the request, by which a second press is answered like the first.
    id: str
    version: str
    #: The digest of the text that was shown, as the history of the consent has it.
    digest: str
    #: Ties the buttons of a message to its text, version and categories.
    binding: str
    texts: Mapping[str, Any]
    notice_url: Optional[str]
    categories: List[Json]

    @property
    def keys(self) -> List[str]:
        return [category["key"] for category in self.categories]


async def _request(turn: Turn) -> ConsentAsked:
    """Records that the user is shown the text, and answers it. A repeat changes nothing."""
    categories, registered = await turn.facts.asked(), await turn.facts.texts(turn.consent_version)
    further = [one.get(name) or {} for one in categories for name in ("labels", "descriptions")]
    made = [*_GENERATED, *(tag for words in further for tag in words)]
    language = best_tag(turn.asked.locale, [text["language"] for text in registered] or made) or "en"
    keys = [category["key"] for category in categories]
    given: Json = {"categories": keys, "language": language, "source": SOURCE}
    if turn.consent_version is not None:
        given["consent_version"] = turn.consent_version
    answer = await turn.lethe.consents.request(**turn.who, **given, options=PATIENT)
    if answer.get("texts") is None:
        raise RuntimeError("The service answered a request for consent without a text.")
    known: Json = next((text for text in registered if text["language"] == language), {})
    digest = known.get("digest") or f"sha256:{_sha256(answer['texts'])}"
    binding = _sha256([answer["version"], digest, keys])[:_BINDING_LENGTH]
    notice = known.get("privacy_notice")
    shown = (answer["status"], answer["id"], answer["version"], digest)
    return ConsentAsked(*shown, binding, answer["texts"], notice, categories)


def _sha256(value: Any) -> str:
    """The hash of canonical JSON (RFC 8785) of texts, lists and objects: sorted keys, no white space."""
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _text_of(turn: Turn, asked: ConsentAsked) -> str:
    """The whole text, as the user reads it."""
    parts = [f"**{asked.texts['title']}**", asked.texts["body"]]
    parts += [f"**{one['label']}**\n{one['text']}" for one in asked.texts["categories"]]
    if asked.notice_url is not None:
        parts.append(turn.words.say("consent_notice", url=asked.notice_url))
    return "\n\n".join(parts)


async def consent(
    turn: Turn, page: str = "", mask: Optional[str] = None, binding: Optional[str] = None, waits: str = ""
) -> Reply:
    """Asks for consent, for the command `waits`. Nothing is selected beforehand but what the user has already agreed to."""
    say = turn.words.say
    if not await turn.facts.asked():
        return await _unasked(turn, waits)
    asked = await _request(turn)
    is_known = binding == asked.binding
    notes = [] if binding is None or is_known else [say("consent_changed")]
    if mask is not None and is_known:
        return _view(turn, asked, places_of(mask, len(asked.categories)), page_of(page), notes, waits)
    status = await turn.lethe.consents.status(**turn.who, options=PATIENT)
    if asked.status == "accepted":
        notes.append(say("consent_in_force", when=when(status.get("accepted_at"))))
    return _view(turn, asked, _granted_of(status, asked), 0, notes, waits)


async def _unasked(turn: Turn, waits: str) -> Reply:
    """Nothing is asked for where no category needs a consent, and the command that waits for one begins at once."""
    categories, say = await turn.facts.categories(), turn.words.say
    if not categories:
        return Reply(say("about_nothing"))
    then, is_lost = turn.waiting.take(waits, turn.asked.user_id) if waits else (None, False)
    # A category that this bot does not ask for may need one.
    is_some = any(needs_consent(one) for one in categories)
    embeds = without_consent_embeds(turn, categories) if is_some else []
    some = "about_intro_none" if embeds else "consent_none"
    lines = [say(some if is_some else "consent_not_needed")]
    if is_lost:
        lines.append(say("command_again"))
    following = None if then is None else lambda: _following(turn, then, "failed")
    return Reply("\n".join(lines), embeds, following=following)


async def choose(
    turn: Turn, menu: str = "", page: str = "", mask: str = "", binding: str = "", waits: str = "", *_: str
) -> Reply:
    """Selects in one of the menus; the others keep their selection."""
    asked = await turn.facts.asked()
    chosen = [place for place in places_of(mask, len(asked)) if str(place // OPTIONS_MAX) != menu]
    for place, category in enumerate(asked):
        if str(place // OPTIONS_MAX) == menu and category["key"] in turn.asked.values:
            chosen.append(place)
    return await consent(turn, page, mask_of(chosen), binding, waits)


async def agree(turn: Turn, mask: str = "", binding: str = "", waits: str = "", *_: str) -> Reply:
    """Records the consent to what is selected, in the words that were shown.

    A failure keeps them with the button: what is done may have no answer, and its next press says what holds.
    """
    try:
        return await _record(turn, mask, binding, waits)
    except Exception as error:
        return Reply(f"{failure(turn, error)}\n{turn.words.say('consent_details')}", is_note=True)


async def _record(turn: Turn, mask: str, binding: str, waits: str) -> Reply:
    consents, say = turn.lethe.consents, turn.words.say
    if not await turn.facts.asked():
        # Since the message was sent, the last category that asks for a consent may have come to need none.
        return await _unasked(turn, waits)
    asked = await _request(turn)
    places = places_of(mask, len(asked.categories))
    if binding != asked.binding or not places:
        return await consent(turn, "", mask, binding, waits)
    keys = [asked.keys[place] for place in places]
    granted = _granted_of(await consents.status(**turn.who, options=PATIENT), asked)
    dropped = [asked.keys[place] for place in granted if place not in places]
    if dropped:
        # What is no longer selected is withdrawn: the data stored under it is erased.
        with suppress(NotFoundError):
            await consents.revoke(**turn.who, source=SOURCE, categories=dropped, options=turn.once("drop"))
        asked = await _request(turn)
    receipt: Optional[str]
    try:
        if asked.status == "accepted":
            # A second press changes the same message: it has the receipt of the first.
            receipt = (await consents.receipt(**turn.who, options=PATIENT))["receipt"]
        else:
            given: Json = {"consent_id": asked.id, "source": SOURCE, "categories": keys}
            receipt = (await consents.accept(**given, options=turn.once("accept"))).get("receipt")
    except NotFoundError:
        # Another press has decided meanwhile.
        return await consent(turn, "", mask, binding, waits)
    files = [] if receipt is None else [("consent-receipt.jwt", receipt.encode())]
    agreed = [one for one in asked.categories if one["key"] in keys]
    labels = [cut(label_shown(labels_in(asked.texts), one, turn.asked.locale), LABEL_MAX // 4) for one in agreed]
    lines = [say("consent_done"), *(f"• {label}" for label in labels), say("consent_withdraw")]
    if files:
        lines.append(say("consent_receipt"))
    then, is_lost = turn.waiting.take(waits, turn.asked.user_id) if waits else (None, False)
    if is_lost:
        lines.append(say("command_again"))
    following = None if then is None else lambda: _following(turn, then)
    components = verify_rows(turn) if files else []
    return Reply(cut("\n".join(lines), CONTENT_MAX), files=files, components=components, following=following)


async def _following(turn: Turn, then: Then, failed: str = "command_failed") -> Optional[Reply]:
    """Continues the command. The consent is recorded before: no failure of the command is one of the consent."""
    try:
        said = await then()
    except ProcessingRefusedError as error:
        return Reply(turn.words.say(refusal_word(error)))
    except Exception as error:
        # Where nothing is asked for, the user cannot agree to it.
        if isinstance(error, ConsentRequiredError) and failed == "command_failed":
            return Reply(turn.words.say("command_needs"))
        turn.report(error)
        return Reply(turn.words.say(failed))
    return Reply(cut(said, CONTENT_MAX)) if isinstance(said, str) and said.strip() else None


async def decline(turn: Turn) -> Reply:
    """Records a no. What was agreed to before is not withdrawn by it."""
    consents = turn.lethe.consents
    try:
        status = await consents.decline(**turn.who, source=SOURCE, options=turn.once("decline"))
    except NotFoundError:
        # Nothing waits for an answer: what is agreed to stays.
        status = await consents.status(**turn.who, options=PATIENT)
    return Reply(turn.words.say("consent_declined_kept" if status["status"] == "accepted" else "consent_declined"))


def _granted_of(status: Mapping[str, Any], asked: ConsentAsked) -> List[int]:
    if status["status"] != "accepted":
        return []
    states = states_of(status, asked.categories)
    return [place for place, key in enumerate(asked.keys) if states[key] == "accepted"]


def _view(turn: Turn, asked: ConsentAsked, chosen: Sequence[int], at: int, notes: List[str], waits: str) -> Reply:
    """The buttons that agree are on the last page: a user has seen every page before."""
    say, mask = turn.words.say, mask_of(chosen)
    parts = (asked.binding, *([waits] if waits else []))
    shown = shown_page(turn, _text_of(turn, asked), at, "consent", mask, *parts)
    footer = [say("consent_version", version=asked.version, digest=asked.digest)] if is_named(asked.version) else []
    if "footer" in shown.embed:
        footer.append(shown.embed["footer"]["text"])
    embed = {**shown.embed, "footer": {"text": " · ".join(footer)}} if footer else shown.embed
    content = "\n".join([*notes, say("consent_details" if shown.is_last else "consent_read_on")])
    return Reply(content, [embed], _components(turn, asked, chosen, at, shown, parts))


def _components(
    turn: Turn, asked: ConsentAsked, chosen: Sequence[int], at: int, shown: Shown, parts: Sequence[str]
) -> List[Json]:
    if not shown.is_last:
        return shown.navigation
    say, texts, is_single = turn.words.say, asked.texts, len(asked.categories) == 1
    everything = mask_of(range(len(asked.categories)))
    yes = texts.get("accept_label") or say("consent_agree")
    decide = [button("success", yes, custom_id(AGREE, everything, *parts))]
    if not is_single:
        some = custom_id(AGREE_TO_CHOSEN, mask_of(chosen), *parts)
        decide.append(button("primary", say("consent_chosen", count=len(chosen)), some, not chosen))
    decide.append(button("secondary", texts.get("decline_label") or say("consent_decline"), custom_id(DECLINE)))
    menus = [] if is_single else _menus(turn, asked, chosen, at, parts)
    return [*menus, row(*decide), *shown.navigation]


def _menus(turn: Turn, asked: ConsentAsked, chosen: Sequence[int], at: int, parts: Sequence[str]) -> List[Json]:
    menus: List[Json] = []
    for first in range(0, len(asked.categories), OPTIONS_MAX):
        options = [
            {
                "label": cut(label_shown(labels_in(asked.texts), category, turn.asked.locale), LABEL_MAX),
                "value": category["key"],
                "default": first + place in chosen,
            }
            for place, category in enumerate(asked.categories[first : first + OPTIONS_MAX])
        ]
        id = custom_id(CHOOSE, len(menus), at, mask_of(chosen), *parts)
        menus.append(row(select(id, turn.words.say("consent_choose"), options, 0)))
    return menus
