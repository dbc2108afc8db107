"""What a bot of the fake has declared."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._refusal import Json, Refusal, invalid, not_found, present, text_of

_DEFAULTS: Dict[str, Any] = {"description": None, "retention_days": None, "legal_basis": "consent"}
#: What an answer has only where it was declared.
_OPTIONAL = (
    *("labels", "description_de", "description_en", "descriptions"),
    *("requires_consent", "reason_de", "reason_en"),
)

_NEEDS_CONSENT = (
    "Values of this category need a consent, although its legal_basis is another one: "
    "where none is needed, say so by requires_consent: false with reason_de and reason_en"
)


def category_of(given: Mapping[str, Any], id: str, now: str) -> Json:
    """The answer about a declaration."""
    labels = {name: text_of(given, name) for name in ("key", "label_de", "label_en")}
    if not isinstance(given.get("fields"), list):
        raise invalid("fields", "must be a list")
    _require_reasons(given)
    further = {name: given.get(name, one) for name, one in _DEFAULTS.items()}
    words = {name: given[name] for name in _OPTIONAL if name in given and given[name] is not True}
    fields = [{"description": None, **present(field)} for field in given["fields"]]
    return {"id": id, **labels, **further, **words, "fields": fields, "created_at": now}


def with_warnings(category: Json) -> Json:
    """The answer to a registration, which warns where values need a consent beside another legal basis."""
    is_meant = category["legal_basis"] == "consent" or not needs_consent(category)
    return category if is_meant else {**category, "warnings": [_NEEDS_CONSENT]}


def _require_reasons(given: Mapping[str, Any]) -> None:
    """400 for reasons that are missing, or without `requires_consent: false` and another legal basis."""
    is_free = given.get("requires_consent") is False
    reasons = {name: given.get(name) for name in ("reason_de", "reason_en")}
    faults = [name for name, reason in reasons.items() if (not str(reason or "").strip() if is_free else reason is not None)]
    if is_free and given.get("legal_basis", "consent") == "consent":
        faults.append("legal_basis")
    if faults:
        fields = [{"field": name, "message": "does not fit requires_consent"} for name in faults]
        raise Refusal("invalid_request", "The request is malformed", {"fields": fields})


def needs_consent(category: Mapping[str, Any]) -> bool:
    """Whether a category can be part of a consent."""
    return category.get("requires_consent") is not False


def require_askable(keys: Optional[Sequence[str]], declared: Mapping[str, Json]) -> None:
    """404 for what is not declared, 400 for what needs no consent."""
    if any(key not in declared for key in keys or []):
        raise not_found("Category")
    message = "needs no consent (requires_consent is false): leave it out"
    faults = [at for at, key in enumerate(keys or []) if not needs_consent(declared[key])]
    if faults:
        fields = [{"field": f"categories[{at}]", "message": message} for at in faults]
        raise Refusal("invalid_request", "The request is malformed", {"fields": fields})


def digest_of(declared: List[Json]) -> str:
    """The version of a request without one."""
    return f"sha256:{hashlib.sha256(json.dumps(declared).encode()).hexdigest()[:32]}"
