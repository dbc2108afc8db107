"""Objections and restrictions of the fake (GDPR Art. 21 and 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Optional

from ._refusal import Ids, Json, Refusal, ids_of, named, text_of

if TYPE_CHECKING:
    from ._bot import FakeBot

_OBJECTABLE = ("legitimate_interests", "public_task")
#: In the place of a category: all of them.
_ALL = ""


class FakeProcessing:
    """What one user in a guild has objected to and restricted. A repeat changes nothing."""

    def __init__(self) -> None:
        #: When each began, by its category.
        self._objections: Dict[str, str] = {}
        self._restrictions: Dict[str, str] = {}

    def object(self, category: str, at: str) -> bool:
        """Whether it is new."""
        return _put(self._objections, category, at)

    def restrict(self, category: str, at: str) -> bool:
        """Whether it is new."""
        return _put(self._restrictions, category, at)

    def unrestrict(self, category: str) -> bool:
        """Ends one restriction, or without a category every one. Whether there was any."""
        ended = [key for key in self._restrictions if category in (_ALL, key)]
        for key in ended:
            del self._restrictions[key]
        return ended != []

    def require(self, declared: Json) -> None:
        """403 for a submit under a category. An objection comes first: it has no end."""
        key, objections = str(declared["key"]), self._objections
        if key in objections or (_ALL in objections and declared["legal_basis"] in _OBJECTABLE):
            raise Refusal("processing_refused", "The user has objected to the processing", {"reason": "objection"})
        self.require_readable(key)

    def require_readable(self, category: Optional[str]) -> None:
        """403 for a reading of what is restricted."""
        if self.is_restricted(_ALL if category is None else category):
            raise Refusal("processing_refused", "The user has restricted the processing", {"reason": "restriction"})

    def is_restricted(self, category: str) -> bool:
        return _ALL in self._restrictions or category in self._restrictions

    @property
    def is_any(self) -> bool:
        return bool(self._objections or self._restrictions)

    def view(self, ids: Ids) -> Json:
        return {**named(ids), "objections": _listed(self._objections), "restrictions": _listed(self._restrictions)}


def object_to(bot: "FakeBot", given: Json) -> Json:
    """Erases what is stored under the category. 404 where it is not declared, 409 for another legal basis."""
    ids, category = ids_of(given), _category_of(bot, given)
    bases = {key: str(one["legal_basis"]) for key, one in bot.categories.items() if category in (_ALL, key)}
    if category != _ALL and bases[category] not in _OBJECTABLE:
        details = {"reason": "not_objectable", "legal_basis": bases[category]}
        raise Refusal("conflict", "An objection needs another legal basis", details)
    held, at = bot.held(ids), bot.now()
    erased = [key for key, basis in bases.items() if basis in _OBJECTABLE and held.values.pop(key, None) is not None]
    if held.processing.object(category, at) or erased:
        about: Json = {"category": category} if category != _ALL else {"categories": sorted(erased)} if erased else {}
        bot.note("data_deleted", ids, {"act": "objection", **about})
    return held.processing.view(ids)


def restrict(bot: "FakeBot", given: Json) -> Json:
    """Keeps what is stored, and refuses to change or read it. 404 for a category that is not declared."""
    ids, category = ids_of(given), _category_of(bot, given)
    processing = bot.held(ids).processing
    if processing.restrict(category, bot.now()):
        bot.note("consent_revoked", ids, {"act": "restriction", **_named(category)})
    return processing.view(ids)


def unrestrict(bot: "FakeBot", given: Json) -> Json:
    """Ends the restriction of a category, or every one. 404 for a category that is not declared."""
    ids, category = ids_of(given), _category_of(bot, given)
    processing = bot.held(ids).processing
    if processing.unrestrict(category):
        bot.note("consent_accepted", ids, {"act": "restriction_ended", **_named(category)})
    return processing.view(ids)


def refusals(bot: "FakeBot", given: Json) -> Json:
    ids = ids_of(given)
    return bot.held(ids).processing.view(ids)


def _category_of(bot: "FakeBot", given: Json) -> str:
    return _ALL if "category" not in given else str(bot.category(text_of(given, "category"))["key"])


def _put(of: Dict[str, str], category: str, at: str) -> bool:
    is_new = category not in of
    of.setdefault(category, at)
    return is_new


def _named(category: str) -> Json:
    return {} if category == _ALL else {"category": category}


def _listed(of: Dict[str, str]) -> List[Json]:
    return [{"category": key or None, "since": since} for key, since in sorted(of.items())]
