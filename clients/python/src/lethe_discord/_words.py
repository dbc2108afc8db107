"""The words of the conversation: in English and German from texts.json, in further languages from the bot."""

from __future__ import annotations

import json
import pkgutil
import re
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

#: Words by the tag of their language (BCP 47), for example `fr` or `pt-BR`. What is missing is said in English.
TextTable = Mapping[str, Mapping[str, str]]

#: Made of the texts of @lethe/discord by `npm run docs`.
OWN: Dict[str, Dict[str, str]] = json.loads(pkgutil.get_data(__name__, "texts.json") or b"{}")


def best_tag(locale: str, tags: Sequence[str]) -> Optional[str]:
    """The tag of a list that fits a locale best: the same one, the same language, English, the first."""
    lower = locale.lower()
    base = lower.split("-")[0]
    ranks: Sequence[Callable[[str], bool]] = (
        lambda tag: tag == lower,
        lambda tag: tag == base,
        lambda tag: tag.split("-")[0] == base,
        lambda tag: tag == "en",
        lambda tag: tag.startswith("en-"),
        lambda tag: True,
    )
    for fits in ranks:
        for tag in tags:
            if fits(tag.lower()):
                return tag
    return None


class Words:
    """The words in the language that fits a locale best."""

    def __init__(self, locale: str, table: TextTable) -> None:
        #: The tag under which the words were found.
        self.language = best_tag(locale, [*OWN, *table]) or "en"
        self._texts = {**OWN["en"], **OWN.get(self.language, {}), **table.get(self.language, {})}

    def say(self, key: str, **values: Any) -> str:
        """A text with its values. A value that contains braces is shown as it is."""
        return re.sub(r"\{(\w+)\}", lambda found: str(values.get(found[1], found[0])), self._texts[key])


def checked(table: Optional[TextTable]) -> TextTable:
    """The table of a bot. Raises ValueError for the name of a text that there is not."""
    given = table or {}
    unknown = sorted({key for texts in given.values() for key in texts} - set(OWN["en"]))
    if unknown:
        raise ValueError(f"texts has names that no text has: {', '.join(unknown)}")
    return given
