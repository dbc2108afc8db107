"""What a bot of the fake has declared."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Dict, List, Mapping

from ._refusal import Json, invalid, present, text_of

_DEFAULTS: Dict[str, Any] = {"description": None, "retention_days": None, "legal_basis": "consent"}
#: What an answer has only where it was declared.
_OPTIONAL = (
    *("labels", "description_de", "description_en", "descriptions"),
    *("requires_consent", "reason_de", "reason_en"),
)


def category_of(given: Mapping[str, Any], id: str, now: str) -> Json:
    """The answer about a declaration."""
    labels = {name: text_of(given, name) for name in ("key", "label_de", "label_en")}
    if not isinstance(given.get("fields"), list):
        raise invalid("fields", "must be a list")
    further = {name: given.get(name, one) for name, one in _DEFAULTS.items()}
    words = {name: given[name] for name in _OPTIONAL if name in given}
    fields = [{"description": None, **present(field)} for field in given["fields"]]
    return {"id": id, **labels, **further, **words, "fields": fields, "created_at": now}


def digest_of(declared: List[Json]) -> str:
    """The version of a request without one."""
    return f"sha256:{hashlib.sha256(json.dumps(declared).encode()).hexdigest()[:32]}"
