"""The acts of `/privacy object`: to restrict, to end a restriction, and to object."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict, List, Optional, Sequence

from lethe_client import ConflictError, InsufficientScopeError, NotFoundError

from ._custom_id import KEEP, OBJECT, OBJECT_NOW, RESTRICT, UNRESTRICT, base36, custom_id, number_of
from ._facts import label_of
from ._menus import category_menus, name_of
from ._patient import PATIENT
from ._refusals import Refusals, has, impossible, objectable_of, view
from ._reply import Json, Reply, button, row
from ._turn import Turn

#: In the place of a category in an id: all of them.
_ALL = "all"


async def choice(turn: Turn, what: str = "", *_: str) -> Reply:
    """Shows what can be restricted, objected to, or ended."""
    found, categories = await turn.lethe.data.refusals(**turn.who, options=PATIENT), await turn.facts.categories()
    restrictions = found["restrictions"]
    if what == "restrict":
        return _asked(turn, RESTRICT, [one for one in categories if not has(restrictions, one["key"])], "restrict")
    if what == "object":
        return _asked(turn, OBJECT, objectable_of(found, categories), "object")
    return _asked(turn, UNRESTRICT, [one for one in categories if has(restrictions, one["key"])], "unrestrict")


def _asked(turn: Turn, act: str, categories: Sequence[Json], words: str) -> Reply:
    """The menus of an act, with a button for all."""
    say, locale = turn.words.say, turn.asked.locale
    menus = category_menus(act, categories, say(f"{words}_choose"), lambda one: label_of(one, locale))
    everything = button("danger" if words == "object" else "primary", say(f"{words}_all"), custom_id(act, _ALL))
    return Reply(say(f"{words}_which"), components=[*menus, row(everything)])


def _chosen(turn: Turn, place: str) -> Optional[str]:
    """The category that was selected; None for all."""
    return None if place == _ALL else next(iter(turn.asked.values), "")


async def restrict(turn: Turn, place: str = "", *_: str) -> Reply:
    """Keeps what is stored, and has the bot neither read nor change it (GDPR Art. 18)."""
    category = _chosen(turn, place)
    return await _done(turn, turn.lethe.data.restrict, "restrict", category, lambda found: ["restrict_done"])


async def unrestrict(turn: Turn, place: str = "", *_: str) -> Reply:
    """Ends a restriction, or every one."""

    def said(found: Refusals) -> List[str]:
        return ["unrestrict_done", *(["unrestrict_partly"] if has(found["restrictions"], None) else [])]

    return await _done(turn, turn.lethe.data.unrestrict, "unrestrict", _chosen(turn, place), said)


async def sure(turn: Turn, place: str = "", *_: str) -> Reply:
    """Asks whether the user is sure: an objection erases. The button expires, and names the category by its id."""
    say, key = turn.words.say, _chosen(turn, place)
    categories = await turn.facts.categories()
    found = next((one for one in categories if one["key"] == key), None)
    if key is not None and found is None:
        return _lost(turn)
    until = int(turn.now()) + turn.confirm_seconds
    id = _ALL if found is None else found["id"]
    what = say("refusals_objectable") if key is None else name_of(categories, key, turn.asked.locale)
    buttons = row(
        button("danger", say("object_yes"), custom_id(OBJECT_NOW, base36(until), id, turn.asked.id)),
        button("secondary", say("forget_no"), custom_id(KEEP)),
    )
    lines = [say("object_sure", what=what), say("forget_until", when=f"<t:{until}:t>")]
    return Reply("\n".join(lines), components=[buttons])


async def object_now(turn: Turn, until: str = "", id: str = "", *_: str) -> Reply:
    """Erases what the objection is about, and has the bot store no more of it (GDPR Art. 21)."""
    # An id that is no time is expired, too.
    if (number_of(until) or 0) <= turn.now():
        return Reply(turn.words.say("object_expired"))
    # What was read a minute ago does not know that the category was declared anew.
    turn.facts.forget()
    found = next((one for one in await turn.facts.categories() if one["id"] == id), None)
    if id != _ALL and found is None:
        return _lost(turn)
    category = None if found is None else found["key"]
    return await _done(turn, turn.lethe.data.object, "object", category, lambda found: ["object_done", "forget_beyond"])


async def _done(
    turn: Turn,
    act: Callable[..., Awaitable[Any]],
    name: str,
    category: Optional[str],
    said: Callable[[Refusals], List[str]],
) -> Reply:
    given: Dict[str, Any] = {} if category is None else {"category": category}
    try:
        found = await act(**turn.who, **given, options=turn.once(name))
    except (ConflictError, NotFoundError) as error:
        if isinstance(error, ConflictError) and error.reason != "not_objectable":
            raise
        return _lost(turn)
    except InsufficientScopeError as error:
        return await impossible(turn, error)
    return await view(turn, found, notes=[turn.words.say(key) for key in said(found)])


def _lost(turn: Turn) -> Reply:
    """The category was removed, or its legal basis changed, since the message was sent."""
    turn.facts.forget()
    return Reply(turn.words.say("refusals_lost"))
