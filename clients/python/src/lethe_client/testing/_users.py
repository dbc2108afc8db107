"""The list of `GET /users`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, List, Sequence

from ._categories import needs_consent
from ._refusal import Json, id_of, invalid

if TYPE_CHECKING:
    from ._bot import FakeBot

_STATUSES = ("none", "pending", "accepted", "revoked")
_ORDERS = ("key", "recent")


def page_of_users(page: Callable[[str, Sequence[Json], Json], Json], bot: "FakeBot", given: Json) -> Json:
    """One page without totals. 400 for a wrong filter, 404 for a category that is not declared."""
    if "page" in given:
        raise invalid("page", "does not exist in this list")
    found = page("users", _users_of(bot, given), given)
    return {**found, "pagination": {key: found["pagination"][key] for key in ("page_size", "next")}}


def _users_of(bot: "FakeBot", given: Json) -> List[Json]:
    asked = {name: id_of(given, name) for name in ("user_id", "guild_id") if name in given}
    status, category = given.get("status"), given.get("category")
    _require_one("status", _STATUSES, "none" if status is None else status)
    _require_one("order", _ORDERS, given.get("order", "key"))
    if category is not None:
        bot.category(category)
    shown = []
    for held in bot.subjects.values():
        view = held.consent.status_view
        state = view["status"] if category is None else held.consent.state_of(category, needs_consent(bot.categories[category]))
        is_named = all(view[name] == value for name, value in asked.items())
        if held.is_held and is_named and state is not None and status in (None, state):
            shown.append({**view, "updated_at": held.consent.changed_at})
    if given.get("order") == "recent":
        # The newest event is the first.
        places = [(event["user_id"], event["guild_id"]) for event in bot.events.all]
        shown.sort(key=lambda view: places.index((view["user_id"], view["guild_id"])))
    return shown


def _require_one(name: str, of: Sequence[str], value: Any) -> None:
    if value not in of:
        raise invalid(name, f"must be one of {', '.join(of)}")
