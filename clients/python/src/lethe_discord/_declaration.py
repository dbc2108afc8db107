"""The declaration of `/privacy` for Discord."""

from __future__ import annotations

from typing import Dict, List

from ._reply import LABEL_MAX, Json, cut
from ._words import TextTable, Words

SUBCOMMANDS = ("about", "consent", "status", "page", "export", "revoke", "forget", "object")
#: The languages of Discord's client. It refuses others in a declaration.
_LOCALES = (
    "id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th "
    "zh-CN ja zh-TW ko"
).split(" ")
_SUBCOMMAND, _STRING = 1, 3
_GUILD, _BOT_DM, _PRIVATE_CHANNEL = 0, 1, 2
_BY_GUILD, _BY_USER = 0, 1


def declaration(table: TextTable, user_install: bool = False) -> Json:
    """`/privacy` as Discord's interface takes it, in all languages that there are words for; with `user_install` also for users
    who have installed the bot on their account."""
    english = Words("en", table)
    others: Dict[str, Words] = {}
    for locale in _LOCALES:
        words = Words(locale, table)
        is_same = words.language.split("-")[0] == locale.split("-")[0]
        if words.language != english.language and is_same:
            others[locale] = words

    def translated(key: str) -> Dict[str, str]:
        return {locale: cut(words.say(key), LABEL_MAX) for locale, words in others.items()}

    def described(name: str, key: str) -> Json:
        description = cut(english.say(key), LABEL_MAX)
        return {"name": name, "description": description, "description_localizations": translated(key)}

    def choice(value: str) -> Json:
        key = f"where_{value}"
        return {"value": value, "name": cut(english.say(key), LABEL_MAX), "name_localizations": translated(key)}

    where = {**described("where", "option_where"), "type": _STRING, "choices": [choice("here"), choice("everywhere")]}
    options: List[Json] = []
    for name in SUBCOMMANDS:
        option = {**described(name, f"command_{name}"), "type": _SUBCOMMAND}
        options.append({**option, "options": [where]} if name in ("page", "export", "forget") else option)
    where_used: Json = {"contexts": [_GUILD, _BOT_DM]}
    if user_install:
        where_used = {"contexts": [_GUILD, _BOT_DM, _PRIVATE_CHANNEL], "integration_types": [_BY_GUILD, _BY_USER]}
    return {**described("privacy", "command"), "type": 1, **where_used, "options": options}
