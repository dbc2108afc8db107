import asyncio
import datetime
import json
import time
from typing import Any, Dict, List

import pytest
from conftest import PROFILE, Place, snowflake, subject

from lethe_client import AsyncLethe, ConsentRequiredError, Lethe, LetheError, NotFoundError, UnauthorizedError, UnavailableError, WebhookHandler, verify_webhook
from lethe_client.testing import FakeLethe, SignedCall, signed_call


def registered(fake: FakeLethe) -> Dict[str, Any]:
    return Place(fake).registered(webhook_url="http://bot.test/gdpr")


def test_sends_signed_calls_before_the_act_is_answered() -> None:
    events: List[Dict[str, Any]] = []
    answers: List[int] = []
    fake = FakeLethe(on_webhook=lambda call: answers.append(handler.handle(call.raw_body, call.headers)[0]))
    bot = registered(fake)
    handler = WebhookHandler(bot["webhook_secret"], {"user_forgotten": events.append, "consent_revoked": events.append})
    with Lethe(fake.url, bot["api_key"], client=fake.client()) as lethe:
        who = subject()
        lethe.consents.request(**who, consent_version="1.0")
        lethe.consents.accept(**who, consent_version="1.0")
        lethe.consents.revoke(**who)
        erased = lethe.privacy.forget(**who)
        assert lethe.privacy.wait_for(erased["request_id"])["webhook_sent"] is True
    assert answers == [204, 204]
    assert [(event["event"], event["user_id"]) for event in events] == [
        ("consent_revoked", who["user_id"]),
        ("user_forgotten", who["user_id"]),
    ]
    assert (events[0]["previous_version"], events[1]["request_id"]) == ("1.0", erased["request_id"])
    call = fake.webhooks[1]
    assert verify_webhook(call.raw_body, call.headers, bot["webhook_secret"]).event == events[1]


def test_awaits_a_function_that_is_async() -> None:
    seen: List[SignedCall] = []

    async def keep(call: SignedCall) -> None:
        await asyncio.sleep(0)
        seen.append(call)

    fake = FakeLethe(on_webhook=keep)
    key = registered(fake)["api_key"]

    async def life() -> None:
        async with AsyncLethe(fake.url, key, client=fake.async_client()) as lethe:
            await lethe.privacy.forget(**subject())
            assert seen == fake.webhooks

    asyncio.run(life())
    with pytest.raises(TypeError, match="asynchronous"):
        Lethe(fake.url, key, client=fake.client()).privacy.forget(**subject())


def test_refuses_what_a_test_wants_refused_once() -> None:
    fake = FakeLethe()
    lethe = Lethe(fake.url, "sk_test_x", client=fake.client(), retries=0)
    fake.refuse_next("service_unavailable")
    with pytest.raises(UnavailableError):
        lethe.bots.me()
    with pytest.raises(UnauthorizedError):
        lethe.bots.me()
    with pytest.raises(ValueError, match="no code of the service"):
        fake.refuse_next("not_fuond")


def test_knows_every_code_of_the_service() -> None:
    from lethe_client import types

    fake = FakeLethe()
    lethe = Lethe(fake.url, client=fake.client(), retries=0)
    for code in types.CODES:
        fake.refuse_next(code)
        with pytest.raises(LetheError) as refused:
            lethe.bots.me()
        assert refused.value.code == code


def test_takes_its_time_from_the_test_and_names_a_route_that_it_lacks() -> None:
    at = datetime.datetime(2026, 1, 31, 8, tzinfo=datetime.timezone.utc)
    fake = FakeLethe(now=lambda: at)
    with Lethe(fake.url, registered(fake)["api_key"], client=fake.client()) as lethe:
        assert lethe.servers.register(guild_id=snowflake())["created_at"] == "2026-01-31T08:00:00.000Z"
        assert lethe.categories.register(**PROFILE)["created_at"] == "2026-01-31T08:00:00.000Z"
        with pytest.raises(NotFoundError, match="GET /audit/checkpoints is no route of the fake"):
            lethe.audit.checkpoints().to_list()


@pytest.mark.parametrize("clock, seconds", [("time.time", 3600.0), ("time.time", -3600.0), ("time.monotonic", 3600.0)])
def test_with_consent_asks_again_once_a_clock_says_so(clock: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeLethe()
    key = registered(fake)["api_key"]
    who = subject()
    own = Lethe(fake.url, key, client=fake.client(), consent_cache=3000)
    with own as lethe, Lethe(fake.url, key, client=fake.client()) as other:
        lethe.categories.register(**PROFILE)
        lethe.consents.request(**who, consent_version="1.0")
        lethe.consents.accept(**who, consent_version="1.0")
        started = time.time()
        monkeypatch.setattr("time.time", lambda: started)
        assert lethe.with_consent(lambda: "done", **who, category="profile") == "done"
        other.consents.revoke(**who)
        assert lethe.with_consent(lambda: "done", **who, category="profile") == "done"
        # One of them does not count while a machine is suspended, and the other one is set.
        now = {"time.time": time.time, "time.monotonic": time.monotonic}[clock]
        monkeypatch.setattr(clock, lambda: now() + seconds)
        with pytest.raises(ConsentRequiredError):
            lethe.with_consent(lambda: "done", **who, category="profile")


def test_signs_by_both_secrets_during_a_rotation() -> None:
    old, new = ("whsec_" + letter * 44 for letter in "ab")
    call = signed_call({"event": "ping", "sent_at": "2026-01-31T08:00:00.000Z"}, old, next_secret=new)
    assert [verify_webhook(call.raw_body, call.headers, one).event["event"] for one in (old, new)] == ["ping", "ping"]


def test_deletes_a_server_once_its_time_has_come() -> None:
    at = [datetime.datetime(2026, 1, 31, 8, tzinfo=datetime.timezone.utc)]
    fake = FakeLethe(now=lambda: at[0])
    with Lethe(fake.url, registered(fake)["api_key"], client=fake.client()) as lethe:
        who = subject()
        lethe.consents.request(**who, consent_version="1.0")
        found = lethe.servers.delete(guild_id=who["guild_id"], grace_days=7)
        assert found["scheduled_for"] == "2026-02-07T08:00:00.000Z"
        at[0] += datetime.timedelta(days=6)
        assert lethe.consents.status(**who)["status"] == "pending"
        assert [one["deletion_scheduled_for"] for one in lethe.servers.list()] == ["2026-02-07T08:00:00.000Z"]
        at[0] += datetime.timedelta(days=1)
        assert lethe.consents.status(**who)["status"] == "none"
        assert lethe.servers.list().to_list() == []
    assert [json.loads(call.raw_body)["event"] for call in fake.webhooks] == ["user_forgotten"]
