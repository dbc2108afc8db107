"""What the fake answers in place of a success."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

Json = Dict[str, Any]
#: A user in a guild.
Ids = Tuple[str, str]
_ITEMS_MAX = 100

_STATUSES = {
    "invalid_request": 400,
    "unauthorized": 401,
    "consent_required": 403,
    "processing_refused": 403,
    "suspended": 403,
    "insufficient_scope": 403,
    "not_found": 404,
    "conflict": 409,
    "payload_too_large": 413,
    "unsupported_media_type": 415,
    "misdirected_request": 421,
    "rate_limit_exceeded": 429,
    "internal_error": 500,
    "service_unavailable": 503,
}


class Refusal(Exception):
    """A request that is refused with a code of the service."""

    def __init__(self, code: str, message: str, details: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        if code not in _STATUSES:
            raise ValueError(f"{code!r} is no code of the service. Codes are: {', '.join(_STATUSES)}.")
        self.status = _STATUSES[code]
        self.error: Json = {"code": code, "message": message}
        if details is not None:
            self.error["details"] = dict(details)


def invalid(field: str, message: str) -> Refusal:
    fields = [{"field": field, "message": message}]
    return Refusal("invalid_request", f"The request is malformed: {field} {message}", {"fields": fields})


def not_found(what: str, details: Optional[Mapping[str, Any]] = None) -> Refusal:
    return Refusal("not_found", f"{what} not found", details)


def lacking(scope: str) -> Refusal:
    return Refusal("insufficient_scope", f"The API key lacks the scope {scope}", {"required": scope})


def require_all(*checks: Tuple[str, bool, str]) -> None:
    """400 that names each field that is wrong."""
    fields = [{"field": field, "message": message} for field, is_right, message in checks if not is_right]
    if fields:
        raise Refusal("invalid_request", "The request is malformed", {"fields": fields})


def is_text(value: Any, most: Optional[int] = None) -> bool:
    """A text that has something to read."""
    return isinstance(value, str) and value.strip() != "" and (most is None or len(value) <= most)


def require_keys(given: Mapping[str, Any]) -> None:
    """400 for categories of a call that are no list of texts; they may be absent."""
    keys = given.get("categories")
    is_right = keys is None or isinstance(keys, list) and 0 < len(keys) <= 50 and all(is_text(key, 100) for key in keys)
    require_all(("categories", is_right, "must be a list of 1 to 50 texts"))


def text_of(given: Mapping[str, Any], name: str) -> str:
    text = given.get(name)
    if isinstance(text, str) and text != "":
        return text
    raise invalid(name, "must be a text")


def id_of(given: Mapping[str, Any], name: str) -> str:
    id = given.get(name)
    if isinstance(id, str) and re.fullmatch(r"[0-9]{17,20}", id):
        return id
    raise invalid(name, "must be a string of 17 to 20 digits")


def ids_of(given: Mapping[str, Any]) -> Ids:
    return id_of(given, "user_id"), id_of(given, "guild_id")


def present(given: Mapping[str, Any]) -> Json:
    """What is given: null for an optional field counts as absent."""
    return {name: value for name, value in given.items() if value is not None}


def version_of(given: Mapping[str, Any], unless: str) -> Optional[str]:
    """Refuses a malformed version, and none where `unless` is absent too."""
    version = given.get("consent_version")
    if version is None and unless in given:
        return None
    if isinstance(version, str) and re.fullmatch(r"[A-Za-z0-9._+:\-]{1,64}", version):
        return version
    raise invalid("consent_version", f"must be 1 to 64 letters, digits and . _ + : -, or give {unless}")


def number_of(given: Mapping[str, Any], name: str, default: int, most: int = 2**53 - 1) -> int:
    """A whole number of a query."""
    text = str(given.get(name, default))
    if re.fullmatch("[0-9]{1,15}", text) and 1 <= int(text) <= most:
        return int(text)
    raise invalid(name, f"must be a whole number from 1 to {most}")


def items_of(given: Mapping[str, Any]) -> List[Json]:
    items = given.get("items")
    if isinstance(items, list) and 0 < len(items) <= _ITEMS_MAX:
        return [present(item) for item in items]
    raise invalid("items", f"must be a list of 1 to {_ITEMS_MAX}")


_Fault = Callable[[Any], Optional[str]]


def _faults_in(value: Any, path: str, fault_of: _Fault) -> List[Json]:
    """What `fault_of` finds in a value and within it, each with its path."""
    message = fault_of(value)
    if message is not None:
        return [{"field": path or "body", "message": message}]
    inner: Iterable[Tuple[str, Any]] = ()
    if isinstance(value, dict):
        inner = ((f"{path}.{key}" if path else key, one) for key, one in value.items())
    elif isinstance(value, list):
        inner = ((f"{path}[{at}]", one) for at, one in enumerate(value))
    return [fault for place, one in inner for fault in _faults_in(one, place, fault_of)]


def number_faults_in(value: Any, path: str) -> List[Json]:
    """The numbers that JSON readers would change."""
    return _faults_in(value, path, _number_fault)


def _number_fault(value: Any) -> Optional[str]:
    # A float from 1e21 on is written with an exponent.
    is_whole = isinstance(value, int) or isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    if not is_whole or abs(value) < 2**53:
        return None
    return "must be at most 2^53 - 1 in size: send larger numbers as a string, so that they keep their digits"


def require_clean_texts(given: Mapping[str, Any]) -> None:
    """400 for a text or a key with NUL or a lone surrogate."""
    for fault in _faults_in(given, "", _text_fault):
        raise invalid(fault["field"], fault["message"])


def _text_fault(value: Any) -> Optional[str]:
    texts = value if isinstance(value, dict) else [value]
    is_unclean = any(isinstance(text, str) and re.search("[\0\ud800-\udfff]", text) for text in texts)
    return "must not hold NUL or lone surrogates" if is_unclean else None


def named(ids: Ids) -> Json:
    return {"user_id": ids[0], "guild_id": ids[1]}


_RESERVED = ("privacy_page", "console")


def require_source(given: Mapping[str, Any]) -> None:
    """Refuses a place of an act that is malformed, or that only the service names."""
    source = given.get("source", "api")
    if isinstance(source, str) and re.fullmatch(r"[a-z][a-z0-9_.:-]{0,63}", source) and source not in _RESERVED:
        return
    message = "must be 1 to 64 small letters, digits and _ . : -, beginning with a letter, and none of "
    raise invalid("source", message + ", ".join(_RESERVED))
