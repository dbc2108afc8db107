"""One bot of the fake with everything that is stored for it."""

from __future__ import annotations

import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from ._categories import category_of, digest_of, needs_consent, require_askable, with_warnings
from ._consent import Asked, FakeConsent
from ._events import FakeEvents, require_event
from ._links import FakeLinks
from ._processing import FakeProcessing
from ._refusal import (
    Ids,
    Json,
    Refusal,
    id_of,
    ids_of,
    is_text,
    named,
    not_found,
    require_all,
    require_keys,
    require_source,
    version_of,
)
from ._servers import FakeServers
from ._values import faults_of, merge_patch, stats_of

_NOTICE = "Only data stored through this service was erased."


def new_id() -> str:
    return str(uuid.uuid4())


class _Held:
    """What is stored about a user in a guild."""

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.consent = FakeConsent(ids)
        self.processing = FakeProcessing()
        #: The values of each category, and when they were stored.
        self.values: Dict[str, Tuple[Json, str]] = {}
        #: Whether anything happened, so that the user is listed.
        self.is_held = False


class FakeBot:
    """The acts of a bot."""

    def __init__(self, record: Json, now: Callable[[], str], send: Callable[["FakeBot", Json], None]) -> None:
        self.record, self.now, self._send = record, now, send
        self.servers = FakeServers(now, lambda guild: bool(self._users_in(guild)), self._erase_guild)
        self.categories: Dict[str, Json] = {}
        self.links = FakeLinks(now)
        self.erasures: Dict[str, Json] = {}
        self.events = FakeEvents(now)
        #: The user and guild of each erasure, oldest first.
        self.erased: List[Ids] = []
        #: The time of each webhook call.
        self.calls: List[str] = []
        self.subjects: Dict[Ids, _Held] = {}

    def register_category(self, given: Json) -> Json:
        category = category_of(given, new_id(), self.now())
        if category["key"] in self.categories:
            raise Refusal("conflict", "This category exists", {"reason": "category_exists"})
        self.categories[category["key"]] = category
        return with_warnings(category)

    def category(self, key: Any) -> Json:
        if key not in self.categories:
            raise not_found("Category")
        return self.categories[key]

    def request_consent(self, given: Json) -> Json:
        require_keys(given)
        ids, categories = ids_of(given), given.get("categories")
        require_source(given)
        version = version_of(given, "categories")
        # Each once, in their order.
        categories = None if categories is None else [*dict.fromkeys(categories)]
        require_askable(categories, self.categories)
        declared = [self.category(key) for key in sorted(categories or [])]
        version = version or digest_of(declared)
        view, is_new = self.held(ids).consent.request(Asked(new_id(), version, categories, self.now()))
        if is_new:
            self.note("consent_requested", ids, {"version": version})
        return view

    def accept_consent(self, given: Json) -> Json:
        require_keys(given)
        require_source(given)
        version_of(given, "consent_id")
        held = self._addressed(given)
        view, is_new = held.consent.accept(given, self.now(), self.categories)
        if is_new:
            self.note("consent_accepted", held.ids, {"version": view["version"]})
        return view

    def decline_consent(self, given: Json) -> Json:
        require_source(given)
        return self._addressed(given).consent.decline(given, self.now())

    def revoke_consent(self, given: Json) -> Json:
        require_keys(given)
        ids, at = ids_of(given), self.now()
        require_source(given)
        consent = self.held(ids).consent
        view, is_over = consent.revoke(given.get("categories"), at, self.categories)
        self.note("consent_revoked", ids, {"version": view["version"]})
        if is_over:
            event = {"event": "consent_revoked", **named(ids), "revoked_at": at, "previous_version": consent.version}
            self._send(self, event)
        return view

    def consent_status(self, given: Json) -> Json:
        return self.held(ids_of(given)).consent.status_view

    def submit(self, given: Json) -> Json:
        """What is left without a value is removed."""
        category, data, mode = given.get("category"), given.get("data"), given.get("mode", "replace")
        require_all(
            ("category", is_text(category, 100), "must be a text"),
            ("data", isinstance(data, dict), "must be a JSON object"),
            ("mode", mode in ("replace", "merge"), "must be one of replace, merge"),
        )
        ids, category, data = ids_of(given), str(category), dict(data or {})
        held = self.held(ids)
        declared = self._permitted(held.consent, category)
        held.processing.require(declared)
        fields = faults_of(declared["fields"], data)
        if fields:
            raise Refusal("invalid_request", "The request is malformed", {"fields": fields})
        before = held.values[category][0] if category in held.values else {}
        found = merge_patch(before, data) if mode == "merge" else data
        left, at = {key: value for key, value in found.items() if value is not None}, self.now()
        is_removed = not left and held.values.pop(category, None) is not None
        if left:
            held.values[category] = (left, at)
        self.note("data_deleted" if is_removed else "data_submitted", ids, {"category": category})
        return {**named(ids), "category": category, "stored": True, "updated_at": at}

    def values_of(self, given: Json) -> Json:
        ids, category = ids_of(given), given.get("category")
        held = self.held(ids)
        # What needs no consent is read without one.
        if not any(self._is_free(key) for key in ([*held.values] if category is None else [category])):
            held.consent.require()
        if category is not None:
            self._permitted(held.consent, category)
        held.processing.require_readable(category)
        shown = {
            key: value
            for key, value in sorted(held.values.items())
            if self._may_show(held, key) and category in (None, key)
        }
        return {
            **named(ids),
            "values": {key: data for key, (data, _) in shown.items()},
            "updated_at": {key: at for key, (_, at) in shown.items()},
        }

    def values_of_guild(self, given: Json) -> List[Json]:
        guild, key = id_of(given, "guild_id"), str(self.category(given.get("category"))["key"])
        return [
            {"user_id": held.ids[0], "data": held.values[key][0], "updated_at": held.values[key][1]}
            for held in self.subjects.values()
            if held.ids[1] == guild and key in held.values and self._may_show(held, key)
        ]

    def erase_values(self, given: Json) -> Json:
        ids, category = ids_of(given), str(self.category(given.get("category"))["key"])
        deleted = self.held(ids).values.pop(category, None) is not None
        if deleted:
            self.note("data_deleted", ids, {"category": category})
        return {"deleted": deleted}

    def export(self, given: Json) -> Json:
        user, is_everywhere = id_of(given, "user_id"), given.get("scope") == "all_guilds"
        about = {"exportedAt": self.now(), "bot": {"id": self.record["id"], "name": self.record["name"]}}
        guilds = []
        for guild in self._guilds_of(user) if is_everywhere else [id_of(given, "guild_id")]:
            held = self.held((user, guild))
            if held.consent.exported is None and not held.values:
                continue
            self.note("data_exported", held.ids, None)
            data = {key: value for key, (value, _) in held.values.items()}
            guilds.append({"guildId": guild, "consent": held.consent.exported, "data": data})
        if not guilds:
            raise not_found("Data of this user")
        return {"userId": user, **about, **({"guilds": guilds} if is_everywhere else guilds[0])}

    def forget(self, given: Json) -> Json:
        if given.get("scope") != "all_guilds":
            return self._forget_in(ids_of(given))
        user = id_of(given, "user_id")
        requests = [{**self._forget_in((user, guild)), "guild_id": guild} for guild in self._guilds_of(user)]
        return {"user_id": user, "scope": "all_guilds", "status": "completed", "requests": requests, "notice": _NOTICE}

    def write_event(self, given: Json) -> Json:
        require_event(given)
        return self.note(given["event_type"], self.held(ids_of(given)).ids, given.get("details"), "client")

    def stats(self, given: Json) -> Json:
        return stats_of(self.events.all, self.calls, given, self.now())

    def _forget_in(self, ids: Ids) -> Json:
        at, id = self.now(), new_id()
        deleted = list(self.held(ids).values)
        del self.subjects[ids]
        self.links.erase(ids, bool(self._guilds_of(ids[0])))
        self.note("deletion_requested", ids, {"request_id": id})
        self.note("deletion_completed", ids, {"request_id": id})
        self.events.erase(ids)
        self.erased.append(ids)
        done = {"request_id": id, "status": "completed", "deleted_categories": deleted, "completed_at": at}
        known: Json = {**done, **named(ids), "created_at": at, "unrecoverable_at": at}
        self.erasures[id] = {**known, "webhook_sent": self.record["webhook_url"] is not None}
        event = {"event": "user_forgotten", "request_id": id, **named(ids), "completed_at": at, "notice": _NOTICE}
        self._send(self, event)
        return {**done, "certificate_salt": new_id(), "notice": _NOTICE}

    def _addressed(self, given: Mapping[str, Any]) -> _Held:
        """The subject of a request, named by its ids or by the `consent_id` alone."""
        id = given.get("consent_id")
        if id is None or None not in (given.get("user_id"), given.get("guild_id")):
            return self.held(ids_of(given))
        for held in self.subjects.values():
            if held.consent.has_request(id):
                return held
        raise not_found("Consent request", {"current_status": "none"})

    def _permitted(self, consent: FakeConsent, category: str) -> Json:
        """In the order of the service: without any consent 403, then 404, then 403 for this category."""
        if self._is_free(category):
            return self.categories[category]
        consent.require()
        declared = self.category(category)
        consent.require(category)
        return declared

    def _is_free(self, category: str) -> bool:
        return category in self.categories and not needs_consent(self.categories[category])

    def _may_show(self, held: _Held, category: str) -> bool:
        is_permitted = held.consent.covers(category) or self._is_free(category)
        return is_permitted and not held.processing.is_restricted(category)

    def _users_in(self, guild: str) -> List[Ids]:
        return [ids for ids, held in self.subjects.items() if held.is_held and ids[1] == guild]

    def _erase_guild(self, guild: str) -> int:
        users = self._users_in(guild)
        for ids in users:
            self._forget_in(ids)
        return len(users)

    def _guilds_of(self, user: str) -> List[str]:
        found = [(guild, held) for (of, guild), held in self.subjects.items() if of == user]
        is_held = [held.consent.exported is not None or held.processing.is_any or bool(held.values) for _, held in found]
        return [guild for (guild, _), is_one in zip(found, is_held) if is_one]

    def held(self, ids: Ids) -> _Held:
        return self.subjects.setdefault(ids, _Held(ids))

    def note(self, type: str, ids: Ids, details: Optional[Json], source: str = "service") -> Json:
        event = self.events.add(type, ids, details, source)
        if ids in self.subjects:
            self.subjects[ids].is_held = True
        return event
