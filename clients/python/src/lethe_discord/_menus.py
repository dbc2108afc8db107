"""Menus of categories."""

from __future__ import annotations

from typing import Callable, List, Sequence

from ._custom_id import custom_id
from ._facts import label_of
from ._reply import LABEL_MAX, OPTIONS_MAX, ROWS_MAX, Json, cut, row, select


def category_menus(
    act: str, categories: Sequence[Json], placeholder: str, label: Callable[[Json], str], is_many: bool = False
) -> List[Json]:
    """Menus beside one row of buttons. Four hold the 100 categories that a bot may declare. `is_many`: several at once."""
    menus: List[Json] = []
    for at in range(0, min(len(categories), OPTIONS_MAX * (ROWS_MAX - 1)), OPTIONS_MAX):
        options = [
            {"label": cut(label(one), LABEL_MAX), "value": one["key"]} for one in categories[at : at + OPTIONS_MAX]
        ]
        menu = select(custom_id(act, len(menus)), placeholder, options, 1)
        menus.append(row(menu if is_many else {**menu, "max_values": 1}))
    return menus


def name_of(categories: Sequence[Json], key: str, locale: str) -> str:
    """The name of a category in the language of the user; its key where it is not declared any more."""
    found = next((one for one in categories if one["key"] == key), None)
    return cut(key if found is None else label_of(found, locale), LABEL_MAX)
