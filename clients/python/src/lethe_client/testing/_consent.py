"""The consent of one user in a guild, with its transitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, FrozenSet, List, Mapping, Optional, Sequence, Tuple

from ._categories import needs_consent, require_askable
from ._refusal import Ids, Json, Refusal, invalid, named, not_found

_BOT_WIDE = "0" * 17


@dataclass(frozen=True)
class Asked:
    id: str
    version: str
    categories: Optional[List[str]]
    requested_at: str


class FakeConsent:
    """Answers as the service does; a repeat changes nothing."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._status = "none"
        self._in_force: Optional[Asked] = None
        self._waiting: Optional[Asked] = None
        self._granted: Optional[Dict[str, str]] = None
        self._accepted_at: Optional[str] = None
        self._revoked_at: Optional[str] = None
        self._declined_at: Optional[str] = None
        #: The time of the last request or decision.
        self.changed_at: Optional[str] = None

    def request(self, asked: Asked) -> Tuple[Json, bool]:
        """The answer, and whether the state changed. What waits or is granted already is no new request."""
        waiting, categories = self._waiting, asked.categories
        is_waiting = (
            waiting is not None
            and waiting.version == asked.version
            and _set_of(waiting.categories) == _set_of(categories)
        )
        is_granted = (
            self._status == "accepted"
            and self.version == asked.version
            and all(self.covers(key) for key in categories or [])
        )
        known = waiting if is_waiting else self._in_force if is_granted else None
        if known is None:
            self._waiting, self._declined_at, self.changed_at = asked, None, asked.requested_at
        shown = known or asked
        status = "accepted" if is_granted and not is_waiting else "pending"
        view: Json = {"id": shown.id, "status": status, "version": shown.version, "requested_at": shown.requested_at}
        if categories is not None:
            view.update(consent_id=shown.id, categories=categories)
        return view, known is None

    def has_request(self, id: str) -> bool:
        return any(one is not None and one.id == id for one in (self._waiting, self._in_force))

    def accept(self, given: Mapping[str, Any], at: str, declared: Mapping[str, Json]) -> Tuple[Json, bool]:
        """The answer, and whether it is new. 404 without a request that waits for this version, and for a category that
        is not declared."""
        if self._is_repeated(given):
            return self._view, False
        asked, categories = self._waiting, given.get("categories")
        if asked is None or not self._names(asked, given):
            raise not_found("Consent request", {"current_status": self._current})
        if asked.categories is None:
            require_askable(categories, declared)
        elif any(key not in declared for key in categories or []):
            raise not_found("Category")
        for place, key in enumerate(categories or []):
            if asked.categories is not None and key not in asked.categories:
                raise invalid(f"categories[{place}]", "was not part of this consent request")
        keys = categories if asked.categories is None else asked.categories
        granted = keys if categories is None else categories
        self._granted = None if keys is None else {key: "accepted" if key in granted else "none" for key in keys}
        self._in_force, self._waiting, self._status = asked, None, "accepted"
        self._accepted_at, self._revoked_at, self.changed_at = at, None, at
        return self._view, True

    def decline(self, given: Mapping[str, Any], at: str) -> Json:
        """404 without a request that waits."""
        if self._waiting is None or not self._names(self._waiting, {**given, "consent_version": None}):
            raise not_found("Consent request", {"current_status": self._current})
        self._waiting, self._declined_at, self.changed_at = None, at, at
        return self.status_view

    def revoke(self, categories: Optional[Sequence[str]], at: str, declared: Mapping[str, Json]) -> Tuple[Json, bool]:
        """The answer, and whether the consent has ended. 404 without a consent in force, for a category that is not
        declared, and where none is granted."""
        if self._status != "accepted":
            raise not_found("Consent", {"current_status": self._current})
        require_askable(categories, declared)
        if categories is not None and not any(self.covers(key) for key in categories):
            raise not_found("Consent to these categories", {"current_status": self._current})
        if self._granted is None and categories is not None:
            self._granted = {key: "accepted" for key, one in declared.items() if needs_consent(one)}
        for key, status in (self._granted or {}).items():
            if status == "accepted" and (categories is None or key in categories):
                (self._granted or {})[key] = "revoked"
        self.changed_at = at
        is_over = "accepted" not in (self._granted or {}).values()
        if is_over:
            self._status, self._waiting, self._revoked_at = "revoked", None, at
        return self._view, is_over

    def require(self, category: Optional[str] = None) -> None:
        """403 without a consent in force, and where it does not cover the category."""
        if self._status == "accepted" if category is None else self.covers(category):
            return
        raise Refusal("consent_required", "The user has not accepted", {"current_status": self._current})

    def covers(self, category: str) -> bool:
        is_granted = self._granted is None or self._granted.get(category) == "accepted"
        return self._status == "accepted" and is_granted

    def state_of(self, category: str, is_needed: bool = True) -> Optional[str]:
        """The state of a category; None where consent and request are not about it."""
        if self._current == "none":
            return None
        states = self._categories
        state = (states or {}).get(category)
        if state is not None or not is_needed:
            return state
        if states is None:
            return self._current
        return "pending" if self._waiting is not None and self._waiting.categories is None else None

    @property
    def version(self) -> Optional[str]:
        return None if self._in_force is None else self._in_force.version

    @property
    def status_view(self) -> Json:
        waiting = self._waiting
        is_asked = self._current == "pending"
        view = {
            "status": self._current,
            **named(self._ids),
            "accepted_at": None if is_asked else self._accepted_at,
            "revoked_at": None if is_asked else self._revoked_at,
            "declined_at": self._declined_at,
            "version": waiting.version if is_asked and waiting is not None else self.version,
        }
        if self._status == "accepted" and waiting is not None:
            view["pending_version"] = waiting.version
        if self._current == "none" and self._ids[1] == _BOT_WIDE:
            return {**view, "categories": []}
        return {**view, **_listed(self._categories)}

    @property
    def exported(self) -> Optional[Json]:
        if self._current == "none":
            return None
        view = self.status_view
        return {"status": view["status"], "version": view["version"], "acceptedAt": view["accepted_at"]}

    def _is_repeated(self, given: Mapping[str, Any]) -> bool:
        """Whether an acceptance names the consent in force by its id and would change nothing."""
        if self._status != "accepted" or self._in_force is None or "consent_id" not in given:
            return False
        if not self._names(self._in_force, given):
            return False
        keys = {key for key, status in (self._granted or {}).items() if status == "accepted"}
        return set(given.get("categories", self._granted or {})) == keys

    def _names(self, asked: Asked, given: Mapping[str, Any]) -> bool:
        """Whether a call means this request; all that it names has to agree."""
        own = {"consent_id": asked.id, "consent_version": asked.version, **named(self._ids)}
        return all(given.get(name) in (None, value) for name, value in own.items())

    @property
    def _view(self) -> Json:
        of = self._in_force
        return {
            "id": of and of.id,
            "status": self._status,
            "version": of and of.version,
            **named(self._ids),
            "requested_at": of and of.requested_at,
            "accepted_at": self._accepted_at,
            "revoked_at": self._revoked_at,
            **_listed(self._categories),
        }

    @property
    def _current(self) -> str:
        return "pending" if self._status != "accepted" and self._waiting is not None else self._status

    @property
    def _categories(self) -> Optional[Dict[str, str]]:
        """What was decided, and `pending` for what a request beside it asks for; alone it is all that counts."""
        asked = None if self._waiting is None else self._waiting.categories
        if self._current == "pending":
            return None if asked is None else dict.fromkeys(asked, "pending")
        if self._granted is None:
            return None
        pending = {key: "pending" for key in asked or [] if self._granted.get(key) != "accepted"}
        return {**self._granted, **pending}


def _listed(states: Optional[Dict[str, str]]) -> Json:
    return {} if states is None else {"categories": [{"key": key, "status": status} for key, status in states.items()]}


def _set_of(keys: Optional[Sequence[str]]) -> Optional[FrozenSet[str]]:
    return None if keys is None else frozenset(keys)

