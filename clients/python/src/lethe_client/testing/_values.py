"""Values, times and numbers as the service checks and counts them."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ._refusal import Json, invalid, number_faults_in

_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_DAY = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
_VALUE = rf"{_DAY}(?:T{_CLOCK}(?::[0-5][0-9](?:[.,][0-9]{{1,9}})?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])?)?"


def _is_date(value: Any) -> bool:
    """An ISO 8601 date, or date-time with or without a zone, of a day that exists."""
    found = re.fullmatch(_VALUE, value) if isinstance(value, str) else None
    return found is not None and _day(*found.groups()) is not None


def _day(year: str, month: str, day: str) -> Optional[datetime.date]:
    try:
        # Python has no year 0; it is a leap year, as 2000 is.
        return datetime.date(int(year) or 2000, int(month), int(day))
    except ValueError:
        return None


_CHECKS: Dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
    "boolean": lambda value: isinstance(value, bool),
    "date": _is_date,
    "json": lambda value: True,
}


def faults_of(fields: Sequence[Mapping[str, str]], data: Mapping[str, Any]) -> List[Dict[str, str]]:
    """What is wrong with values by the declared fields of their category."""
    types = {field["key"]: field["type"] for field in fields}
    faults = []
    for key, value in data.items():
        if key not in types:
            faults.append({"field": f"data.{key}", "message": "is not a field of this category"})
        elif value is not None and not _CHECKS[types[key]](value):
            faults.append({"field": f"data.{key}", "message": f"must be a {types[key]}"})
        else:
            faults += number_faults_in(value, f"data.{key}")
    return faults


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


TYPES = (
    "consent_requested",
    "consent_accepted",
    "consent_revoked",
    "data_submitted",
    "data_exported",
    "data_deleted",
    "deletion_requested",
    "deletion_completed",
    "deletion_failed",
)


def stats_of(events: Sequence[Json], calls: Sequence[str], given: Mapping[str, Any], now: str) -> Json:
    """The answer of `GET /stats`. Every webhook call of the fake is delivered, no erasure takes time, and no day has ended."""
    first, last, is_hourly = _period(given, now)
    happened = [(str(event["event_type"]), str(event["created_at"])) for event in events if event["source"] == "service"]
    counted: Dict[str, Dict[str, int]] = {}
    for name, at in [*happened, *(("call", at) for at in calls)]:
        if not first <= at[:10] <= last:
            continue
        begin = f"{at[:13]}:00:00.000Z" if is_hourly else f"{at[:10]}T00:00:00.000Z"
        names = counted.setdefault(begin, {})
        names[name] = names.get(name, 0) + 1
    buckets = [
        {
            "at": at,
            "counts": {name: names.get(name, 0) for name in TYPES},
            "webhooks": {"delivered": names.get("call", 0), "failed": 0, "exhausted": 0},
            "erasure_ms": {"p50": 0, "p95": 0, "max": 0} if "deletion_completed" in names else None,
        }
        for at, names in sorted(counted.items())
    ]
    return {"buckets": buckets, "under_consent": []}


def _period(given: Mapping[str, Any], now: str) -> Tuple[str, str, bool]:
    bucket = given.get("bucket", "day")
    if bucket not in ("day", "hour"):
        raise invalid("bucket", "must be one of hour, day")
    last = _date(given, "to") or datetime.date.fromisoformat(now[:10])
    first = _date(given, "from") or last - datetime.timedelta(days=29)
    days = (last - first).days + 1
    if not 1 <= days <= (31 if bucket == "hour" else 401):
        raise invalid("from", "is too far from to")
    return first.isoformat(), last.isoformat(), bucket == "hour"


def _date(given: Mapping[str, Any], name: str) -> Optional[datetime.date]:
    if name not in given:
        return None
    found = re.fullmatch(_DAY, str(given[name]))
    day = _day(*found.groups()) if found else None
    if day is None:
        raise invalid(name, "must be a date without a time")
    return day
