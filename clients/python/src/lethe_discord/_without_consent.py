"""What no consent decides."""

from __future__ import annotations

from typing import List, Sequence

from ._facts import label_of, reason_of
from ._reply import EMBED_MAX, LABEL_MAX, Json, cut
from ._turn import Turn


def without_consent(turn: Turn, categories: Sequence[Json]) -> List[str]:
    """What the bot may store without a consent, each with its reason; empty where a consent decides all."""
    locale = turn.asked.locale
    reasons = [(one, reason_of(one, locale)) for one in categories]
    lines = [f"• {cut(label_of(one, locale), LABEL_MAX)}: {reason}" for one, reason in reasons if reason is not None]
    return ["\n".join([turn.words.say("without_consent"), *lines])] if lines else []


def without_consent_embeds(turn: Turn, categories: Sequence[Json]) -> List[Json]:
    """The same beside menus, which leave no room for further pages: `/privacy about` has all of it."""
    return [{"description": cut(text, EMBED_MAX)} for text in without_consent(turn, categories)]
