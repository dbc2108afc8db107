"""Values of drivers as JSON that Python and JavaScript write alike: the service checks the digest of its text."""

from __future__ import annotations

import base64
import re
import sys
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Mapping

from ._statement import compact

#: How deep a value may be nested. What is deeper becomes its JSON text, since Lethe bounds the depth of a body.
_DEPTH_MAX = 8
_WITHOUT_END = -sys.maxsize
#: What Lethe takes in no text: NUL, and half a pair of surrogates.
_UNCLEAN = re.compile("[\0\ud800-\udfff]")
_EXACT_MAX = 2**53 - 1
#: JavaScript puts keys that are an index of an array first.
_INDEX_MAX = 2**32 - 2


def json_safe(value: Any, depth: int = 0) -> Any:
    """Ids beyond 2⁵³ become text, as everywhere in Lethe; times are ISO 8601, and bytes base64."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, int):
        return int(value) if abs(value) <= _EXACT_MAX else str(int(value))
    if isinstance(value, float):
        if value.is_integer():
            return int(value) if abs(value) <= _EXACT_MAX else _written(value)
        # JavaScript writes exponents otherwise, and has no text for what is no number.
        return value if re.fullmatch(r"-?[0-9]+\.[0-9]+", repr(value)) else repr(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode()
    if depth >= _DEPTH_MAX and isinstance(value, (Mapping, list, tuple, set, frozenset)):
        return compact(json_safe(value, _WITHOUT_END))
    if isinstance(value, Mapping):
        pairs = {_clean(str(key)): json_safe(each, depth + 1) for key, each in value.items()}
        return {key: pairs[key] for key in sorted(pairs, key=_place)}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_safe(each, depth + 1) for each in value]
    return _clean(str(value))


def _written(value: float) -> str:
    """A whole number as JavaScript writes it: in digits below 10²¹."""
    text = float.__repr__(value)
    return format(Decimal(text), "f").split(".")[0] if abs(value) < 1e21 else text


def _clean(text: str) -> str:
    return _UNCLEAN.sub("\ufffd", text)


def _place(key: str) -> int:
    """Where a key comes in JavaScript: those that are an index first, the others as they are."""
    is_index = re.fullmatch(r"0|[1-9][0-9]{0,9}", key) is not None and int(key) <= _INDEX_MAX
    return int(key) if is_index else _INDEX_MAX + 1
