"""The words that a user was shown."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from lethe_client import NotFoundError

from ._facts import label_of
from ._patient import PATIENT
from ._reply import Json
from ._turn import Turn

_ACTIONS = {"asked": ("requested", "shown"), "decided": ("accepted", "revoked", "categories_withdrawn")}


async def shown_for(turn: Turn, what: str) -> Dict[str, str]:
    """The labels shown for the request that waits (`asked`), or for the decision that holds (`decided`)."""
    consents = turn.lethe.consents
    async for entry in consents.history(**turn.who, options=PATIENT):
        if entry["action"] not in _ACTIONS[what]:
            continue
        if not entry["texts"]:
            break
        try:
            return labels_in(await consents.words(entry["texts"][0]["digest"], options=PATIENT))
        except NotFoundError:
            break
    return {}


def labels_in(texts: Mapping[str, Any]) -> Dict[str, str]:
    return {category["key"]: category["label"] for category in texts["categories"]}


def label_shown(shown: Dict[str, str], category: Json, locale: str) -> str:
    """The label of a category in shown words; where they do not name it, that of today."""
    return shown.get(category["key"]) or label_of(category, locale)
