"""`/privacy about` and `/privacy status`."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from lethe_client import NotFoundError

from ._facts import label_of, needs_consent, purpose_of, reason_of
from ._notice import notice_rows, notice_text
from ._patient import PATIENT
from ._refusals import Refusals, objectable_of, refusal_lines
from ._reply import LABEL_MAX, TITLE_MAX, Json, Reply, cut
from ._shown import label_shown, shown_for
from ._turn import Turn, is_named, own_stores, shown_page, when
from ._without_consent import without_consent


async def about(turn: Turn, at: int = 0) -> Reply:
    """What the bot stores and why (GDPR Art. 13): each declared category with its fields, basis and retention, and the notice."""
    say = turn.words.say
    bot, categories, notice = await turn.facts.bot(), await turn.facts.categories(), await turn.facts.notice()
    has_own_stores = await turn.facts.has_own_stores()
    parts = [say(_intro(categories, has_own_stores is not False))]
    parts += [_category_text(turn, category, notice) for category in categories]
    parts += own_stores(turn, has_own_stores)
    parts += _objection(turn, categories)
    parts.append(" ".join([say("about_rights"), *_correction(turn, categories)]))
    parts += notice_text(turn, bot, notice)
    shown = shown_page(turn, "\n\n".join(parts), at, "about")
    title = cut(say("about_title", bot=bot["name"]), TITLE_MAX)
    return Reply(embeds=[{"title": title, **shown.embed}], components=[*shown.navigation, *notice_rows(turn, notice)])


def _intro(categories: Sequence[Json], may_have_own_stores: bool) -> str:
    """What a consent decides, of all that is declared."""
    if not categories:
        return "about_nothing"
    needing = [one for one in categories if needs_consent(one)]
    if needing and may_have_own_stores:
        return "about_intro_own_stores"
    return "about_intro" if len(needing) == len(categories) else "about_intro_some" if needing else "about_intro_none"


def _category_text(turn: Turn, category: Json, notice: Json) -> str:
    say, locale, days = turn.words.say, turn.asked.locale, category["retention_days"]
    names = [label_of(one, locale) for one in category["fields"]]
    lines = [f"**{label_of(category, locale)}**"]
    purpose = purpose_of(category, locale)
    if purpose is not None:
        lines.append(purpose)
    if names:
        lines.append(say("about_fields", fields=", ".join(names)))
    lines.append(say("about_basis", basis=say(f"basis_{category['legal_basis']}")))
    reason = reason_of(category, locale)
    if reason is not None:
        lines.append(say("about_without_consent", reason=reason))
    after = notice.get("data_after_withdrawal", 0)
    kept = _unlimited(category, after) if days is None else "about_kept_day" if days == 1 else "about_kept_days"
    lines.append(say(kept, days=after if days is None else days))
    return "\n".join(lines)


def _unlimited(category: Json, after: Optional[int]) -> str:
    """`after`: days after which a withdrawal erases, None for never. An older service does not say it."""
    if category["legal_basis"] != "consent" or after is None:
        return "about_kept_without_consent"
    if after == 0:
        return "about_kept"
    return "about_kept_after_day" if after == 1 else "about_kept_after"


def _objection(turn: Turn, categories: Sequence[Json]) -> List[str]:
    """The right to object, apart from the others (GDPR Art. 21(4)), where a category can be objected to."""
    say, found = turn.words.say, objectable_of({"objections": [], "restrictions": []}, categories)
    labels = ", ".join(label_of(one, turn.asked.locale) for one in found)
    return [f"**{say('about_object_title')}**\n{say('about_object', categories=labels)}"] if labels else []


def _correction(turn: Turn, categories: Sequence[Json]) -> List[str]:
    """What users correct themselves (GDPR Art. 16). A service that offers it marks these fields."""
    fields = [field for category in categories for field in category["fields"] if field.get("editable") is True]
    labels = dict.fromkeys(label_of(field, turn.asked.locale) for field in fields)
    return [turn.words.say("about_correct", fields=", ".join(labels))] if labels else []


def states_of(status: Mapping[str, Any], categories: Sequence[Json]) -> Dict[str, str]:
    """The state of each category that the consent can be about.

    A consent without categories is one to all that need one. A category that needs none any more has a state only in a consent
    that names it.
    """
    named = {one["key"]: one["status"] for one in status.get("categories") or ()}
    otherwise = status["status"] if status.get("categories") is None else "none"
    about = [one for one in categories if one["key"] in named or needs_consent(one)]
    return {one["key"]: named.get(one["key"], otherwise) for one in about}


async def status(turn: Turn, at: int = 0) -> Reply:
    """What the user has decided, for each category."""
    say = turn.words.say
    found, categories = await turn.lethe.consents.status(**turn.who, options=PATIENT), await turn.facts.categories()
    refused = refusal_lines(turn, await _refusals_of(turn), categories)
    without, has_own_stores = without_consent(turn, categories), await turn.facts.has_own_stores()
    values = {
        "accepted": {"version": found.get("version") or "", "when": when(found.get("accepted_at"))},
        "revoked": {"when": when(found.get("revoked_at"))},
    }
    declined: List[str] = []
    if found.get("declined_at") is not None:
        refusal = "status_declined_newer" if found["status"] == "accepted" else "status_declined"
        declined = [say(refusal, when=when(found["declined_at"]))]
    if found["status"] == "none" and declined:
        parts = declined
    else:
        if found["status"] == "accepted":
            suffix = "_version" if is_named(found.get("version")) else ""
        else:
            # Where something needs no consent, or is stored elsewhere, it is not true that nothing is stored.
            suffix = "_own_stores" if has_own_stores is not False else "_some" if without else ""
        is_asked = not without or any(needs_consent(one) for one in categories)
        head = f"status_{found['status']}{suffix}" if is_asked or found["status"] != "none" else "consent_not_needed"
        parts = [say(head, **values.get(found["status"], {}))]
    states = states_of(found, categories)
    if found["status"] != "none":
        present = set(states.values())
        asking = await shown_for(turn, "asked") if "pending" in present else {}
        decided = await shown_for(turn, "decided") if present & {"accepted", "revoked"} else {}
        lines = []
        for category in categories:
            state = states.get(category["key"])
            if state is None:
                continue
            label = label_shown(asking if state == "pending" else decided, category, turn.asked.locale)
            lines.append(f"• {cut(label, LABEL_MAX)}: {say('state_' + state)}")
        parts += [*(["\n".join(lines)] if lines else []), *declined]
    if found.get("pending_version") is not None:
        parts.append(say("status_newer"))
    if found.get("data_erased_at") is not None:
        parts.append(say("status_erased_at", when=when(found["data_erased_at"])))
    parts += [*without, *own_stores(turn, has_own_stores)]
    if refused:
        parts.append("\n".join(refused))
    shown = shown_page(turn, "\n\n".join(parts), at, "status")
    return Reply(embeds=[{"title": say("status_title"), **shown.embed}], components=shown.navigation)


async def _refusals_of(turn: Turn) -> Refusals:
    try:
        return {**await turn.lethe.data.refusals(**turn.who, options=PATIENT)}
    except NotFoundError:
        # A service of an older version knows of no objections and restrictions.
        return {"objections": [], "restrictions": []}
