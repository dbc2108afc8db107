import asyncio
import json
import re
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from conftest import BANS, PROFILE, Place, snowflake, subject

from lethe_client import (
    CallOptions,
    ConflictError,
    ConsentRequiredError,
    InsufficientScopeError,
    InvalidRequestError,
    Lethe,
    NotFoundError,
    ProcessingRefusedError,
    UnauthorizedError,
)


#: Calls with their answers, which the tests of @lethe/sdk make too.
LIVES: Dict[str, List[Any]] = json.loads(Path(__file__).with_name("lives.json").read_text(encoding="utf-8"))
#: What the fake answers without: it has no consent texts, no signed evidence, no retention and no actors.
ABSENT = ("texts", "receipt", "data_erased_at", "actor")


def without(answer: Any) -> Any:
    if isinstance(answer, list):
        return [without(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    return {key: without(one) for key, one in answer.items() if key not in ABSENT}


def filled(shape: Any, names: Dict[str, Any], value: Any = ...) -> Any:
    """Where `$name` is the same everywhere, `$_` is any value and `$?` any or None."""
    if isinstance(shape, str) and shape.startswith("$"):
        is_found = value is not ... and (value is not None or shape == "$?")
        if shape in ("$_", "$?"):
            return value if is_found else shape
        return names.setdefault(shape[1:], value) if is_found else names.get(shape[1:], shape)
    if isinstance(shape, list):
        values = dict(enumerate(value if isinstance(value, list) else []))
        return [filled(one, names, values.get(at, ...)) for at, one in enumerate(shape)]
    if not isinstance(shape, dict):
        return shape
    of = value if isinstance(value, dict) else {}
    return {key: filled(one, names, of.get(key, ...)) for key, one in shape.items()}


@pytest.mark.parametrize("name", [*LIVES])
def test_answers_as_it_is_written(name: str, lethe: Lethe, place: Place, key: str) -> None:
    who = subject()
    names: Dict[str, Any] = {"user": who["user_id"], "guild": who["guild_id"]}
    # A fifth entry is the Idempotency-Key.
    for route, given, status, answer, *once in LIVES[name]:
        path = re.sub(r"\$(\w+)", lambda found: str(names[found[1]]), route)
        code, data = place.called(key, path, filled(given, names), *once)
        # A new key is that of the calls after it.
        key = data.get("api_key", key)
        assert (route, code, without(data)) == (route, status, filled(answer, names, without(data)))


def consenting(lethe: Lethe):
    who = subject()
    lethe.consents.request(**who, consent_version="1.0")
    lethe.consents.accept(**who, consent_version="1.0")
    return who


def test_knows_its_bot_and_refuses_another_key(lethe: Lethe, place: Place) -> None:
    me = lethe.bots.me()
    assert lethe.bots.get(me["id"])["name"] == "Greeter"
    with place.client("sk_live_unknown") as stranger, pytest.raises(UnauthorizedError):
        stranger.bots.me()
    with pytest.raises(ConflictError) as refused:
        lethe.bots.register(platform_bot_id=me["platform_bot_id"], name="Other")
    assert refused.value.reason == "bot_exists"


def test_declares_labels_and_purposes_in_several_languages(lethe: Lethe) -> None:
    words = {
        "labels": {"fr": "Compte"},
        "description_de": "Zum Gruß",
        "description_en": "To greet",
        "descriptions": {"fr": "Pour saluer"},
    }
    registered = lethe.categories.register(**{**PROFILE, "key": "words", **words})
    for shown in (registered, lethe.categories.get("words")):
        assert {name: shown.get(name) for name in words} == words
    assert not {*lethe.categories.get("profile")} & {*words}


def test_asks_stores_reads_back_exports_and_forgets(lethe: Lethe) -> None:
    who = subject()
    lethe.consents.request(**who, consent_version="1.0")
    with pytest.raises(ConsentRequiredError) as refused:
        lethe.data.submit(**who, category="profile", data={"nickname": "Robin"})
    assert refused.value.current_status == "pending"
    for call in (
        lambda: lethe.data.submit(**who, category="other", data={}),
        lambda: lethe.data.values(**who),
        lambda: lethe.data.values(**who, category="other"),
    ):
        with pytest.raises(ConsentRequiredError):
            call()
    lethe.consents.accept(**who, consent_version="1.0")
    # An int of Python is exact.
    lethe.data.submit(
        user_id=int(who["user_id"]), guild_id=int(who["guild_id"]), category="profile", data={"nickname": "Robin"}
    )
    for call in (lethe.data.erase_values, lethe.data.values):
        with pytest.raises(NotFoundError):
            call(**who, category="other")
    lethe.data.merge(**who, category="profile", data={"birthday": "2000-02-29"})
    profile = {"nickname": "Robin", "birthday": "2000-02-29"}
    assert lethe.data.values(**who)["values"] == {"profile": profile}
    found = lethe.data.values_of_guild(guild_id=who["guild_id"], category="profile").to_list()
    assert [(one["user_id"], one["data"]) for one in found] == [(who["user_id"], profile)]
    assert lethe.data.export(**who)["data"] == {"profile": profile}
    everywhere = lethe.data.export_everywhere(user_id=who["user_id"])
    assert [guild["guildId"] for guild in everywhere["guilds"]] == [who["guild_id"]]
    streamed = json.loads(b"".join(lethe.data.export_stream(**who)))
    assert streamed["data"] == {"profile": profile}
    assert lethe.data.erase_values(**who, category="profile") == {"deleted": True}
    erased = lethe.privacy.forget(**who)
    assert lethe.privacy.wait_for(erased["request_id"])["status"] == "completed"
    with pytest.raises(NotFoundError):
        lethe.data.export(**who)
    types = [event["event_type"] for event in lethe.audit.events(**who)]
    assert types[0] == "deletion_completed"


def test_says_that_the_receiver_has_confirmed_an_erasure_only_where_there_is_one(lethe: Lethe) -> None:
    erased = lethe.privacy.forget(**subject())
    assert lethe.privacy.wait_for(erased["request_id"])["webhook_sent"] is False


def test_names_every_bad_field(lethe: Lethe) -> None:
    who = consenting(lethe)
    with pytest.raises(InvalidRequestError) as refused:
        lethe.data.submit(**who, category="profile", data={"nickname": 1, "colour": "red"})
    assert sorted(fault["field"] for fault in refused.value.fields) == ["data.colour", "data.nickname"]


_TEXT = "must not hold NUL or lone surrogates"
_NUMBER = "must be at most 2^53 - 1 in size: send larger numbers as a string, so that they keep their digits"


@pytest.mark.parametrize(
    "data, faults",
    [
        ({"number": 2**53}, {"data.number": _NUMBER}),
        ({"number": 10**30}, {"data.number": _NUMBER}),
        ({"number": -1e20, "json": {"a": [1, 2**60, "x"]}}, {"data.number": _NUMBER, "data.json.a[1]": _NUMBER}),
        ({"string": "a\0"}, {"data.string": _TEXT}),
        ({"json": [{"a": "\ud83d"}], "string": "\ude00"}, {"data.json[0].a": _TEXT}),
        ({"json": {"\ud83d": 1}}, {"data.json": _TEXT}),
    ],
)
def test_refuses_what_could_not_be_read_back_as_it_is(lethe: Lethe, data: Any, faults: Dict[str, str]) -> None:
    kinds = ("string", "number", "json")
    fields: Any = [{"key": kind, "type": kind, "label_de": kind, "label_en": kind} for kind in kinds]
    lethe.categories.register(key="kinds", label_de="Arten", label_en="Kinds", fields=fields)
    who = consenting(lethe)
    with pytest.raises(InvalidRequestError) as refused:
        lethe.data.submit(**who, category="kinds", data=data)
    assert {fault["field"]: fault["message"] for fault in refused.value.fields} == faults
    with pytest.raises(InvalidRequestError):
        lethe.audit.write(**who, event_type="data_exported", details={"kinds": [data]})
    kept = {"number": 2**53 - 1, "json": [1e21, 0.1, "\U0001f600", True]}
    lethe.data.submit(**who, category="kinds", data=kept)
    assert lethe.data.values(**who)["values"] == {"kinds": kept}


def test_refuses_an_id_that_has_lost_digits(lethe: Lethe) -> None:
    for wrong in (1.2345678901234567e17, True):
        with pytest.raises(TypeError):
            lethe.consents.status(user_id=wrong, guild_id=snowflake())  # type: ignore[arg-type]


def test_declines_and_withdraws(lethe: Lethe) -> None:
    who = subject()
    asked = lethe.consents.request(**who, consent_version="1.0")
    declined = lethe.consents.decline(consent_id=asked["id"])
    assert declined["status"] == "none" and declined["declined_at"] is not None
    assert lethe.consents.status(**who) == declined
    who = consenting(lethe)
    done = []
    lethe.with_consent(lambda: done.append(1), **who, category="profile")
    lethe.consents.revoke(**who)
    with pytest.raises(ConsentRequiredError):
        lethe.with_consent(lambda: done.append(2), **who, category="profile")
    assert done == [1]


def test_with_consent_runs_what_needs_none(lethe: Lethe) -> None:
    lethe.categories.register(**BANS)
    who = subject()
    assert [lethe.with_consent(lambda: "done", **who, category="bans") for _ in range(2)] == ["done", "done"]
    for category in ("profile", "nowhere"):
        with pytest.raises(ConsentRequiredError):
            lethe.with_consent(lambda: None, **who, category=category)
    lethe.categories.register(**{**BANS, "key": "nowhere"})
    assert lethe.with_consent(lambda: "done", **who, category="nowhere") == "done"


def test_with_consent_runs_nothing_for_what_the_user_has_restricted_or_objected_to(lethe: Lethe) -> None:
    lethe.categories.register(**BANS)
    who, other = subject(), subject()
    for one in (who, other):
        lethe.consents.request(**one, consent_version="1.0")
        lethe.consents.accept(**one, consent_version="1.0")

    def run(category: str, one: Dict[str, str] = who) -> Optional[str]:
        try:
            return lethe.with_consent(lambda: "done", **one, category=category)
        except ProcessingRefusedError as error:
            return error.reason

    assert [run("profile"), run("bans")] == ["done", "done"]
    lethe.data.restrict(**who, category="profile")
    assert [run("profile"), run("bans")] == ["restriction", "done"]
    lethe.data.unrestrict(**who)
    assert run("profile") == "done"
    lethe.data.restrict(**who)
    assert [run("profile"), run("bans")] == ["restriction", "restriction"]
    # An objection to everything is about the categories that it can be made to.
    lethe.data.object(**other)
    assert [run("bans", other), run("profile", other)] == ["objection", "done"]


def test_with_consent_asks_again_after_a_consent_to_more(lethe: Lethe) -> None:
    lethe.categories.register(**{**PROFILE, "key": "stats"})
    who = subject()

    def agree(key: str) -> None:
        asked = {**who, "consent_version": f"for-{key}"}
        lethe.consents.request(**asked, categories=["profile", "stats"])
        lethe.consents.accept(**asked, categories=[key])

    agree("stats")
    with pytest.raises(ConsentRequiredError):
        lethe.with_consent(lambda: None, **who, category="profile")
    agree("profile")
    assert lethe.with_consent(lambda: "done", **who, category="profile") == "done"


def test_with_consent_asks_again_after_the_end_of_a_category(service: Lethe) -> None:
    who = subject()
    service.consents.request(**who, consent_version="1.0", categories=["profile"])
    service.consents.accept(**who, consent_version="1.0")
    service.with_consent(lambda: None, **who, category="profile")
    service.categories.delete("profile")
    with pytest.raises(ConsentRequiredError):
        service.with_consent(lambda: None, **who, category="profile")


def test_lists_its_users_and_walks_the_list(lethe: Lethe) -> None:
    those = [consenting(lethe) for _ in range(3)]
    found = lethe.users.list(status="accepted").to_list()
    ids = [{"user_id": one["user_id"], "guild_id": one["guild_id"]} for one in found]
    assert sorted(one["user_id"] for one in ids) == sorted(one["user_id"] for one in those)
    first = lethe.users.list().page(size=2)
    assert first["pagination"]["page_size"] == 2
    rest = lethe.users.list().page(first["pagination"]["next"], 2)
    assert [*first["items"], *rest["items"]] == found
    assert rest["pagination"]["next"] is None
    assert lethe.users.list(order="recent").to_list()[0]["user_id"] == those[-1]["user_id"]
    assert lethe.users.list(user_id=int(those[0]["user_id"])).to_list()[0]["guild_id"] == those[0]["guild_id"]


def test_lists_page_by_page_and_acts_on_many(lethe: Lethe) -> None:
    guilds = sorted(snowflake() for _ in range(101))
    for guild_id in guilds:
        lethe.servers.register(guild_id=guild_id, name="Guild")
    assert sorted(server["guild_id"] for server in lethe.servers.list()) == guilds
    page = lethe.servers.list().page(2, 100)
    assert (len(page["items"]), page["pagination"]["total_count"]) == (1, 101)
    ended = []
    for server in lethe.servers.list():
        lethe.servers.delete(guild_id=server["guild_id"])
        ended.append(server["guild_id"])
    assert sorted(ended) == guilds
    who = consenting(lethe)
    statuses = lethe.consents.status_many([subject() for _ in range(150)] + [who])
    assert [one["status"] for one in statuses] == ["none"] * 150 + ["accepted"]
    items = [{**who, "category": category, "data": {"nickname": "Robin"}} for category in ("profile", "other")]
    results = list(lethe.data.submit_many(items))
    assert [(one["item"]["category"], one["ok"]) for one in results] == [("profile", True), ("other", False)]


def test_acts_once_for_a_key_of_idempotency(lethe: Lethe) -> None:
    who = consenting(lethe)
    options = CallOptions(idempotency_key=snowflake())
    one, other = (lethe.audit.write(**who, event_type="data_deleted", options=options) for _ in range(2))
    assert one["id"] == other["id"]
    with pytest.raises(ConflictError) as refused:
        lethe.audit.write(**who, event_type="data_deleted", details={"a": 1}, options=options)
    assert refused.value.reason == "idempotency_key_reused"


def test_keeps_a_consent_in_force_while_a_newer_one_is_asked_for(lethe: Lethe) -> None:
    who = consenting(lethe)
    assert lethe.consents.request(**who, consent_version="1.0")["status"] == "accepted"
    assert lethe.consents.request(**who, consent_version="2")["status"] == "pending"
    status = lethe.consents.status(**who)
    assert (status["status"], status["version"], status["pending_version"]) == ("accepted", "1.0", "2")
    with pytest.raises(NotFoundError) as refused:
        lethe.consents.accept(**who, consent_version="3")
    assert refused.value.details == {"current_status": "accepted"}
    with pytest.raises(NotFoundError) as refused:
        lethe.consents.accept(**who, consent_id="00000000-0000-7000-8000-000000000000")
    assert refused.value.details == {"current_status": "accepted"}
    accepted = lethe.consents.accept(**who, consent_version="2")
    assert lethe.consents.accept(consent_id=accepted["id"])["accepted_at"] == accepted["accepted_at"]


def test_stores_by_category_what_was_consented_to(lethe: Lethe) -> None:
    lethe.categories.register(**{**PROFILE, "key": "stats"})
    who = subject()
    asked = lethe.consents.request(**who, categories=["profile", "stats"])
    lethe.consents.accept(consent_id=asked["consent_id"])
    partly = lethe.consents.revoke(**who, categories=["stats"])
    assert partly["status"] == "accepted"
    assert {one["key"]: one["status"] for one in partly["categories"]} == {"profile": "accepted", "stats": "revoked"}
    lethe.data.submit(**who, category="profile", data={"nickname": "Robin"})
    with pytest.raises(ConsentRequiredError):
        lethe.data.submit(**who, category="stats", data={"nickname": "Robin"})
    lethe.consents.revoke(**who, categories=["profile"])
    assert lethe.consents.status(**who)["status"] == "revoked"


def test_refuses_names_of_the_service_as_the_place_of_an_act(lethe: Lethe) -> None:
    who = consenting(lethe)
    consents = lethe.consents
    for source in ("privacy_page", "console", "Bot", ""):
        for call in (
            lambda: consents.request(**who, consent_version="2", source=source),
            lambda: consents.accept(**who, consent_version="1.0", source=source),
            lambda: consents.decline(**who, source=source),
            lambda: consents.revoke(**who, source=source),
        ):
            with pytest.raises(InvalidRequestError) as refused:
                call()
            assert [fault["field"] for fault in refused.value.fields] == ["source"]
    assert consents.revoke(**who, source="slash_command")["status"] == "revoked"


def test_a_link_takes_the_scopes_of_what_it_allows(lethe: Lethe, place: Place) -> None:
    who = consenting(lethe)
    reading, erasing = (
        place.client(lethe.keys.create(scopes=[scope])["api_key"]) for scope in ("read", "erase")
    )
    for client, act, required in ((reading, "consent", "write"), (reading, "forget", "erase"), (erasing, "export", "read")):
        with pytest.raises(InsufficientScopeError) as refused:
            client.privacy.link(**who, allow=[act])
        assert refused.value.required == required
    for call, required in ((lambda: reading.privacy.forget(**who), "erase"), (lambda: erasing.bots.me(), "read")):
        with pytest.raises(InsufficientScopeError) as refused:
            call()
        assert refused.value.required == required
    with pytest.raises(InsufficientScopeError):
        reading.keys.create()
    one, other = reading.privacy.link(**who, allow=["view", "export"]), reading.privacy.link(**who)
    with pytest.raises(InsufficientScopeError) as refused:
        erasing.privacy.end_link(one["id"])
    assert refused.value.required == "admin"
    assert reading.privacy.end_link(one["id"]) == {"id": one["id"], "deleted": True}
    lethe.privacy.forget(**who)
    with pytest.raises(NotFoundError):
        lethe.privacy.end_link(other["id"])


def test_counts_what_happened(lethe: Lethe) -> None:
    who = consenting(lethe)
    lethe.data.submit(**who, category="profile", data={"nickname": "Robin"})
    lethe.audit.write(**who, event_type="data_exported")
    erased = lethe.privacy.forget_everywhere(user_id=who["user_id"])
    assert [one["deleted_categories"] for one in erased["requests"]] == [["profile"]]
    stats = lethe.stats()
    assert isinstance(stats["under_consent"], list)
    counts = [bucket["counts"] for bucket in stats["buckets"]]
    for name, count in {"data_submitted": 1, "data_exported": 0, "deletion_completed": 1}.items():
        assert sum(one[name] for one in counts) == count
    for period in ({"to": "2026-02-30"}, {"from_": "2024-01-01", "to": "2026-01-01"}):
        with pytest.raises(InvalidRequestError):
            lethe.stats(**period)


def test_refuses_an_event_of_a_type_that_does_not_exist(lethe: Lethe) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        lethe.audit.write(**subject(), event_type="data_stolen")  # type: ignore[arg-type]
    assert [fault["field"] for fault in refused.value.fields] == ["event_type"]


def test_signs_evidence_and_keeps_a_history(service: Lethe) -> None:
    who = consenting(service)
    service.consents.revoke(**who)
    actions = [entry["action"] for entry in service.consents.history(**who)]
    assert actions == ["revoked", "accepted", "requested"]
    erased = service.privacy.forget(**who)
    assert service.privacy.certificate(erased["request_id"])["certificate"]
    assert service.public_keys()["keys"]


def test_exports_the_sealed_log_line_by_line(service: Lethe) -> None:
    consenting(service)
    lines = [json.loads(line) for line in service.audit.export()]
    assert len(lines) > 2


def test_asynchronously(place: Place, key: str) -> None:
    async def life() -> None:
        async with place.async_client(key) as lethe:
            await lethe.categories.register(**PROFILE)
            who = subject()
            await lethe.consents.request(**who, consent_version="1.0")
            await lethe.consents.accept(**who, consent_version="1.0")

            async def items():
                yield {**who, "category": "profile", "data": {"nickname": "Robin"}}

            assert [one["ok"] async for one in lethe.data.submit_many(items())] == [True]

            async def act() -> str:
                return "done"

            assert await lethe.with_consent(act, **who, category="profile") == "done"
            chunks = [chunk async for chunk in lethe.data.export_stream(**who)]
            assert json.loads(b"".join(chunks))["data"] == {"profile": {"nickname": "Robin"}}
            assert [event["event_type"] async for event in lethe.audit.events(**who)][-1] == "consent_requested"
            erased = await lethe.privacy.forget(**who)
            assert (await lethe.privacy.wait_for(erased["request_id"]))["status"] == "completed"

    asyncio.run(life())
