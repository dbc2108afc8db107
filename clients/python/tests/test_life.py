import asyncio
import json

import pytest
from conftest import PROFILE, URL, snowflake, subject

from lethe import (
    AsyncLethe,
    CallOptions,
    ConflictError,
    ConsentRequiredError,
    InvalidRequestError,
    Lethe,
    NotFoundError,
    UnauthorizedError,
)


def consenting(lethe: Lethe):
    who = subject()
    lethe.consents.request(**who, consent_version="1.0")
    lethe.consents.accept(**who, consent_version="1.0")
    return who


def test_knows_its_bot_and_refuses_another_key(lethe: Lethe) -> None:
    me = lethe.bots.me()
    assert lethe.bots.get(me["id"])["name"] == "Greeter"
    with Lethe(URL, "sk_live_unknown") as stranger, pytest.raises(UnauthorizedError):
        stranger.bots.me()
    with pytest.raises(ConflictError) as refused:
        lethe.bots.register(platform_bot_id=me["platform_bot_id"], name="Other")
    assert refused.value.reason == "bot_exists"


def test_asks_stores_reads_back_exports_and_forgets(lethe: Lethe) -> None:
    who = subject()
    lethe.consents.request(**who, consent_version="1.0")
    with pytest.raises(ConsentRequiredError) as refused:
        lethe.data.submit(**who, category="profile", data={"nickname": "Robin"})
    assert refused.value.current_status == "pending"
    lethe.consents.accept(**who, consent_version="1.0")
    # An int of Python is exact.
    lethe.data.submit(
        user_id=int(who["user_id"]), guild_id=int(who["guild_id"]), category="profile", data={"nickname": "Robin"}
    )
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
    assert lethe.privacy.certificate(erased["request_id"])["certificate"]
    with pytest.raises(NotFoundError):
        lethe.data.export(**who)
    types = [event["event_type"] for event in lethe.audit.events(**who)]
    assert types[0] == "deletion_completed"


def test_names_every_bad_field(lethe: Lethe) -> None:
    who = consenting(lethe)
    with pytest.raises(InvalidRequestError) as refused:
        lethe.data.submit(**who, category="profile", data={"nickname": 1, "colour": "red"})
    assert sorted(fault["field"] for fault in refused.value.fields) == ["data.colour", "data.nickname"]


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
    actions = [entry["action"] for entry in lethe.consents.history(**who)]
    assert actions == ["revoked", "accepted", "requested"]


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


def test_exports_the_sealed_log_line_by_line(lethe: Lethe) -> None:
    consenting(lethe)
    lines = [json.loads(line) for line in lethe.audit.export()]
    assert len(lines) > 2


def test_asynchronously(key: str) -> None:
    async def life() -> None:
        async with AsyncLethe(URL, key) as lethe:
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
            assert (await lethe.public_keys())["keys"]

    asyncio.run(life())
