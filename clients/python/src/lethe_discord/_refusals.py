"""`/privacy object`: what the user has objected to (GDPR Art. 21) and restricted (Art. 18), and the ways to more."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence

from lethe_client import InsufficientScopeError, LetheError, NotFoundError, ProcessingRefusedError

from ._custom_id import CHOICE, custom_id
from ._menus import name_of
from ._patient import PATIENT
from ._reply import Json, Reply, button, row
from ._turn import Turn, own_stores, shown_page, when, whom_to_ask

#: The answer about a user: `objections` and `restrictions`.
Refusals = Mapping[str, Any]
#: The legal bases that a user can object to (GDPR Art. 21(1)).
_OBJECTABLE = ("legitimate_interests", "public_task")


async def refusals(turn: Turn, at: int = 0) -> Reply:
    """What is in force."""
    try:
        return await view(turn, await turn.lethe.data.refusals(**turn.who, options=PATIENT), at)
    except (InsufficientScopeError, NotFoundError) as error:
        return await impossible(turn, error)


async def view(turn: Turn, found: Refusals, at: int = 0, notes: Sequence[str] = ()) -> Reply:
    """The same after an act."""
    say, categories = turn.words.say, await turn.facts.categories()
    lines = refusal_lines(turn, found, categories)
    is_open = bool(objectable_of(found, categories))
    closed = "object_no_more" if found["objections"] else "object_none"
    parts = ["\n".join(lines) or say("refusals_none"), say("restrict_why"), say("object_why" if is_open else closed)]
    parts += own_stores(turn, await turn.facts.has_own_stores(), "refusals_own_stores")
    shown = shown_page(turn, "\n\n".join(parts), at, "refusals")
    ways: List[Json] = []
    if not has(found["restrictions"], None):
        ways.append(button("secondary", say("restrict_open"), custom_id(CHOICE, "restrict")))
    if found["restrictions"]:
        ways.append(button("secondary", say("unrestrict_open"), custom_id(CHOICE, "unrestrict")))
    if is_open:
        ways.append(button("danger", say("object_open"), custom_id(CHOICE, "object")))
    embeds = [{"title": say("refusals_title"), **shown.embed}]
    return Reply("\n".join(notes), embeds, [*([row(*ways)] if ways else []), *shown.navigation])


def refusal_lines(turn: Turn, found: Refusals, categories: Sequence[Json]) -> List[str]:
    """What is in force, one line each."""
    say, locale = turn.words.say, turn.asked.locale

    def line(one: Mapping[str, Any], key: str, everything: str) -> str:
        of = one["category"]
        what = say(everything) if of is None else name_of(categories, of, locale)
        return f"• {say(key, when=when(one['since']), what=what)}"

    return [
        *(line(one, "refusals_restricted", "refusals_everything") for one in found["restrictions"]),
        *(line(one, "refusals_objected", "refusals_objectable") for one in found["objections"]),
    ]


def objectable_of(found: Refusals, categories: Sequence[Json]) -> List[Json]:
    """The categories that the user can still object to."""
    objections = found["objections"]
    if has(objections, None):
        return []
    return [one for one in categories if one["legal_basis"] in _OBJECTABLE and not has(objections, one["key"])]


def has(of: Sequence[Mapping[str, Any]], key: Optional[str]) -> bool:
    return any(one["category"] == key for one in of)


async def impossible(turn: Turn, error: LetheError) -> Reply:
    """For a key without the scope, and a service of an older version."""
    turn.report(error)
    return Reply(f"{turn.words.say('refusals_missing')} {await whom_to_ask(turn)}")


def refusal_word(error: ProcessingRefusedError) -> str:
    """What the user is shown instead of a failure: it is their own decision."""
    return "command_restricted" if error.reason == "restriction" else "command_objected"
