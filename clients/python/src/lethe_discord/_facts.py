"""What a bot has declared."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence

from lethe_client import AsyncLethe, LetheError, NotFoundError
from lethe_client._core import Kept

from ._patient import PATIENT
from ._reply import Json
from ._words import best_tag

_KEPT_SECONDS = 60.0
#: A request for consent names at most so many categories.
_CATEGORIES_MAX = 50


class Facts:
    """What a bot has declared, read again after a minute: it is the same for all users."""

    def __init__(self, lethe: AsyncLethe, named: Optional[Sequence[str]], report: Callable[[BaseException], None]) -> None:
        self._lethe, self._named, self._report = lethe, named, report
        self._unknown = ""
        self._kept: "Kept[str, asyncio.Future[Any]]" = Kept()

    async def bot(self) -> Json:
        found: Json = await self._once("bot", lambda: self._lethe.bots.me(options=PATIENT))
        return found

    async def notice(self) -> Json:
        """What the bot says about itself (GDPR Art. 13). A service without notice settings knows nothing of it."""
        found: Json = await self._once("notice", self._notice)
        return found

    async def _notice(self) -> Json:
        try:
            return {**await self._lethe.bots.notice_settings(options=PATIENT)}
        except NotFoundError:
            return {}

    async def categories(self) -> List[Json]:
        """Every declared category."""
        found: List[Json] = await self._once("categories", self._categories)
        return found

    async def _categories(self) -> List[Json]:
        found: List[Json] = [{**one} for one in await self._lethe.categories.list(options=PATIENT).to_list()]
        self._compare([one["key"] for one in found])
        return found

    def _compare(self, declared: Sequence[str]) -> None:
        """Reports the names of the option that no category has, once until they change."""
        unknown = ", ".join(key for key in self._named or () if key not in declared)
        if unknown and unknown != self._unknown:
            said = f"categories names what the bot has not declared: {unknown}. No consent is asked for it."
            known = ", ".join(declared) or "none"
            self._report(ValueError(f"{said} Correct the name, or declare the category. Declared: {known}."))
        self._unknown = unknown

    async def asked(self) -> List[Json]:
        """The categories that consent is asked for; none that needs no consent. Raises ValueError where one request cannot name them."""
        everything = await self.categories()
        named = [one for one in everything if self._named is None or one["key"] in self._named]
        asked = [one for one in named if needs_consent(one)]
        if len(asked) > _CATEGORIES_MAX:
            raise ValueError(f"categories must name at most {_CATEGORIES_MAX} of the {len(asked)} declared categories.")
        return asked

    async def has_own_stores(self) -> Optional[bool]:
        """Whether the bot has holders: stores of its own, which an erasure asks.

        None where it cannot be read, which fails no act of a user. An older service knows of none.
        """
        try:
            found: bool = await self._once("own stores", self._own_stores)
        except Exception as error:
            if not isinstance(error, LetheError):
                self._report(error)
            return None
        return found

    async def _own_stores(self) -> bool:
        try:
            return bool(await self._lethe.holders.list(options=PATIENT).to_list())
        except NotFoundError:
            return False

    async def texts(self, version: Optional[str]) -> List[Json]:
        """The registered texts of a version."""
        if version is None:
            return []
        found: List[Json] = await self._once("texts", self._lethe.consents.texts(consent_version=version, options=PATIENT).to_list)
        return found

    def forget(self) -> None:
        """After a failure: what was read may no longer be true."""
        self._kept.clear()

    async def _once(self, name: str, load: Callable[[], Awaitable[Any]]) -> Any:
        """All who ask at a time wait for one call, and for that of no other name. No failure is kept."""
        found = self._kept.get(name)
        if found is None:
            found = asyncio.ensure_future(load())
            self._kept.put(name, found, _KEPT_SECONDS)
            found.add_done_callback(partial(self._ended, name))
        # One who asks and is cancelled does not cancel the call of the others.
        return await asyncio.shield(found)

    def _ended(self, name: str, found: asyncio.Future[Any]) -> None:
        if found.cancelled() or found.exception() is not None:
            self._kept.remove(name, found)


def needs_consent(category: Json) -> bool:
    """Whether a consent can be about a category. An older service does not say so of any."""
    return category.get("requires_consent") is not False


def reason_of(category: Json, locale: str) -> Optional[str]:
    """Why a category is stored without a consent (GDPR Art. 13(1)(c)); None for one that needs a consent."""
    return None if needs_consent(category) else either(locale, category, "reason")


def purpose_of(category: Json, locale: str) -> Optional[str]:
    """The purpose for the user, as the service chooses it for its texts.

    In their language, else in English, else as it is declared without one, else in German or whichever there is.
    """
    words: Dict[str, Optional[str]] = {
        "de": category.get("description_de"),
        **(category.get("descriptions") or {}),
        "en": category.get("description_en") or (category["description"] or "").strip(),
    }
    every = {tag: text for tag, text in words.items() if text}
    return every.get(best_tag(locale, list(every)) or "")


def either(locale: str, given: Mapping[str, Any], name: str) -> Optional[str]:
    """One of two texts, `<name>_de` and `<name>_en`, in the language of the user, as far as there is one in it."""
    words = {tag: given.get(f"{name}_{tag}") for tag in ("en", "de")}
    every = {tag: text for tag, text in words.items() if text}
    return every.get(best_tag(locale, list(every)) or "")


def label_of(labelled: Json, locale: str) -> str:
    """The name of a category or field in the language of the user, as the service chooses it for its texts."""
    labels: Dict[str, str] = {"en": labelled["label_en"], "de": labelled["label_de"], **(labelled.get("labels") or {})}
    return labels[best_tag(locale, list(labels)) or "en"]
