"""What a bot of the fake has declared."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from ._refusal import Json, Refusal, is_text, not_found, present, require_all

_DEFAULTS: Dict[str, Any] = {"description": None, "retention_days": None, "legal_basis": "consent"}
#: What an answer has only where it was declared.
_OPTIONAL = (
    *("labels", "description_de", "description_en", "descriptions"),
    *("requires_consent", "reason_de", "reason_en"),
)

_TYPES = ("string", "number", "boolean", "date", "json")
_BASES = ("consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests")

_NEEDS_CONSENT = (
    "Values of this category need a consent, although its legal_basis is another one: "
    "where none is needed, say so by requires_consent: false with reason_de and reason_en"
)


def category_of(given: Mapping[str, Any], id: str, now: str) -> Json:
    """The answer about a declaration."""
    _require_declaration(given)
    labels = {name: given[name] for name in ("key", "label_de", "label_en")}
    _require_reasons(given)
    further = {name: given.get(name, one) for name, one in _DEFAULTS.items()}
    words = {name: given[name] for name in _OPTIONAL if name in given and given[name] is not True}
    fields = [{"description": None, **present(field)} for field in given["fields"]]
    return {"id": id, **labels, **further, **words, "fields": fields, "created_at": now}


def with_warnings(category: Json) -> Json:
    """The answer to a registration, which warns where values need a consent beside another legal basis."""
    is_meant = category["legal_basis"] == "consent" or not needs_consent(category)
    return category if is_meant else {**category, "warnings": [_NEEDS_CONSENT]}


def _named(given: Mapping[str, Any], place: str) -> List[Tuple[str, bool, str]]:
    """The key and the labels of a category or a field."""
    is_key = re.fullmatch("[a-z_][a-z0-9_]{0,99}", str(given.get("key"))) is not None
    slug = "must be lower-case letters, digits and _, not starting with a digit, at most 100 characters"
    labels = [(place + name, is_text(given.get(name)), "must be a text") for name in ("label_de", "label_en")]
    return [(f"{place}key", is_key, slug), *labels]


def _require_declaration(given: Mapping[str, Any]) -> None:
    """400 for a declaration that is malformed."""
    fields, days, basis = given.get("fields"), given.get("retention_days", 1), given.get("legal_basis", "consent")
    is_list = isinstance(fields, list) and all(isinstance(field, dict) for field in fields)
    is_number = isinstance(days, int) and not isinstance(days, bool) and 1 <= days <= 3650
    checks = [
        *_named(given, ""),
        ("fields", is_list and 1 <= len(fields or []) <= 50, "must be a list of 1 to 50 fields"),
        ("retention_days", is_number, "must be a whole number from 1 to 3650"),
        ("legal_basis", basis in _BASES, f"must be one of {', '.join(_BASES)}"),
    ]
    for at, field in enumerate(fields or [] if is_list else []):
        is_type = field.get("type") in _TYPES
        is_new = all(other.get("key") != field.get("key") for other in (fields or [])[:at])
        checks += [
            *_named(field, f"fields[{at}]."),
            (f"fields[{at}].key", is_new, "is declared twice"),
            (f"fields[{at}].type", is_type, f"must be one of {', '.join(_TYPES)}"),
        ]
    require_all(*checks)


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
