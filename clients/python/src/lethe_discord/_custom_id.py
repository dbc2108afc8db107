"""The state between two messages, in the ids of their components. No id names a user: the one who presses acts."""

from __future__ import annotations

import re
from typing import Iterable, List, Optional, Tuple, Union

_MAX = 100
#: A message of another version is answered with the advice to begin again. @lethe/discord has the same ids.
_HEAD = "lethe1"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

PAGE, CHOOSE, AGREE, AGREE_TO_CHOSEN, DECLINE = "p", "c", "a", "s", "n"
WITHDRAW, WITHDRAW_ALL, FORGET, KEEP = "w", "x", "f", "k"
CHOICE, RESTRICT, UNRESTRICT, OBJECT, OBJECT_NOW = "l", "r", "u", "o", "j"


def custom_id(act: str, *parts: Union[str, int]) -> str:
    made = ":".join([_HEAD, act, *map(str, parts)])
    if len(made) > _MAX:
        raise ValueError(f"A custom_id has {len(made)} characters: {made}")
    return made


def is_ours(given: str) -> bool:
    return re.match(r"lethe[0-9]+:", given) is not None


def parsed(given: str) -> Optional[Tuple[str, List[str]]]:
    """Act and state in an id of this version."""
    first, *parts = given.split(":")
    return (parts[0], parts[1:]) if first == _HEAD and parts else None


def base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if number == 0:
            return digits


def number_of(text: str) -> Optional[int]:
    """The number of base36, of at most twelve digits; None for any other text."""
    return int(text, 36) if re.fullmatch(r"[0-9a-z]{1,12}", text) else None


def page_of(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,4}", text) else 0


def mask_of(places: Iterable[int]) -> str:
    """Some of up to 50 things by their places, as a short text."""
    return base36(sum(1 << place for place in set(places)))


def places_of(mask: str, count: int) -> List[int]:
    """The places in a mask, below `count`."""
    bits = number_of(mask) or 0
    return [place for place in range(count) if bits >> place & 1]
